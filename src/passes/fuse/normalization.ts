/**
 *   (x - mean(x)) / sqrt(variance(x) + epsilon)   =>  LayerNormalization(x, 1)         over the last axes
 *                                                 =>  InstanceNormalization(x, 1, 0)   over all after the channels
 *                                                 =>  channel-norm.ts                  over channels
 *   x / sqrt(mean(x^2) + epsilon)                 =>  RMSNormalization(x, 1)           over the last axes
 *
 * in all the ways in which standardized.ts and batch-form.ts know them to be written. What
 * multiplies and adds afterwards goes into the operators by normalization-affine.ts.
 *
 * A group normalization written out becomes an InstanceNormalization between Reshapes (of which
 * group-norm.ts makes one operator for other targets than ONNX Runtime on the CPU). Not done, since
 * no kernel would be as fast: MeanVarianceNormalization and LpNormalization.
 */
import { attr, elementCount, type Node, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext, Skip } from "../../rewrite/index.js";
import { broadcastsTo, isKnown } from "../../rewrite/match.js";
import { type BatchForm, batchFormOf } from "./batch-form.js";
import { channelNorm, isAlongChannels } from "./channel-norm.js";
import { filledTensor } from "./computed-tensor.js";
import { areKnown, liesAlong } from "./normalization-layout.js";
import { type ScaledForm, type Standardized, standardizedOf } from "./standardized.js";

/** Most ones that are written where no factor is given. */
const MOST_ONES = 1 << 16;

export const fuseLayerNorm = defineRewrite({
  name: "fuse-layer-norm",
  summary: "Turn a layer normalization written out into LayerNormalization",
  numerics: "rounding",
  roots: ["Div", "Mul", "Add", "Sub"],
  minOpset: 17,
  rewrite: (root, context) => rewriteCentred(root, context, "layer"),
});

export const fuseInstanceNorm = defineRewrite({
  name: "fuse-instance-norm",
  summary: "Turn a normalization per channel written out into InstanceNormalization",
  numerics: "rounding",
  roots: ["Div", "Mul", "Add", "Sub"],
  minOpset: 6,
  rewrite: (root, context) => rewriteCentred(root, context, "instance"),
});

export const fuseChannelNorm = defineRewrite({
  name: "fuse-channel-norm",
  summary: "Turn a layer normalization of channels written out into LayerNormalization between two Transposes",
  numerics: "rounding",
  roots: ["Div", "Mul", "Add", "Sub"],
  minOpset: 17,
  onlyOnCpu: "its kernel for ReduceMean is slow along an axis that is not the last",
  rewrite: (root, context) => rewriteCentred(root, context, "channel"),
});

export const fuseRmsNorm = defineRewrite({
  name: "fuse-rms-norm",
  summary: "Turn a root-mean-square normalization written out into RMSNormalization",
  numerics: "rounding",
  roots: ["Div", "Mul"],
  minOpset: 23,
  rewrite(root, context) {
    const found = standardizedOf(root);
    if (!found || found.isCentred) return null;
    if (found.gamma && !broadcastsTo(found.gamma, found.x)) return context.skip("the factor may widen the result");
    const ones = onesAlong(found, root, context);
    if (ones instanceof Skip) return ones;
    const norm = create("RMSNormalization", found, [ones], context);
    return found.gamma ? context.create("Mul", [norm.output, found.gamma]) : norm;
  },
});

const writers = { layer: layerNorm, instance: instanceNorm, channel: channelNorm } as const;

function rewriteCentred(root: Node, context: RewriteContext, wanted: keyof typeof writers): Answer {
  const form: BatchForm | null = batchFormOf(root) ?? plainForm(standardizedOf(root));
  if (!form?.isCentred || kindOf(form, root) !== wanted) return null;
  const { x, gamma, beta } = form;
  if ((gamma && !broadcastsTo(gamma, x)) || (beta && !broadcastsTo(beta, x))) {
    return context.skip("the factor or the addend may widen the result");
  }
  const norm = writers[wanted](form, root, context);
  if (norm === null || norm instanceof Skip) return norm;
  const scaled = gamma ? context.create("Mul", [norm.output, gamma]) : norm;
  return beta ? context.create("Add", [scaled.output, beta]) : scaled;
}

function kindOf(form: BatchForm, root: Node): keyof typeof writers {
  if (isPerChannel(form, root)) return "instance";
  return isAlongChannels(form) ? "channel" : "layer";
}

const plainForm = (found: ScaledForm | null): BatchForm | null => found && { ...found, beta: null };

function layerNorm(form: Standardized, root: Node, context: RewriteContext): Node | Skip {
  const ones = onesAlong(form, root, context);
  return ones instanceof Skip ? ones : create("LayerNormalization", form, [ones], context);
}

function instanceNorm(form: Standardized, root: Node, context: RewriteContext): Node | null {
  const channels = form.x.shape?.[1];
  if (!isKnown(channels)) return null;
  const vector = (name: string, value: number): Value =>
    context.constant(`${root.output.label}/${name}`, filledTensor("f32", [channels], value));
  return create("InstanceNormalization", form, [vector("scale", 1), vector("bias", 0)], context);
}

function create(op: string, { x, axes, epsilon }: Standardized, rest: readonly Value[], context: RewriteContext): Node {
  const axis = op === "InstanceNormalization" ? {} : { axis: attr.int(-axes.length) };
  return context.create(op, [x, ...rest], { ...axis, epsilon: attr.float(epsilon) });
}

/** Ones along the last axes; a Skip where they cannot be written. */
export function onesAlong({ x, axes }: Standardized, root: Node, { constant, skip }: RewriteContext): Value | Skip {
  if (!isTrailing(axes)) return skip("the axes are not the last ones");
  if (x.dtype !== "f32" && x.dtype !== "f16") return skip("only f32 and f16");
  const dims = x.shape?.slice(-axes.length) ?? [null];
  if (!areKnown(dims)) return skip("the size of the normalized axes is not known");
  const count = elementCount(dims);
  if (count > MOST_ONES) return skip(`a factor for each of ${count} elements would be larger than what it saves`);
  return constant(`${root.output.label}/scale`, filledTensor(x.dtype, dims, 1));
}

const isTrailing = (axes: readonly number[]): boolean =>
  axes.length > 0 && axes.every((axis, i) => axis === i - axes.length);

/**
 * Whether a normalization is one per channel: over all axes after the second, of float32. With three
 * axes it may be a layer normalization as well; then what follows tells.
 */
function isPerChannel({ x, axes, gamma, beta }: BatchForm, root: Node): boolean {
  const { shape } = x;
  if (x.dtype !== "f32" || !shape || shape.length < 3 || !isKnown(shape[1])) return false;
  if (axes.length !== shape.length - 2 || !isTrailing(axes)) return false;
  const [use] = root.output.uses;
  const reader = root.output.useCount === 1 && use?.kind === "input" ? use.node : null;
  const isAffine = reader?.is("Mul") || reader?.is("Add");
  const other = gamma ?? beta ?? (isAffine ? reader!.inputs.find((input) => input !== root.output) : null);
  if (other && liesAlong(other, x, axes.length)) return false;
  if (shape.length > 3 || !areKnown(shape.slice(-axes.length))) return true;
  // Groups are parted again; where the last axis stays what it was, rows are only counted otherwise.
  const isParted = reader?.is("Reshape") === true && reader.output.shape?.at(-1) !== shape.at(-1);
  return isParted || (other?.shape?.at(-1) === 1 && other.shape.at(-2) === shape[1]);
}

/**
 * Reshape(Transpose<[0,2,3,1]>(Conv(x, V)), [N,-1,4]), Reshape(Transpose<[0,2,3,1]>(Conv(x, W)), [N,-1,K])
 *   =>  Split<axis=2>(Reshape(Transpose<[0,2,3,1]>(Conv(x, [V; W])), [N,-1,4+K]), [4, K])
 *
 * Heads of detectors that read one map: boxes and classes of each anchor. Channels of one anchor
 * come next to each other in the one weight, so that a row of the result is a row of each head.
 * Rows are cut apart one by one, so this pays where they are few or the Conv has much to do.
 */
import { attr, type Node, soleReader, Tensor, type TensorType, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { constantIntegers } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { permutationOf } from "../layout/permutation.js";
import { type Stencil, stencilOf } from "./stencil.js";

const MOST_ELEMENTS = 1 << 24;

/**
 * What it costs to copy one row of one head out of the rows of all, and what a node of each kind less saves, as measured,
 * in the time of a multiplication; and the part of the time of the Conv that the copies may take beyond that.
 */
const CUT = 180;
const SAVED = 300_000;
const ALLOWANCE = 0.02;

export const fuseParallelHeads = defineRewrite({
  name: "fuse-parallel-heads",
  summary: "Make one Conv of several of the same input whose channels are put into rows",
  numerics: "rounding",
  roots: ["Reshape"],
  // The sizes of the parts are an input.
  minOpset: 13,
  rewrite(root, context) {
    const facts = context.shared(sizeFacts);
    const own = headOf(root, facts);
    if (!own) return null;
    const heads = own.stencil.x.uses.flatMap((use) => {
      const reshape = use.kind === "input" && use.index === 0 ? reshapeBehind(use.node) : null;
      const head = reshape === root ? own : reshape?.graph === root.graph ? headOf(reshape, facts) : null;
      return head && isAlike(own, head) ? [head] : [];
    });
    if (heads.length < 2 || heads[0] !== own) return null;
    const first = [...root.graph.nodes()].find((node) => heads.some(({ reshape }) => reshape === node))!;
    const merged = merge(heads, first, context);
    if (typeof merged === "string") return context.skip(merged);
    for (const [i, { reshape }] of heads.entries()) {
      if (i > 0) context.alsoReplace(reshape.output, merged.outputs[i]!);
    }
    return [merged.outputs[0]!];
  },
});

interface Head {
  readonly stencil: Stencil;
  readonly transpose: Node;
  readonly reshape: Node;
  /** What the Reshape is told. */
  readonly target: readonly number[];
  /** Elements of a row, and rows that one place gives. */
  readonly columns: number;
  readonly anchors: number;
  /** Rows per image; null where the run tells. */
  readonly rows: number | null;
}

/** The Reshape that alone reads a Conv's channels, put last. */
function reshapeBehind(conv: Node): Node | null {
  const transpose = conv.is("Conv") ? soleReader(conv.output) : null;
  const reshape = transpose?.is("Transpose") ? soleReader(transpose.output) : null;
  return reshape?.is("Reshape") ? reshape : null;
}

function headOf(reshape: Node, { shapeOf }: SizeFacts): Head | null {
  const transpose = reshape.inputs[0]?.producer;
  const conv = transpose?.is("Transpose") ? transpose.inputs[0]?.producer : null;
  if (!transpose || !conv?.is("Conv") || conv.graph !== reshape.graph || reshapeBehind(conv) !== reshape) return null;
  const stencil = stencilOf(conv);
  // A weight that others read would stay beside the new one.
  if (stencil?.group !== 1 || stencil.window.length !== 2 || stencil.linear!.weight.useCount > 1) return null;
  if (permutationOf(transpose)?.join() !== "0,2,3,1") return null;
  const target = constantIntegers(reshape.inputs[1]);
  const [before, after] = [shapeOf(transpose.output), shapeOf(reshape.output)];
  const columns = after?.[2];
  if (!target || after?.length !== 3 || typeof columns !== "number" || columns < 1 || !areSame(before?.[0], after[0]))
    return null;
  const anchors = stencil.outputs / columns;
  const rows = typeof after[1] === "number" ? after[1] : null;
  return Number.isInteger(anchors) ? { stencil, transpose, reshape, target, columns, anchors, rows } : null;
}

function isAlike(one: Head, other: Head): boolean {
  const [a, b] = [one.stencil, other.stencil];
  return (
    one.anchors === other.anchors &&
    a.inputs === b.inputs &&
    a.linear!.weightTensor.dtype === b.linear!.weightTensor.dtype &&
    JSON.stringify(a.window) === JSON.stringify(b.window)
  );
}

function pays(heads: readonly Head[], products: number): boolean {
  const left = heads.length * CUT - ALLOWANCE * products;
  const { rows } = heads[0]!;
  return left <= 0 || (rows !== null && rows * left <= SAVED * (heads.length - 1));
}

function merge(heads: readonly Head[], before: Node, { create, constant }: RewriteContext): Node | string {
  const [{ stencil, transpose, reshape, target, anchors }] = heads as [Head];
  const { node: conv, weightTensor, weight: old, biasLabel } = stencil.linear!;
  const size = weightTensor.elementCount / stencil.outputs;
  const columns = heads.reduce((sum, head) => sum + head.columns, 0);
  const outputs = anchors * columns;
  if (!pays(heads, columns * size)) return "cutting the rows apart costs more than one Conv less saves";
  if (outputs * size > MOST_ELEMENTS) return "the weights are too large to join here";
  const weight = new Float64Array(outputs * size);
  const bias = new Float64Array(outputs);
  let at = 0;
  for (const head of heads) {
    const [from, addends] = [head.stencil.weight(), head.stencil.bias];
    for (let anchor = 0; anchor < anchors; anchor++) {
      const [source, target] = [anchor * head.columns, anchor * columns + at];
      weight.set(from.subarray(source * size, (source + head.columns) * size), target * size);
      bias.set(addends.subarray(source, source + head.columns), target);
    }
    at += head.columns;
  }
  const [newWeight, newBias] = [
    tensorLike(weightTensor.dtype, [outputs, ...weightTensor.dims.slice(1)], weight),
    tensorLike(weightTensor.dtype, [outputs], bias),
  ];
  if (!newWeight || !newBias) return "the weights are not finite";
  const inputs = [stencil.x, constant(old.label, newWeight)];
  if (bias.some((value) => value !== 0)) inputs.push(constant(biasLabel, newBias));
  const joined = create("Conv", inputs, conv.attributes, {
    like: conv,
    before,
    types: [widened(conv.output, 1, outputs)],
  });
  const moved = create("Transpose", [joined.output], transpose.attributes, {
    like: transpose,
    before,
    types: [widened(transpose.output, 3, outputs)],
  });
  const rows = create(
    "Reshape",
    [moved.output, constant("rows", Tensor.i64([3], [...target.slice(0, 2), columns]))],
    reshape.attributes,
    { like: reshape, before, types: [widened(reshape.output, 2, columns)] },
  );
  const sizes = heads.map((head) => head.columns);
  return create(
    "Split",
    [rows.output, constant("columns", Tensor.i64([sizes.length], sizes))],
    { axis: attr.int(2) },
    {
      before,
      labels: heads.map((head) => head.reshape.output.label),
      types: heads.map((head) => head.reshape.output.type),
    },
  );
}

function widened({ type }: Value, axis: number, size: number): TensorType | null {
  return type?.shape ? { dtype: type.dtype, shape: type.shape.map((dim, i) => (i === axis ? size : dim)) } : type;
}

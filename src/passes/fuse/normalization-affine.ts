/**
 *   LayerNormalization(x, g, b) * c      =>  LayerNormalization(x, g * c, b * c)
 *   LayerNormalization(x, g, b) + c      =>  LayerNormalization(x, g, b + c)
 *
 * and the same with RMSNormalization, which adds nothing, and with Instance- and GroupNormalization. What is
 * computed in other nodes goes in where the factor is one so far, and where nothing is added yet.
 */
import { type Attribute, elementCount, type Node, soleReader, Tensor, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { equalsElementwise, producerOf, readsOnlyFirst, soleProducer } from "../../rewrite/match.js";
import { tensorLike } from "./computed-tensor.js";
import {
  hasFactorPerChannel,
  layoutOf,
  type NormalizationLayout,
  spreadOver,
  vectorBehind,
} from "./normalization-layout.js";

const normalizations = ["LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization"];

export const fuseNormalizationAffine = defineRewrite({
  name: "fuse-normalization-affine",
  summary: "Fold a factor or an addend after a normalization into it",
  numerics: "rounding",
  roots: ["Mul", "Add", "Sub", "Div"],
  minOpset: 7,
  rewrite(root, context) {
    const [a, b] = root.inputs;
    if (!a || !b || a === b) return null;
    const isSymmetric = root.op === "Mul" || root.op === "Add";
    return absorb(root, a, b, context) ?? (isSymmetric ? absorb(root, b, a, context) : null);
  },
});

function absorb(root: Node, value: Value, operand: Value, context: RewriteContext): Answer {
  const norm = normalizationOf(value);
  const layout = norm && layoutOf(norm);
  if (!norm || !layout || operand.dtype !== norm.inputs[1]!.dtype) return null;
  if (operand.constant) return absorbConstant(root, norm, operand, layout, context);
  const vector = hasFactorPerChannel(norm) ? null : vectorOf(operand, norm, layout, context);
  if (!vector) return null;
  const [x, factor, addend] = norm.inputs;
  if (root.op === "Mul" && !addend && equalsElementwise(factor, 1)) return withInputs(norm, [x!, vector], context);
  if (root.op === "Add" && !addend && norm.is("LayerNormalization")) {
    return withInputs(norm, [x!, factor!, vector], context);
  }
  return null;
}

function absorbConstant(
  root: Node,
  norm: Node,
  operand: Value,
  layout: NormalizationLayout,
  context: RewriteContext,
): Answer {
  const numbers = operand.dtype === "f32" || operand.dtype === "f16" ? spreadOver(operand, layout) : null;
  if (!numbers) return null;
  const [x, factor, addend] = norm.inputs;
  const isProduct = root.op === "Mul" || root.op === "Div";
  const each = root.op === "Div" ? numbers.map((n) => 1 / n) : root.op === "Sub" ? numbers.map((n) => -n) : numbers;
  const write = (name: string, combined: Float64Array | null): Value | null => {
    const tensor = combined && tensorLike(operand.dtype!, layout.factorDims, Float32Array.from(combined));
    return tensor && context.constant(`${root.output.label}/${name}`, tensor);
  };
  const old = (value: Value, combine: (a: number, b: number) => number): Float64Array | null => {
    const data = value.constant && value.shape?.length === layout.factorDims.length ? value.constant.toF32() : null;
    return data?.length === elementCount(layout.factorDims) ? each.map((n, i) => combine(data[i]!, n)) : null;
  };
  if (isProduct) {
    const scale = write(
      "scale",
      old(factor!, (a, b) => a * b),
    );
    const bias =
      addend && scale
        ? write(
            "bias",
            old(addend, (a, b) => a * b),
          )
        : null;
    if (!scale || (addend && !bias)) return null;
    return withInputs(norm, bias ? [x!, scale, bias] : [x!, scale], context);
  }
  if (norm.is("RMSNormalization")) return null;
  const bias = write("bias", addend ? old(addend, (a, b) => a + b) : each);
  return bias && withInputs(norm, [x!, factor!, bias], context);
}

/** The normalization that makes a value for one reader; its statistics may have others. */
function normalizationOf(value: Value): Node | null {
  if (soleReader(value) === null) return null;
  return normalizations.map((op) => producerOf(value, op, value.graph)).find((node) => node !== null) ?? null;
}

/**
 * One number per element, from other nodes: the tensor behind a view with ones in front, or one in
 * another shape. Statistics are read before the product, so then it must be there before the normalization.
 */
function vectorOf(
  operand: Value,
  norm: Node,
  layout: NormalizationLayout,
  { create, constant }: RewriteContext,
): Value | null {
  const isEarly = !readsOnlyFirst(norm);
  const vector = vectorBehind(operand, layout);
  if (vector) return isEarly && !vector.isGraphInput ? null : vector;
  const view = soleProducer(operand, "Flatten") ?? soleProducer(operand, "Reshape");
  const source = view?.inputs[0];
  const isRow = operand.shape?.every((dim, i, all) => dim === (i === all.length - 1 ? layout.dims[0] : 1));
  const fits = isRow && layout.dims.length === 1 && operand.shape!.length <= (layout.x.shape?.length ?? 0);
  if (!view || !source || !fits || (isEarly && !source.isGraphInput)) return null;
  const shape = constant(`${operand.label}/shape`, Tensor.i64([1], layout.dims));
  const type = { dtype: operand.dtype, shape: layout.dims };
  const place = isEarly ? { before: norm } : {};
  return create("Reshape", [source, shape], {}, { like: view, labels: [operand.label], types: [type], ...place })
    .output;
}

function withInputs(norm: Node, inputs: readonly Value[], { create, alsoReplace }: RewriteContext): Answer {
  const attributes: ReadonlyMap<string, Attribute> = norm.attributes;
  if (readsOnlyFirst(norm)) return create(norm.op, inputs, attributes);
  const made = create(norm.op, inputs, attributes, {
    labels: norm.outputs.map((output) => output?.label ?? null),
    types: norm.outputs.map((output) => output?.type ?? null),
    before: norm,
  });
  norm.outputs.forEach((output, i) => {
    if (i > 0 && output && output.useCount > 0) alsoReplace(output, made.outputs[i]!);
  });
  return [made.output];
}

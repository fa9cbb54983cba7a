/**
 *   com.microsoft::SkipLayerNormalization(x, skip, gamma, beta, bias)        =>  LayerNormalization(x + skip + bias, gamma, beta)
 *   com.microsoft::SkipSimplifiedLayerNormalization(x, skip, gamma, bias)    =>  the same of squares, written out
 *   SimplifiedLayerNormalization(x, gamma)                                   =>  x / Sqrt(mean of x^2 + epsilon) * gamma
 *
 * The sum is the fourth result. The third is in ai.onnx by its name alone: ONNX Runtime's own.
 */
import { attr, type Node, Tensor, type Value } from "../../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { areSame } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import { RUNTIME_DOMAIN } from "../domain.js";

export const inlineRuntimeLayerNorm = defineRewrite({
  name: "inline-runtime-layer-norm",
  summary: "Write ONNX Runtime's SkipLayerNormalization as Add and LayerNormalization",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::SkipLayerNormalization`],
  minOpset: 17,
  rewrite(root, context) {
    const [x, skip, gamma, beta, bias] = root.inputs;
    if (!x || !skip || !gamma || ![x, skip, gamma].every(isF32)) return null;
    if (!isWithin(skip, x, context)) return context.skip(WIDENS);
    const sum = sumOf([x, skip, bias], context);
    // The operator's own has no offset where there is none.
    const offset = beta ? [beta] : [];
    const attributes = { axis: attr.int(-1), epsilon: attr.float(root.float("epsilon", EPSILON)) };
    return answered(root, context.create("LayerNormalization", [sum, gamma, ...offset], attributes), sum, context);
  },
});

export const inlineRuntimeRmsNorm = defineRewrite({
  name: "inline-runtime-rms-norm",
  summary: "Write out ONNX Runtime's simplified normalizations",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::SkipSimplifiedLayerNormalization`, "SimplifiedLayerNormalization"],
  minOpset: 13,
  rewrite: (root, context) =>
    root.op === "SimplifiedLayerNormalization" ? simplified(root, context) : simplifiedSum(root, context),
});

function simplified(root: Node, context: RewriteContext): Answer {
  const [x, gamma] = root.inputs;
  if (!x || !gamma || ![x, gamma].every(isF32)) return null;
  if (![-1, (x.shape?.length ?? 0) - 1].includes(root.int("axis", -1))) return context.skip("its axis is not the last");
  return answered(root, rmsNorm(x, gamma, root.float("epsilon", 1e-5), context), null, context);
}

function simplifiedSum(root: Node, context: RewriteContext): Answer {
  const [x, skip, gamma, bias] = root.inputs;
  if (!x || !skip || !gamma || ![x, skip, gamma].every(isF32)) return null;
  if (!isWithin(skip, x, context)) return context.skip(WIDENS);
  const sum = sumOf([x, skip, bias], context);
  return answered(root, rmsNorm(sum, gamma, root.float("epsilon", EPSILON), context), sum, context);
}

/** x / Sqrt(mean of x^2 + epsilon) * gamma: RMSNormalization is of opset 23, to which nothing else may have to go. */
function rmsNorm(x: Value, gamma: Value, epsilon: number, { create, constant, opset }: RewriteContext): Node {
  const square = create("Mul", [x, x]).output;
  const axis = Tensor.i64([1], [-1]);
  const mean =
    opset >= 18
      ? create("ReduceMean", [square, constant("axis", axis)])
      : create("ReduceMean", [square], { axes: attr.ints([-1]) });
  const shifted = create("Add", [mean.output, constant("epsilon", Tensor.scalar("f32", epsilon))]).output;
  const divided = create("Div", [x, create("Sqrt", [shifted]).output]).output;
  return create("Mul", [divided, gamma]);
}

const isF32 = ({ dtype }: Value): boolean => dtype === "f32";

const WIDENS = "what is added may be larger: the result has the shape of the first input";

function isWithin(skip: Value, x: Value, context: RewriteContext): boolean {
  const { shapeOf } = context.shared(sizeFacts);
  const [inner, outer] = [shapeOf(skip), shapeOf(x)];
  if (!inner || !outer || inner.length > outer.length) return false;
  return inner.every((size, axis) => size === 1 || areSame(size, outer[axis + outer.length - inner.length]));
}

function sumOf(addends: readonly (Value | null | undefined)[], { create }: RewriteContext): Value {
  return addends.flatMap((value) => value ?? []).reduce((sum, value) => create("Add", [sum, value]).output);
}

/** Where an operator that adds says none. */
const EPSILON = 1e-12;

/** The results of `root`: what is normalized, and the sum that it is made of. */
function answered(root: Node, normalized: Node, sum: Value | null, { skip }: RewriteContext): Answer {
  const [, mean, deviation] = root.outputs;
  if ([mean, deviation].some((value) => value && value.useCount > 0)) return skip("its statistics are read");
  return root.outputs.length > 3 ? [normalized.output, null, null, sum] : normalized;
}

/**
 *   com.microsoft::SkipLayerNormalization(x, skip, gamma, beta, bias)        =>  LayerNormalization(x + skip + bias, gamma, beta)
 *   com.microsoft::SkipSimplifiedLayerNormalization(x, skip, gamma, bias)    =>  RMSNormalization(x + skip + bias, gamma)
 *   SimplifiedLayerNormalization(x, gamma)                                   =>  RMSNormalization(x, gamma)
 *
 * The sum is the fourth result. The third is in ai.onnx by its name alone: ONNX Runtime's own.
 */
import { attr, type Node, type Value } from "../../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { RUNTIME_DOMAIN } from "../domain.js";

export const inlineRuntimeLayerNorm = defineRewrite({
  name: "inline-runtime-layer-norm",
  summary: "Write ONNX Runtime's SkipLayerNormalization as Add and LayerNormalization",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::SkipLayerNormalization`],
  minOpset: 17,
  rewrite(root, context) {
    const [x, skip, gamma, beta, bias] = root.inputs;
    if (!x || !skip || !gamma || x.dtype !== "f32") return null;
    const sum = sumOf([x, skip, bias], context);
    // The operator's own has no offset where there is none.
    const offset = beta ? [beta] : [];
    return normalized(root, "LayerNormalization", [sum, gamma, ...offset], sum, context);
  },
});

export const inlineRuntimeRmsNorm = defineRewrite({
  name: "inline-runtime-rms-norm",
  summary: "Write ONNX Runtime's simplified normalizations as Add and RMSNormalization",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::SkipSimplifiedLayerNormalization`, "SimplifiedLayerNormalization"],
  minOpset: 23,
  rewrite(root, context) {
    const [x] = root.inputs;
    if (x?.dtype !== "f32") return null;
    if (root.op === "SimplifiedLayerNormalization") {
      const gamma = root.inputs[1];
      return gamma ? normalized(root, "RMSNormalization", [x, gamma], null, context) : null;
    }
    const [, skip, gamma, bias] = root.inputs;
    if (!skip || !gamma) return null;
    const sum = sumOf([x, skip, bias], context);
    return normalized(root, "RMSNormalization", [sum, gamma], sum, context);
  },
});

function sumOf(addends: readonly (Value | null | undefined)[], { create }: RewriteContext): Value {
  return addends.flatMap((value) => value ?? []).reduce((sum, value) => create("Add", [sum, value]).output);
}

/** What an operator leaves unsaid. */
const EPSILON: Readonly<Record<string, number>> = { SimplifiedLayerNormalization: 1e-5 };
const EPSILON_OF_SKIP = 1e-12;

function normalized(
  root: Node,
  op: string,
  inputs: readonly Value[],
  sum: Value | null,
  context: RewriteContext,
): Answer {
  const { create, skip } = context;
  const [, mean, deviation] = root.outputs;
  if ([mean, deviation].some((value) => value && value.useCount > 0)) return skip("its statistics are read");
  const epsilon = root.float("epsilon", EPSILON[root.op] ?? EPSILON_OF_SKIP);
  const node = create(op, inputs, { axis: attr.int(root.int("axis", -1)), epsilon: attr.float(epsilon) });
  return root.outputs.length > 3 ? [node.output, null, null, sum] : node;
}

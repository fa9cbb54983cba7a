/**
 *   LayerNormalization(x + skip, gamma, beta)         =>  com.microsoft::SkipLayerNormalization(x, skip, gamma, beta)
 *   LayerNormalization((x + bias) + skip, gamma, ...) =>  ...(x, skip, gamma, beta, bias)
 *   RMSNormalization(x + skip, gamma)                 =>  com.microsoft::SkipSimplifiedLayerNormalization(x, skip, gamma)
 *
 * over the last axis of a [batch, sequence, hidden] or [rows, hidden] tensor, f32. The sum, which
 * the next residual connection reads, is the fourth output where others want it.
 */
import { type Attribute, attr, type Node, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { producerOf, readsOnlyFirst, soleProducer } from "../../rewrite/match.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";
import { areAlike, haveSameTail, isAlongLastAxis, splitBias } from "./addend.js";
import { RUNTIME_DOMAIN } from "./domain.js";

export const fuseSkipLayerNorm = defineRewrite({
  name: "fuse-skip-layer-norm",
  summary: "Let a normalization add the residual, and the bias, in front of it",
  numerics: "rounding",
  // ONNX Runtime writes SimplifiedLayerNormalization in the domain of ai.onnx.
  roots: ["LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"],
  rewrite(root, { create, skip, shared, alsoReplace }) {
    const facts = shared(sizeFacts);
    const sum = producerOf(root.inputs[0], "Add", root.graph);
    if (!sum || !readsOnlyFirst(root)) return null;
    const [, gamma, beta] = root.inputs;
    const rank = facts.shapeOf(sum.output)?.length;
    if (!gamma || rank === undefined) return null;
    if (rank !== 2 && rank !== 3) return skip("SkipLayerNormalization takes tensors of two or three axes");
    const axis = root.int("axis", -1);
    if (axis !== -1 && axis !== rank - 1) return skip("it normalizes over more than the last axis");
    if ((sum.output.dtype ?? gamma.dtype) !== "f32" || gamma.dtype !== "f32")
      return skip("SkipLayerNormalization computes in f32 only");
    if (![gamma, beta].every((value) => !value || isAlongLastAxis(value, sum.output, facts))) {
      return skip("gamma or beta is not one number per element of the last axis");
    }
    const parts = partsOf(sum, facts);
    if (!parts) return skip("the two addends may differ in shape");
    // The new node stands where the sum was made: its other readers may come before the normalization.
    if (![gamma, beta].every((value) => !value || value.constant)) return skip("gamma or beta is computed");
    const isSimplified = !root.is("LayerNormalization");
    if (isSimplified && beta) return null;
    const isSumRead = sum.output.useCount > 1;
    const inputs = isSimplified ? [parts.x, parts.skip, gamma] : [parts.x, parts.skip, gamma, beta ?? null];
    if (parts.bias) inputs.push(parts.bias);
    while (inputs.at(-1) === null) inputs.pop();
    const attributes: Record<string, Attribute> = { epsilon: attr.float(root.float("epsilon", 1e-5)) };
    const fused = create(
      isSimplified ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
      inputs,
      attributes,
      {
        domain: RUNTIME_DOMAIN,
        labels: isSumRead ? [root.output.label, null, null, sum.output.label] : [root.output.label],
        before: sum,
      },
    );
    if (isSumRead) alsoReplace(sum.output, fused.outputs[3]!);
    return [fused.outputs[0]!];
  },
});

interface Parts {
  readonly x: Value;
  readonly skip: Value;
  readonly bias: Value | null;
}

/** A sum as the inputs of the fused operator; the bias from whichever addend has one of its own. */
function partsOf(sum: Node, facts: SizeFacts): Parts | null {
  const [a, b] = sum.inputs;
  if (!a || !b || sum.inputs.length !== 2) return null;
  const pairs = [
    [a, b],
    [b, a],
  ] as const;
  for (const [addend, skip] of pairs) {
    const inner = soleProducer(addend, "Add");
    const biased = inner && splitBias(inner, facts);
    if (biased && isSkipOf(skip, biased.x, facts)) return { x: biased.x, skip, bias: biased.bias };
  }
  const plain = pairs.find(([x, skip]) => isSkipOf(skip, x, facts));
  return plain ? { x: plain[0], skip: plain[1], bias: null } : null;
}

/** Whether the kernel repeats a tensor over the batch of x, if at all: [b, s, h], [1, s, h] or [s, h]. */
function isSkipOf(skip: Value, x: Value, facts: SizeFacts): boolean {
  if (areAlike(skip, x, facts)) return true;
  const from = facts.shapeOf(skip);
  const isRepeated = from?.length === 2 || (from?.length === 3 && from[0] === 1);
  return isRepeated && facts.shapeOf(x)?.length === 3 && haveSameTail(skip, x, 2, facts);
}

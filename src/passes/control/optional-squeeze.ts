/**
 * `x.squeeze(a)` of a tensor whose size along `a` was unknown to the exporter:
 *
 *   If<then = Squeeze(x, a), else = x>(Equal(Gather(Shape(x), a), 1))   =>   Squeeze(x, a)
 *
 * only where the graph behind it cannot do with the rank that the else branch gives (an
 * LSTM takes rank 3, a Conv the rank of its weight). The Squeeze holds the size to 1: an
 * input that made the graph fail before makes it fail still.
 */
import type { Node, Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, givenAxes, producerOf } from "../../rewrite/match.js";
import { bodyOf, isImpossibleRank } from "./rank-trace.js";

export const foldOptionalSqueeze = defineRewrite({
  name: "fold-optional-squeeze",
  summary: "Squeeze without asking where the graph behind can only do with the squeezed rank",
  numerics: "exact",
  revealsTypes: "for the next round",
  roots: ["If"],
  rewrite(node, { create, constant, skip }) {
    const match = matchOptionalSqueeze(node);
    if (!match) return null;
    const { data, axis, squeeze } = match;
    const rank = data.shape?.length;
    if (rank === undefined) return skip("the rank of what is squeezed is not known");
    if (sizeAsked(node, data, rank) !== (axis < 0 ? axis + rank : axis)) return null;
    if (!isImpossibleRank(node, rank)) return skip("the graph may do with the tensor unsqueezed");
    const axes = squeeze.inputs[1]?.constant;
    return axes
      ? create("Squeeze", [data, constant("axes", axes)], {}, { like: squeeze })
      : create("Squeeze", [data], squeeze.attributes, { like: squeeze });
  },
});

/** then: Squeeze of an outer tensor along one axis; else: that tensor. */
function matchOptionalSqueeze(node: Node): { data: Value; axis: number; squeeze: Node } | null {
  const [then, otherwise] = [bodyOf(node, "then_branch"), bodyOf(node, "else_branch")];
  if (!then || !otherwise || node.outputs.length !== 1 || then.nodeCount !== 1 || otherwise.nodeCount !== 1)
    return null;
  const squeeze = producerOf(then.outputs[0]?.value, "Squeeze", then);
  const identity = producerOf(otherwise.outputs[0]?.value, "Identity", otherwise);
  const data = squeeze?.inputs[0];
  const axes = squeeze && givenAxes(squeeze);
  if (!squeeze || !data || !identity || identity.inputs[0] !== data || axes?.length !== 1) return null;
  return data.graph === then ? null : { data, axis: axes[0]!, squeeze };
}

/** The axis of `data` whose size the condition compares with 1, or null. */
function sizeAsked(node: Node, data: Value, rank: number): number | null {
  const equal = producerOf(node.inputs[0], "Equal", node.graph);
  if (!equal) return null;
  for (const [size, one] of [equal.inputs, [...equal.inputs].reverse()]) {
    if (constantIntegers(one)?.join() !== "1") continue;
    const gather = producerOf(size, "Gather", node.graph);
    const shape = producerOf(gather?.inputs[0], "Shape", node.graph);
    const at = constantIntegers(gather?.inputs[1]);
    if (!shape || shape.attributes.size > 0 || shape.inputs[0] !== data || at?.length !== 1) return null;
    return at[0]! < 0 ? at[0]! + rank : at[0]!;
  }
  return null;
}

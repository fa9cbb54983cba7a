/**
 *   Unsqueeze(Unsqueeze(x, a), b)  =>  Unsqueeze(x, b and the places of a)
 *   Squeeze(Squeeze(x, a), b)      =>  Squeeze(x, a and what b counts in x)
 *
 * Axes counted from the front mean the same whatever the rank; those counted from the
 * end need it. Nobody else reads the first node.
 */
import { attr, type Node, Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { givenAxes, normalizeAxes, soleProducer } from "../../rewrite/match.js";

export const fuseAxisChain = defineRewrite({
  name: "fuse-axis-chain",
  summary: "Add or drop axes in one Unsqueeze or Squeeze instead of in two",
  numerics: "exact",
  roots: ["Unsqueeze", "Squeeze"],
  rewrite(root, { create, constant, opset }) {
    const inner = soleProducer(root.inputs[0], root.op);
    const source = inner?.inputs[0];
    const [first, second] = inner ? [axesOf(inner), axesOf(root)] : [null, null];
    if (!source || !first || !second) return null;
    // Both axes count in the larger tensor that the first Squeeze reads, or the last Unsqueeze makes.
    const isAdding = root.op === "Unsqueeze";
    const [outer, nested] = isAdding ? [second, first] : [first, second];
    const axes = [...outer, ...nested.map((axis) => placeBeside(axis, outer))].sort((a, b) => a - b);
    if (opset < 13) return create(root.op, [source], { axes: attr.ints(axes) });
    return create(root.op, [source, constant("axes", Tensor.i64([axes.length], axes))]);
  },
});

/** Axes counted from the front, in the tensor that has them; null when they are computed, left out, or cannot be counted. */
function axesOf(node: Node): number[] | null {
  const given = givenAxes(node);
  if (!given || given.length === 0) return null;
  const rank = node.inputs[0]?.shape?.length;
  const full = rank === undefined ? Number.POSITIVE_INFINITY : rank + (node.op === "Unsqueeze" ? given.length : 0);
  return given.every((axis) => axis >= 0) || Number.isFinite(full) ? normalizeAxes(given, full) : null;
}

/** The place of an axis among all, when it is counted among those that are not in `others`. */
function placeBeside(axis: number, others: readonly number[]): number {
  let place = axis;
  for (const other of [...others].sort((a, b) => a - b)) if (other <= place) place++;
  return place;
}

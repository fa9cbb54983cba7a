/**
 * Unsqueeze(ReduceX<keepdims=0>(x, axes), axes)          =>  ReduceX<keepdims=1>(x, axes)
 * Reshape(ReduceX<keepdims=0>(x, axes), the same shape)  =>  ReduceX<keepdims=1>(x, axes)
 */
import { type Attribute, attr, type Node } from "../../ir/index.js";
import { axisReductions } from "../../ops/facts.js";
import { defineRewrite } from "../../rewrite/index.js";
import { givenAxes, soleProducer } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";
import { reducedAxes } from "../fuse/reduced-axes.js";

const reductions = new Set(["ArgMax", "ArgMin", ...axisReductions]);

export const eliminateReinsertedAxis = defineRewrite({
  name: "eliminate-reinserted-axis",
  summary: "Let a reduction keep the axes that are put back after it",
  numerics: "exact",
  roots: ["Unsqueeze", "Reshape"],
  rewrite(root, { create, shared }) {
    const reduction = soleProducer(root.inputs[0], root.inputs[0]?.producer?.op ?? "");
    if (!reduction || !reductions.has(reduction.op) || reduction.int("keepdims", 1) === 1) return null;
    const rank = reduction.inputs[0]?.shape?.length;
    const axes = reduction.op.startsWith("Arg") ? [argAxis(reduction, rank)] : reducedAxes(reduction);
    if (
      rank === undefined ||
      !axes ||
      !(root.op === "Unsqueeze" ? reinserts(root, axes, rank) : reshapes(root, reduction, axes, shared(sizeFacts)))
    ) {
      return null;
    }
    const attributes = new Map<string, Attribute>(reduction.attributes).set("keepdims", attr.int(1));
    return create(reduction.op, reduction.inputs, attributes);
  },
});

function argAxis(node: Node, rank: number | undefined): number {
  const axis = node.int("axis", 0);
  return axis < 0 ? axis : axis - (rank ?? 0);
}

function reinserts(unsqueeze: Node, axes: readonly number[], rank: number): boolean {
  const given = givenAxes(unsqueeze);
  const fromBack = given?.map((axis) => (axis < 0 ? axis : axis - rank)).sort((a, b) => a - b);
  return String(fromBack) === String(axes);
}

/** Whether the result has the shape of x, but for ones where the axes were. */
function reshapes(reshape: Node, reduction: Node, axes: readonly number[], { shapeOf }: SizeFacts): boolean {
  const [before, after] = [shapeOf(reduction.inputs[0]), shapeOf(reshape.output)];
  if (!before || before.length !== after?.length) return false;
  return before.every((size, i) => areSame(axes.includes(i - before.length) ? 1 : size, after[i]));
}

/**
 * Unsqueeze(Squeeze(x, a), b)  =>  Reshape(x, the shape that comes out)
 *
 * for axes `a` that surely are 1 (a Squeeze fails at others, and so must what stands for
 * it) and a shape with one size at most that only the run can tell.
 */
import { type Node, Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { givenAxes, isKnown, normalizeAxes, soleProducer } from "../../rewrite/match.js";

export const fuseMovedAxis = defineRewrite({
  name: "fuse-moved-axis",
  summary: "Move an axis of one element by one Reshape",
  numerics: "exact",
  roots: ["Unsqueeze"],
  minOpset: 5,
  rewrite(unsqueeze, { create, constant }) {
    const squeeze = soleProducer(unsqueeze.inputs[0], "Squeeze");
    const data = squeeze?.inputs[0];
    const shape = unsqueeze.output.shape;
    if (!squeeze || !data || !shape || !dropsOnes(squeeze)) return null;
    // A 0 would copy a size, and beside an empty tensor -1 could be anything.
    if (shape.includes(0) || shape.filter((dim) => !isKnown(dim)).length > 1) return null;
    const target = shape.map((dim) => (isKnown(dim) ? dim : -1));
    return create(
      "Reshape",
      [data, constant("shape", Tensor.i64([target.length], target))],
      {},
      { types: [unsqueeze.output.type] },
    );
  },
});

function dropsOnes(squeeze: Node): boolean {
  const shape = squeeze.inputs[0]?.shape;
  const given = givenAxes(squeeze);
  const axes = shape && given && normalizeAxes(given, shape.length);
  return axes?.every((axis) => shape![axis] === 1) ?? false;
}

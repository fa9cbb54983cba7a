/**
 *   ArgMax<axis=a>(Softmax<axis=a>(x))  =>  ArgMax<axis=a>(x)        LogSoftmax alike
 *
 * Softmax keeps the order of the elements along its axis, and the largest never vanishes.
 * Two that are nearer than its rounding come out alike, so the position may be another one
 * of two that are as good as equal. ArgMin stays: the small ones all become zero.
 */
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";

export const eliminateSoftmaxBeforeArgMax = defineRewrite({
  name: "eliminate-softmax-before-arg-max",
  summary: "Remove a Softmax or LogSoftmax of which only the position of the largest element is read",
  numerics: "rounding",
  roots: ["ArgMax"],
  rewrite(root, { create, skip, opset }) {
    const values = root.inputs[0];
    const softmax = soleProducer(values, "Softmax") ?? soleProducer(values, "LogSoftmax");
    const x = softmax?.inputs[0];
    if (!softmax || !x) return null;
    // Until opset 12 it normalizes over all axes from its own on.
    if (opset < 13) return skip(`${softmax.op} of opset ${opset} goes over several axes`);
    const rank = x.shape?.length ?? values?.shape?.length ?? null;
    const axisOf = (axis: number): number | null => (axis >= 0 ? axis : rank === null ? null : axis + rank);
    const [normalized, searched] = [axisOf(softmax.int("axis", -1)), axisOf(root.int("axis", 0))];
    if (normalized === null || searched === null) return skip("the rank is not known");
    if (normalized !== searched) return skip(`${softmax.op} goes along another axis`);
    return create("ArgMax", [x], root.attributes);
  },
});

/**
 * Unsqueeze(Gather(x, i), the axis that was picked from)  =>  Slice(x, i:i+1)
 *
 * How exporters write `x[i].unsqueeze(0)`; several of them side by side become a Split.
 * A Slice forgives a place that is not there and Gather does not, so the size must be known.
 */
import { Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, givenAxes, isKnown, normalizeAxes, soleProducer } from "../../rewrite/match.js";

export const fuseGatherUnsqueeze = defineRewrite({
  name: "fuse-gather-unsqueeze",
  summary: "Cut out the row that is picked and gets its axis back",
  numerics: "exact",
  roots: ["Unsqueeze"],
  minOpset: 10,
  rewrite(unsqueeze, { create, constant }) {
    const gather = soleProducer(unsqueeze.inputs[0], "Gather");
    const [data, indices] = gather?.inputs ?? [];
    const shape = data?.shape;
    if (!gather || !data || !shape || indices?.constant?.dims.length !== 0) return null;
    const [axis] = normalizeAxes([gather.int("axis", 0)], shape.length) ?? [];
    const given = givenAxes(unsqueeze);
    const [inserted, ...more] = (given && normalizeAxes(given, shape.length)) ?? [];
    const [place] = constantIntegers(indices) ?? [];
    if (axis === undefined || inserted !== axis || more.length > 0 || place === undefined) return null;
    const size = shape[axis];
    if (!isKnown(size) || place < -size || place >= size) return null;
    const at = place < 0 ? place + size : place;
    const bound = (label: string, value: number) => constant(label, Tensor.i64([1], [value]));
    return create("Slice", [data, bound("starts", at), bound("ends", at + 1), bound("axes", axis)]);
  },
});

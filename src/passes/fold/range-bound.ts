/**
 * Range(0, [n], 1)  =>  Range(0, n, 1) for a constant n of one element
 *
 * A Range takes scalars. Runtimes let one element of rank 1 pass as long as it is computed,
 * and refuse the model once folding has made a constant of it.
 */
import type { Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";

export const foldRangeBound = defineRewrite({
  name: "fold-range-bound",
  summary: "Give a Range its constant bounds as scalars",
  numerics: "exact",
  roots: ["Range"],
  rewrite(range, { create, constant }) {
    const isVector = (value: Value | null): boolean =>
      value?.constant?.elementCount === 1 && value.constant.dims.length > 0;
    if (!range.inputs.some(isVector)) return null;
    const bounds = range.inputs.map((value) =>
      isVector(value) ? constant(value!.label, value!.constant!.withDims([])) : value,
    );
    return create("Range", bounds, range.attributes, { types: [range.output.type] });
  },
});

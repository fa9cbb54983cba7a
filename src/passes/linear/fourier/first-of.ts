import { type Shape, Tensor, type Value } from "../../../ir/index.js";
import type { RewriteContext } from "../../../rewrite/index.js";

/** The first elements along an axis, as many as `shape`, which the result has, tells there. */
export function firstOf(value: Value, shape: Shape, axis: number, { create, constant }: RewriteContext): Value {
  const bounds = [0, shape[axis] as number, axis].map((bound, i) =>
    constant(`${value.label}/${["start", "end", "axis"][i]}`, Tensor.i64([1], [bound])),
  );
  return create("Slice", [value, ...bounds], {}, { types: [{ dtype: value.dtype, shape }] }).output;
}

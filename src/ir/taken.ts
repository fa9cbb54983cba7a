import { bitsOf } from "./dtype.js";
import { elementCount } from "./shape.js";
import { Tensor } from "./tensor.js";

/** The named positions of a tensor along an axis, in that order, any of them several times; zeros for null. */
export function taken(tensor: Tensor, axis: number, positions: readonly (number | null)[]): Tensor {
  const { dims, dtype } = tensor;
  const bytes = tensor.bytes();
  const inner = (elementCount(dims.slice(axis + 1)) * bitsOf(dtype)) / 8;
  const outer = elementCount(dims.slice(0, axis));
  const made = new Uint8Array(outer * positions.length * inner);
  let to = 0;
  for (let o = 0; o < outer; o++) {
    const start = o * dims[axis]! * inner;
    for (const position of positions) {
      if (position !== null) made.set(bytes.subarray(start + position * inner, start + (position + 1) * inner), to);
      to += inner;
    }
  }
  return Tensor.fromBytes(dtype, dims.with(axis, positions.length), made);
}

/** The positions of an axis, filled up to `size`. */
export const filledUp = (own: number, size: number, fill: number | null): (number | null)[] =>
  Array.from({ length: size }, (_, i) => (i < own ? i : fill));

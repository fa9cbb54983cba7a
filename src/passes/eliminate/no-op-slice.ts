import type { Node } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";

/** Ends at or beyond this are what exporters write for "to the end". */
const TO_THE_END = 2n ** 31n - 1n;

interface Bounds {
  readonly starts: readonly bigint[];
  readonly ends: readonly bigint[];
  readonly axes: readonly number[];
  readonly steps: readonly bigint[];
}

/** The bounds of a Slice, from inputs (opset 10) or attributes; null when they are computed at run time. */
function boundsOf(slice: Node): Bounds | null {
  const read = (index: number, name: string): bigint[] | null => {
    const input = slice.inputs[index];
    return input ? (input.constant?.bigints() ?? null) : (slice.ints(name)?.map(BigInt) ?? null);
  };
  const starts = read(1, "starts");
  const ends = read(2, "ends");
  if (!starts || !ends || starts.length !== ends.length) return null;
  const axes = slice.inputs[3] || slice.attributes.has("axes") ? read(3, "axes")?.map(Number) : starts.map((_, i) => i);
  const steps = slice.inputs[4] ? read(4, "steps") : starts.map(() => 1n);
  return axes && steps && axes.length === starts.length && steps.length === starts.length
    ? { starts, ends, axes, steps }
    : null;
}

/** Slice(x) that takes every element of every axis in order  =>  x */
export const eliminateNoOpSlice = defineRewrite({
  name: "eliminate-no-op-slice",
  summary: "Remove Slices that take everything",
  numerics: "exact",
  roots: ["Slice"],
  rewrite(slice) {
    const input = slice.inputs[0];
    const bounds = boundsOf(slice);
    if (!input || !bounds) return null;
    const shape = input.shape;
    const takesAll = bounds.starts.every((start, i) => {
      if (start !== 0n || bounds.steps[i] !== 1n) return false;
      const end = bounds.ends[i]!;
      if (end >= TO_THE_END) return true;
      const axis = bounds.axes[i]!;
      const dim = shape?.[axis < 0 ? axis + shape.length : axis];
      return isKnown(dim) && end >= BigInt(dim);
    });
    return takesAll ? input : null;
  },
});

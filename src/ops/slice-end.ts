/**
 * The ends of a Slice that runs backwards, as the runtime's kernel reads them: INT32_MAX and INT64_MAX are "to the end" in
 * whichever direction it goes. Its shape inference takes them for a place behind the last element, before which a slice
 * backwards finds nothing, and would have passes and other nodes believe in a size of zero.
 */
import { type Node, Tensor } from "../ir/index.js";

const SPECIAL = new Set([2n ** 31n - 1n, 2n ** 63n - 1n]);

/** The ends that kernel and shape inference read alike; null where the ends are that already, or are not constant. */
export function backwardEnds(slice: Node): Tensor | null {
  if (!slice.is("Slice")) return null;
  const ends = slice.inputs[2]?.constant;
  const steps = slice.inputs[4]?.constant?.bigints();
  const given = ends?.bigints();
  if (!ends || !given || steps?.length !== given.length) return null;
  const runsToTheStart = given.map((end, i) => steps[i]! < 0n && SPECIAL.has(end));
  if (!runsToTheStart.includes(true)) return null;
  if (ends.dtype === "i32") {
    const numbers = given.map((end, i) => (runsToTheStart[i] ? -(2 ** 31) : Number(end)));
    return Tensor.ofArray("i32", ends.dims, Int32Array.from(numbers));
  }
  return Tensor.i64(
    ends.dims,
    given.map((end, i) => (runsToTheStart[i] ? -(2n ** 63n) : end)),
  );
}

/** Interpolation along one axis as a matrix. */
import type { Node } from "../../ir/index.js";
import { type ResizedAxis, resizeSource } from "../../ops/resize-source.js";

/** How a Resize weighs neighbours; null where it takes the nearest, or what these formulas do not say. */
export function interpolationOf(resize: Node): "linear" | "cubic" | null {
  const mode = resize.string("mode", "nearest");
  if ((mode !== "linear" && mode !== "cubic") || resize.int("antialias", 0) !== 0) return null;
  const isTold = resizeSource(resize, 0, { from: 1, to: 1, scale: 1 }) !== null;
  return isTold && resize.int("exclude_outside", 0) === 0 ? mode : null;
}

/** What each place of the result has of each of the input: [to, from] by rows. */
export function resizeWeights(resize: Node, mode: "linear" | "cubic", axis: ResizedAxis): Float32Array {
  const { from, to } = axis;
  const weights = new Float64Array(to * from);
  const a = resize.float("cubic_coeff_a", -0.75);
  const inside = (place: number): number => Math.min(from - 1, Math.max(0, place));
  for (let place = 0; place < to; place++) {
    const at = resizeSource(resize, place, axis)!;
    const source = mode === "linear" ? inside(at) : at;
    const left = Math.floor(source);
    const share = source - left;
    const taps = mode === "linear" ? [1 - share, share] : cubic(share, a);
    const begin = mode === "linear" ? left : left - 1;
    // Beyond its sides the input goes on as it ends.
    for (const [i, tap] of taps.entries()) weights[place * from + inside(begin + i)]! += tap;
  }
  return Float32Array.from(weights);
}

/** Of four neighbours, the first of them before the one that is `share` away (Keys, "Cubic convolution interpolation", 1981). */
function cubic(share: number, a: number): readonly number[] {
  const near = (d: number): number => ((a + 2) * d - (a + 3)) * d * d + 1;
  const far = (d: number): number => ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return [far(share + 1), near(share), near(1 - share), far(2 - share)];
}

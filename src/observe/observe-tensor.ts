/** Adds tensors to a tap's statistics, fast: calibration sends hundreds of millions of values through here. */
import { type Kernel, sharedKernel } from "./kernel.js";
import { observePlain, widen } from "./observe-plain.js";
import { addExtremes, binsPerSide, type Extremes, exponentAbove, type TapStatistics } from "./statistics.js";

/** Below this the plain loops are done before the kernel's histograms are read out. */
const shortTensor = 4096;
const infinityBits = 0x7f80_0000;

/** Adds the elements of one tensor to the tap. The values are only read. */
export function observeTensor(tap: TapStatistics, values: Float32Array): void {
  tap.samples++;
  tap.count += values.length;
  const kernel = values.length < shortTensor ? null : sharedKernel();
  addExtremes(tap, kernel ? observeTiles(kernel, tap, values) : observePlain(tap, values));
}

function observeTiles(kernel: Kernel, tap: TapStatistics, values: Float32Array): Extremes {
  const { tile } = kernel;
  const whole = values.length - (values.length % 4);
  let counted = false;
  let seen: Extremes = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  for (let from = 0; from < whole; from += tile.length) {
    const part = values.subarray(from, Math.min(from + tile.length, whole));
    tile.set(part);
    kernel.scan(part.byteLength);
    if (Math.max(...kernel.magnitudeBits) >= infinityBits) {
      if (counted) readOut(kernel, tap);
      counted = false;
      seen = hull(seen, observePlain(tap, part));
      continue;
    }
    const min = Math.min(...kernel.min);
    const max = Math.max(...kernel.max);
    // What was counted with narrower bins leaves before they widen.
    if (counted && exponentAbove(Math.max(-min, max)) > tap.exponent) readOut(kernel, tap);
    widen(tap, min, max);
    seen = hull(seen, { min, max });
    tap.zeroCount += kernel.zeros[0]! + kernel.zeros[1]! + kernel.zeros[2]! + kernel.zeros[3]!;
    kernel.count(part.byteLength, binsPerSide / 2 ** tap.exponent);
    counted = true;
  }
  if (counted) readOut(kernel, tap);
  return whole < values.length ? hull(seen, observePlain(tap, values.subarray(whole))) : seen;
}

const hull = (a: Extremes, b: Extremes): Extremes => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

/** Moves the kernel's counts into the tap and clears them. Only bins between the extremes can be filled. */
function readOut(kernel: Kernel, tap: TapStatistics): void {
  const { histograms } = kernel;
  const counts = tap.counts;
  const bins = counts.length;
  const scale = binsPerSide / 2 ** tap.exponent;
  const first = binsPerSide - 1 + Math.min(0, Math.trunc(tap.min * scale));
  const last = binsPerSide + Math.max(0, Math.trunc(tap.max * scale));
  for (let i = first; i <= last; i++) {
    counts[i]! += histograms[i]! + histograms[bins + i]! + histograms[2 * bins + i]! + histograms[3 * bins + i]!;
  }
  for (let lane = 0; lane < 4; lane++) histograms.fill(0, lane * bins + first, lane * bins + last + 1);
}

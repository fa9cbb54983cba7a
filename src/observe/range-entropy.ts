/**
 * The clip whose distribution loses least when it is quantized. For each candidate
 * (after the search of NVIDIA's 8-bit inference talk, 2017):
 *
 *   P  the bins inside, with everything clipped moved into the outermost bins
 *   Q  the bins inside cut into `levels` groups, each group's mass spread evenly over its filled bins
 *
 * and the clip with the smallest KL(P || Q) is taken. Both ends shrink together from the
 * widest magnitude inward, each stopping where its own side ends; so the same search
 * serves symmetric, lopsided and one-sided values. Zeros are left out: any such range
 * holds them exactly, and after a Relu their spike would pull every clip inward.
 */
import type { BinRange } from "./ranges.js";
import { binsPerSide, type TapStatistics } from "./statistics.js";

/** A bin of P that is empty in Q counts as if it held this share of one element. */
const almostNothing = 1e-4;
const candidates = 128;

export function entropyBins(tap: TapStatistics, all: BinRange, levels: number): BinRange {
  const counts = tap.counts.slice();
  counts[binsPerSide]! -= tap.zeroCount;
  const cumulative = new Float64Array(counts.length + 1);
  for (let bin = 0; bin < counts.length; bin++) cumulative[bin + 1] = cumulative[bin]! + counts[bin]!;

  const widest = Math.max(binsPerSide - all.first, all.last - binsPerSide);
  const stride = Math.max(1, Math.floor(widest / candidates));
  let best = all;
  let bestDivergence = Number.POSITIVE_INFINITY;
  for (let reach = widest; reach > 0; reach -= stride) {
    const bins = {
      first: Math.max(all.first, binsPerSide - reach),
      last: Math.min(all.last, binsPerSide + reach),
    };
    // With no more bins than levels Q is P again and says nothing about the resolution.
    if (bins.last - bins.first < levels) break;
    const divergence = divergenceOf(counts, cumulative, bins, levels);
    if (divergence < bestDivergence) {
      bestDivergence = divergence;
      best = bins;
    }
  }
  return best;
}

/** KL(P || Q) in nats; infinite when nothing lies inside. */
function divergenceOf(counts: Float64Array, cumulative: Float64Array, bins: BinRange, levels: number): number {
  const { first, last } = bins;
  const width = last - first;
  const total = cumulative[counts.length]!;
  const inside = cumulative[last]! - cumulative[first]!;
  if (inside === 0) return Number.POSITIVE_INFINITY;
  const below = cumulative[first]!;
  const above = total - cumulative[last]!;
  let divergence = 0;
  let start = first;
  for (let level = 0; level < levels; level++) {
    const end = first + Math.floor(((level + 1) * width) / levels);
    const mass = cumulative[end]! - cumulative[start]!;
    let filled = 0;
    for (let bin = start; bin < end; bin++) if (counts[bin]! > 0) filled++;
    const spread = mass / filled;
    for (let bin = start; bin < end; bin++) {
      const count = counts[bin]!;
      const p = count + (bin === first ? below : 0) + (bin === last - 1 ? above : 0);
      if (p === 0) continue;
      const q = count > 0 ? spread : almostNothing;
      divergence += (p / total) * Math.log((p * inside) / (q * total));
    }
    start = end;
  }
  return divergence;
}

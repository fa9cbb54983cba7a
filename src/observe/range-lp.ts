/**
 * The clip [low, high] with the smallest expected p-th power of the error of rounding to n levels:
 *
 *   error(low, high) = inside * (step / 2)^p / (p + 1) + sum over clipped x of (distance to the clip)^p
 *   step = (high - low) / (n - 1)
 *
 * With p = 2 that is the mean squared error; with a larger p the few values that a clip
 * moves far weigh more against the many that rounding moves a little. Zeros are exact in
 * any such range and count nowhere. Clips lie on bin edges; x is spread evenly over its
 * bin. With running sums of the powers of x from each end the error of one clip takes
 * constant time, so the search is a coarse grid over both ends, refined around the best
 * point until the stride is one bin.
 */
import type { BinRange } from "./ranges.js";
import { binsPerSide, type TapStatistics } from "./statistics.js";

export type Power = 2 | 3 | 4;

const gridPoints = 32;

/** `all` are the filled bins. Lengths are in bins throughout: the best clip does not depend on the unit. */
export function leastPowerBins(tap: TapStatistics, all: BinRange, levels: number, power: Power): BinRange {
  const negative = sideOf(tap, all, -1, power);
  const positive = sideOf(tap, all, 1, power);
  const total = negative.total + positive.total;
  const errorOf = (low: number, high: number): number => {
    const step = (low + high) / (levels - 1);
    const inside = total - negative.clipped(low) - positive.clipped(high);
    return (inside * (step / 2) ** power) / (power + 1) + negative.cost(low) + positive.cost(high);
  };

  let best = { low: negative.extent, high: positive.extent };
  let bestError = errorOf(best.low, best.high);
  let stride = Math.max(1, Math.ceil(Math.max(negative.extent, positive.extent) / gridPoints));
  let reach = gridPoints;
  for (;;) {
    const center = best;
    for (const low of around(center.low, stride, reach, negative.extent)) {
      for (const high of around(center.high, stride, reach, positive.extent)) {
        const error = errorOf(low, high);
        if (low + high > 0 && error < bestError) {
          bestError = error;
          best = { low, high };
        }
      }
    }
    if (stride === 1) break;
    stride = Math.ceil(stride / 2);
    reach = 2;
  }
  return { first: binsPerSide - best.low, last: binsPerSide + best.high };
}

/** Points at most `reach` strides from the center, within 0 (or 1, when there is anything to cover) and the extent. */
function around(center: number, stride: number, reach: number, extent: number): number[] {
  const points: number[] = [];
  const least = Math.min(1, extent);
  for (let k = -reach; k <= reach; k++) {
    const point = center + k * stride;
    if (point >= least && point <= extent) points.push(point);
  }
  return points;
}

interface Side {
  /** Filled bins from zero outward. */
  readonly extent: number;
  /** Nonzero elements. */
  readonly total: number;
  /** Elements beyond `edge`, and the powers of their distances from it summed; bins as unit. */
  clipped(edge: number): number;
  cost(edge: number): number;
}

/** (m + u)^k averaged over u in [-1/2, 1/2], for the running sums of a bin's elements. */
const moments = (m: number): readonly number[] => [
  1,
  m,
  m * m + 1 / 12,
  m * m * m + m / 4,
  m ** 4 + (m * m) / 2 + 1 / 80,
];

/** Of the binomial expansion of (x - edge)^p. */
const coefficients: Readonly<Record<Power, readonly number[]>> = { 2: [1, -2, 1], 3: [-1, 3, -3, 1], 4: [1, -4, 6, -4, 1] };

function sideOf(tap: TapStatistics, all: BinRange, direction: 1 | -1, power: Power): Side {
  const extent = direction > 0 ? all.last - binsPerSide : binsPerSide - all.first;
  const sums = Array.from({ length: power + 1 }, () => new Float64Array(extent + 1));
  for (let bin = extent - 1; bin >= 0; bin--) {
    let count = tap.counts[direction > 0 ? binsPerSide + bin : binsPerSide - 1 - bin]!;
    if (direction > 0 && bin === 0) count -= tap.zeroCount;
    const of = moments(bin + 0.5);
    sums.forEach((sum, k) => {
      sum[bin] = sum[bin + 1]! + count * of[k]!;
    });
  }
  const [counts] = sums;
  return {
    extent,
    total: counts![0]!,
    clipped: (edge) => counts![edge]!,
    cost: (edge) => {
      let cost = 0;
      for (let k = 0; k <= power; k++) cost += coefficients[power][k]! * edge ** (power - k) * sums[k]![edge]!;
      return Math.max(0, cost);
    },
  };
}

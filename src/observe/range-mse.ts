/**
 * The clip [low, high] with the smallest expected squared error of rounding to n levels:
 *
 *   error(low, high) = inside * step^2 / 12 + sum over clipped x of (distance to the clip)^2
 *   step = (high - low) / (n - 1)
 *
 * Zeros are exact in any such range and count nowhere. Clips lie on bin edges; x is
 * spread evenly over its bin. With running sums of count, x and x^2 from each end the
 * error of one clip takes constant time, so the search is a coarse grid over both ends,
 * refined around the best point until the stride is one bin.
 */
import type { BinRange } from "./ranges.js";
import { binsPerSide, type TapStatistics } from "./statistics.js";

const gridPoints = 32;

/** `all` are the filled bins. Lengths are in bins throughout: the best clip does not depend on the unit. */
export function mseBins(tap: TapStatistics, all: BinRange, levels: number): BinRange {
  const negative = sideOf(tap, all, -1);
  const positive = sideOf(tap, all, 1);
  const total = negative.total + positive.total;
  const errorOf = (low: number, high: number): number => {
    const step = (low + high) / (levels - 1);
    const inside = total - negative.clipped(low) - positive.clipped(high);
    return (inside * step * step) / 12 + negative.cost(low) + positive.cost(high);
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
  /** Elements beyond `edge`, and their squared distances from it summed; bins as unit. */
  clipped(edge: number): number;
  cost(edge: number): number;
}

function sideOf(tap: TapStatistics, all: BinRange, direction: 1 | -1): Side {
  const extent = direction > 0 ? all.last - binsPerSide : binsPerSide - all.first;
  const beyond = new Float64Array(extent + 1);
  const sum = new Float64Array(extent + 1);
  const squares = new Float64Array(extent + 1);
  for (let bin = extent - 1; bin >= 0; bin--) {
    let count = tap.counts[direction > 0 ? binsPerSide + bin : binsPerSide - 1 - bin]!;
    if (direction > 0 && bin === 0) count -= tap.zeroCount;
    const middle = bin + 0.5;
    beyond[bin] = beyond[bin + 1]! + count;
    sum[bin] = sum[bin + 1]! + count * middle;
    squares[bin] = squares[bin + 1]! + count * (middle * middle + 1 / 12);
  }
  return {
    extent,
    total: beyond[0]!,
    clipped: (edge) => beyond[edge]!,
    cost: (edge) => Math.max(0, squares[edge]! - 2 * edge * sum[edge]! + edge * edge * beyond[edge]!),
  };
}

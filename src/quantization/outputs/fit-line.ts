/**
 * The straight line that brings what integers answer closest to what the float model does:
 *
 *   z' = a (z - E[z]) + E[z] + k (E[y] - E[z])
 *
 *   a = sum_c cov(y, z) / sum_c var(z)     one number for all channels: less than 1 where
 *                                          noise makes up much of what differs between samples
 *   k in [0, 1]                            trusts a shift as far as it exceeds what so few
 *                                          samples show by chance (James-Stein)
 */
import type { PairedRows } from "./fit-directions.js";
import type { LeftOutErrors } from "./left-out.js";

/** Means by channel over all samples: y is the float value, z the quantized. */
export interface LineMoments {
  readonly samples: number;
  readonly y: Float64Array;
  readonly z: Float64Array;
  readonly yy: Float64Array;
  readonly zz: Float64Array;
  readonly yz: Float64Array;
}

export interface Line {
  readonly factor: number;
  readonly trust: number;
  /** Expected change of the error on other samples, by what chance adds to the moments, dB; positive is better. */
  readonly gainDb: number;
}

/** A factor further from 1 would say that something else is wrong. */
const FACTORS = [0.5, 1.25] as const;

export function fitLine({ samples, y, z, yy, zz, yz }: LineMoments): Line {
  let [cov, varY, varZ, shifts, chance] = [0, 0, 0, 0, 0];
  for (let c = 0; c < y.length; c++) {
    const delta = y[c]! - z[c]!;
    const [ownY, ownZ, own] = [yy[c]! - y[c]! ** 2, zz[c]! - z[c]! ** 2, yz[c]! - y[c]! * z[c]!];
    varY += ownY;
    varZ += ownZ;
    cov += own;
    shifts += delta * delta;
    chance += Math.max(0, ownY + ownZ - 2 * own) / samples;
  }
  const wanted = varZ > 0 ? cov / varZ : 1;
  const factor = Number.isFinite(wanted) ? Math.min(FACTORS[1], Math.max(FACTORS[0], wanted)) : 1;
  const trust = shifts > 0 ? Math.max(0, 1 - chance / shifts) : 0;
  // Of the squared shifts, what chance alone would show is no error of other samples, and cannot be mended.
  const before = varY + varZ - 2 * cov + Math.max(0, shifts - chance);
  const after = varY + factor * factor * varZ - 2 * factor * cov + trust * Math.min(chance, shifts);
  const gainDb = before > 0 && after > 0 ? 10 * Math.log10(before / after) : 0;
  return { factor, trust, gainDb };
}

/** Of lines: none where there is one sample. */
export function linesLeftOut({ samples, y, z }: PairedRows): LeftOutErrors {
  const channels = y.length / samples;
  const count = samples < 2 ? 0 : samples;
  const left = { before: new Float64Array(count), after: new Float64Array(count) };
  const sums = (of: (at: number) => number): Float64Array => {
    const total = new Float64Array(channels);
    for (let at = 0; at < y.length; at++) total[at % channels]! += of(at);
    return total;
  };
  const all = {
    y: sums((at) => y[at]!),
    z: sums((at) => z[at]!),
    yy: sums((at) => y[at]! ** 2),
    zz: sums((at) => z[at]! ** 2),
    yz: sums((at) => y[at]! * z[at]!),
  };
  for (let s = 0; s < count; s++) {
    const [ownY, ownZ] = [y, z].map((rows) => rows.subarray(s * channels, (s + 1) * channels)) as [
      Float64Array,
      Float64Array,
    ];
    const without = (total: Float64Array, a: Float64Array, b: Float64Array | null): Float64Array =>
      total.map((sum, c) => (sum - a[c]! * (b?.[c] ?? 1)) / (samples - 1));
    const others: LineMoments = {
      samples: samples - 1,
      y: without(all.y, ownY, null),
      z: without(all.z, ownZ, null),
      yy: without(all.yy, ownY, ownY),
      zz: without(all.zz, ownZ, ownZ),
      yz: without(all.yz, ownY, ownZ),
    };
    const { factor, trust } = fitLine(others);
    for (let c = 0; c < channels; c++) {
      const [meanY, meanZ] = [others.y[c]!, others.z[c]!];
      const line = factor * (ownZ[c]! - meanZ) + meanZ + trust * (meanY - meanZ);
      left.before[s]! += (ownY[c]! - ownZ[c]!) ** 2;
      left.after[s]! += (ownY[c]! - line) ** 2;
    }
  }
  return left;
}

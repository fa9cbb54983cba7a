/**
 * How differences of an output would differ with other samples: 95 % intervals of what was measured, by drawing whole samples
 * again (both models saw the same ones). Agreement is exact (Clopper and Pearson) where a sample agrees or does not, which also
 * holds where all of them agree and there is nothing to draw.
 */
import { exactShareInterval } from "../../../base/binomial.js";
import { seededRandom } from "../../../base/random.js";
import { ascending, quantile } from "../../../base/statistics.js";
import type { DifferenceIntervals } from "../../port.js";

/** What one sample adds to the sums. */
export interface SampleDifference {
  readonly elements: number;
  readonly squaredDifference: number;
  readonly squaredBaseline: number;
  readonly cosine: number;
  readonly rows: number;
  readonly agreeingRows: number;
}

/** Draws, and how many samples they go over in all. */
const [LEAST_DRAWS, MOST_DRAWS, MOST_LOOKS] = [200, 1000, 5_000_000];

/**
 * @param unit what differences were divided by before they were squared
 * @returns null for a single sample, which tells nothing of others
 */
export function intervalsOf(samples: readonly SampleDifference[], unit = 1): DifferenceIntervals | null {
  const n = samples.length;
  if (n < 2) return null;
  const draws = Math.max(LEAST_DRAWS, Math.min(MOST_DRAWS, Math.round(MOST_LOOKS / n)));
  const random = seededRandom(0);
  const drawn = { rmse: [] as number[], sqnrDb: [] as number[], cosine: [] as number[], agreement: [] as number[] };
  for (let draw = 0; draw < draws; draw++) {
    let [elements, difference, baseline, cosine, rows, agreeing] = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < n; i++) {
      const sample = samples[random.below(n)]!;
      elements += sample.elements;
      difference += sample.squaredDifference;
      baseline += sample.squaredBaseline;
      cosine += sample.cosine;
      rows += sample.rows;
      agreeing += sample.agreeingRows;
    }
    drawn.rmse.push(elements === 0 ? 0 : Math.sqrt(difference / elements) * unit);
    drawn.sqnrDb.push(difference === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(baseline / difference));
    drawn.cosine.push(cosine / n);
    drawn.agreement.push(rows === 0 ? 1 : agreeing / rows);
  }
  return {
    rmse: middle(drawn.rmse),
    sqnrDb: middle(drawn.sqnrDb),
    cosine: middle(drawn.cosine),
    argmaxAgreement: agreement(samples, drawn.agreement),
  };
}

function agreement(samples: readonly SampleDifference[], drawn: readonly number[]): readonly [number, number] | null {
  const told = samples.filter(({ rows }) => rows > 0);
  if (told.length === 0) return null;
  const isWhole = told.every(({ rows, agreeingRows }) => agreeingRows === 0 || agreeingRows === rows);
  if (!isWhole) return middle(drawn);
  const { low, high } = exactShareInterval(told.filter(({ agreeingRows }) => agreeingRows > 0).length, told.length);
  return [low, high];
}

function middle(values: readonly number[]): readonly [number, number] {
  const sorted = ascending(values);
  return [quantile(sorted, 0.025), quantile(sorted, 0.975)];
}

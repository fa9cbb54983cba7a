/** Calibration that saw what no range can be made of: NaN and infinities. */
import { finiteCount, type TapStatistics } from "../../observe/index.js";
import type { OptimizeConfig } from "../config.js";

/**
 * In words, which name the data and the first of the tensors; null where all of them held numbers.
 *
 * @param taps by value label, in the order in which they are computed
 * @param source the data, or the file of ranges that were made of it
 */
export function unusableStatistics(taps: ReadonlyMap<string, TapStatistics>, source: string): string | null {
  const spoiled = [...taps].filter(([, tap]) => finiteCount(tap) < tap.count);
  const [first] = spoiled;
  if (!first) return null;
  const [label, tap] = first;
  const which = spoiled.length === taps.size ? "all" : `${spoiled.length} of ${taps.size}`;
  return (
    `with ${source}, ${which} tensors held NaN or infinity, of which no range can be made, the first of them ${label} ` +
    `(${tap.count - finiteCount(tap)} of ${tap.count} values); the inputs are numbers, so see that they are scaled as in training, and that the model itself is sound`
  );
}

/** The same of a run, by where its statistics came from; null too where it has none. */
export function unusableOf(
  taps: ReadonlyMap<string, TapStatistics> | null,
  { quantize, data }: Pick<OptimizeConfig, "quantize" | "data">,
): string | null {
  const source = quantize.ranges ?? data.calibration;
  return taps && source !== null ? unusableStatistics(taps, source) : null;
}

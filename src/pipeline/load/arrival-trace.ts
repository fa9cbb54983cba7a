/** `bench --trace FILE`: when requests came, as somebody recorded it. */
import { readFileSync } from "node:fs";
import { InferOptError, messageOf } from "../../base/errors.js";

/** A longer recording is none in seconds, or more than one sitting. */
const MOST_HOURS = 24;

/**
 * One moment a line, in seconds, ascending; blank lines and those that begin with # are skipped. Milliseconds from the
 * first, up to `untilMs`; all of them when null. Throws TRACE_INVALID, which names the line.
 */
export function readArrivalTrace(path: string, untilMs: number | null): Float64Array {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw invalid(path, `cannot be read: ${messageOf(cause)}`, "Check the path.");
  }
  const moments: number[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    const word = line.trim();
    if (word === "" || word.startsWith("#")) continue;
    const seconds = /^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(word) ? Number(word) : Number.NaN;
    const what = `line ${i + 1} ("${word.slice(0, 40)}")`;
    if (!Number.isFinite(seconds)) throw invalid(path, `${what} is no number of seconds`, "Write one moment a line.");
    if (seconds < (moments.at(-1) ?? 0)) throw invalid(path, `${what} is before the one above it`, "Sort the moments.");
    moments.push(seconds);
  }
  if (moments.length < 2) throw invalid(path, `holds ${moments.length} arrivals`, "Two are the least.");
  if (moments.at(-1) === moments[0]) {
    throw invalid(path, "has all arrivals at one moment, which makes no rate", "Record a stretch of time.");
  }
  const all = Float64Array.from(moments, (seconds) => 1000 * (seconds - moments[0]!));
  const kept = untilMs === null ? all : all.filter((ms) => ms <= untilMs);
  const hours = kept.at(-1)! / 3_600_000;
  if (hours > MOST_HOURS) {
    const hint = "Moments are in seconds; --budget 1m replays the first minute only.";
    throw invalid(path, `lasts ${Number(hours.toPrecision(3))} hours, and that is how long replaying it takes`, hint);
  }
  if (kept.length < 2 || !(kept.at(-1)! > 0)) {
    throw invalid(path, `holds ${kept.length} arrivals within --budget`, "Give it more time.");
  }
  return kept;
}

const invalid = (path: string, why: string, hint: string): InferOptError =>
  new InferOptError("TRACE_INVALID", "input", `${path} ${why}`, { hint, fields: { path } });

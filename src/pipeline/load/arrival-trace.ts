/** `bench --trace FILE`: when requests came, as somebody recorded it. */
import { readFileSync } from "node:fs";
import { InferOptError, messageOf } from "../../base/errors.js";

/**
 * One moment a line, in seconds, ascending; blank lines and those that begin with # are skipped. Milliseconds from the
 * first. Throws TRACE_INVALID, which names the line.
 */
export function readArrivalTrace(path: string): Float64Array {
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
  return Float64Array.from(moments, (seconds) => 1000 * (seconds - moments[0]!));
}

const invalid = (path: string, why: string, hint: string): InferOptError =>
  new InferOptError("TRACE_INVALID", "input", `${path} ${why}`, { hint, fields: { path } });

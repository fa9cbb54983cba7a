/**
 * `gate --history FILE.jsonl`: one line a run, and whether the newest is out of line with those before. Only what holds on any
 * machine is compared: the ratio to a baseline that ran beside it, accuracy, and size.
 */
import { existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import * as v from "valibot";
import { withoutMark } from "../../base/byte-order-mark.js";
import { InferOptError, messageOf } from "../../base/errors.js";
import { median } from "../../base/statistics.js";
import { writeSynced } from "../../base/write-synced.js";
import type { AccuracyFacts, LatencyFacts, ModelFacts, Outcome } from "../result.js";

const maybe = v.nullable(v.number());
const entrySchema = v.looseObject({
  schemaVersion: v.literal(1),
  at: v.string(),
  /** Runs of one series are compared: the same metric, provider and threads. */
  series: v.string(),
  baseline: v.string(),
  candidate: v.string(),
  outcome: v.string(),
  speedup: maybe,
  accuracy: maybe,
  bytes: v.number(),
});
export type HistoryEntry = v.InferOutput<typeof entrySchema>;

export interface HistoryFacts {
  readonly path: string;
  /** Runs of this series, this one included. */
  readonly runs: number;
  readonly changes: readonly HistoryChange[];
}

export interface HistoryChange {
  readonly what: Measured;
  /** Of the runs before. */
  readonly median: number;
  readonly now: number;
  readonly text: string;
}

type Measured = "speedup" | "accuracy" | "bytes";

export interface GateRun {
  readonly baseline: ModelFacts;
  readonly candidate: ModelFacts;
  readonly outcome: Outcome;
  readonly latency: LatencyFacts | null;
  readonly accuracy: AccuracyFacts | null;
}

/** `at`: when, as ISO 8601. */
export function entryOf({ baseline, candidate, outcome, latency, accuracy }: GateRun, at: string): HistoryEntry {
  const where = latency ? `${latency.provider}, ${latency.threads} threads, batch ${latency.batch}` : "untimed";
  return {
    ...{ schemaVersion: 1, at, series: `${accuracy?.metric ?? "no metric"}; ${where}` },
    ...{ baseline: baseline.sha256, candidate: candidate.sha256, outcome },
    ...{ speedup: latency?.speedup ?? null, accuracy: accuracy?.candidate ?? null, bytes: candidate.bytes },
  };
}

/** Entries so far; none where there is no file. A last line that was cut short counts as not written. Throws HISTORY_INVALID. */
export function readHistory(path: string): HistoryEntry[] {
  if (!existsSync(path)) return [];
  const lines = textOf(path).split("\n");
  return lines.flatMap((line, i) => {
    if (line.trim() === "") return [];
    try {
      return [parseEntry(line)];
    } catch (cause) {
      if (i === lines.length - 1 && isCutEntry(line)) return [];
      throw invalid(path, `has a line ${i + 1} that is no entry: ${messageOf(cause)}`);
    }
  });
}

const parseEntry = (line: string): HistoryEntry => v.parse(entrySchema, JSON.parse(line));

/** How `appendHistory` begins a line. */
const OPENING = '{"schemaVersion"';

/** Whether a line that is no entry may be the beginning of one, and not a line of somebody's own file. */
const isCutEntry = (line: string): boolean => line.startsWith(OPENING) || OPENING.startsWith(line);

function textOf(path: string): string {
  try {
    // A device may have no end, and a pipe no other one.
    if (!statSync(path).isFile()) throw new Error("it is no plain file");
    return withoutMark(readFileSync(path, "utf8"));
  } catch (cause) {
    throw invalid(path, `cannot be read: ${messageOf(cause)}`);
  }
}

/** In the place of a last line that was cut short. Throws OUTPUT_FAILED. */
export function appendHistory(path: string, entry: HistoryEntry): void {
  try {
    const isOpen = existsSync(path) && openEnd(path);
    writeSynced(path, `${isOpen ? "\n" : ""}${JSON.stringify(entry)}\n`, "a");
  } catch (cause) {
    throw new InferOptError("OUTPUT_FAILED", "input", `${path} cannot be written: ${messageOf(cause)}`, {
      hint: "Check that its folder exists, that it can be written, and that the disk has room.",
      cause,
      fields: { path },
    });
  }
}

/** Whether the last line is an entry without a line break; what is none is taken away. */
function openEnd(path: string): boolean {
  const text = readFileSync(path, "utf8");
  const last = text.slice(text.lastIndexOf("\n") + 1);
  if (last === "") return false;
  try {
    parseEntry(last);
    return true;
  } catch (cause) {
    // A run that was ended while it wrote; left there, the line would be in the way of every later run.
    if (!(cause instanceof SyntaxError || cause instanceof v.ValiError)) throw cause;
    truncateSync(path, Buffer.byteLength(text) - Buffer.byteLength(last));
    return false;
  }
}

/** Runs before the newest that it takes to know what is usual, and as many as are looked at. */
const [LEAST_RUNS, MOST_RUNS] = [5, 20];
/** Deviations that make a change, by the median absolute deviation, which a few odd runs do not move. */
const DEVIATIONS = 4;
/** 1 / 0.6745: of a normal distribution. */
const PER_MAD = 1.4826;
/** Smaller changes are not worth a word, however steady the runs before. */
const WORTH: Readonly<Record<Measured, (usual: number) => number>> = {
  speedup: (usual) => 0.03 * usual,
  accuracy: () => 0.002,
  bytes: (usual) => 0.01 * usual,
};
const spelled: Readonly<Record<Measured, readonly [name: string, (value: number) => string]>> = {
  speedup: ["speedup", (value) => `${value.toFixed(2)}x`],
  accuracy: ["accuracy", (value) => value.toFixed(4)],
  bytes: ["size", (value) => (value < 1e6 ? `${value} bytes` : `${(value / 1e6).toPrecision(4)} MB`)],
};

/** What of the newest entry is out of line with those of its series before it. */
export function changesIn(before: readonly HistoryEntry[], newest: HistoryEntry): HistoryChange[] {
  const kin = before.filter(({ series }) => series === newest.series).slice(-MOST_RUNS);
  return (["speedup", "accuracy", "bytes"] as const).flatMap((what) => {
    const now = newest[what];
    const values = kin.map((entry) => entry[what]).filter((value) => value !== null);
    if (now === null || values.length < LEAST_RUNS) return [];
    const usual = median(values);
    const spread = PER_MAD * median(values.map((value) => Math.abs(value - usual)));
    if (Math.abs(now - usual) <= Math.max(DEVIATIONS * spread, WORTH[what](usual))) return [];
    const [name, show] = spelled[what];
    const text = `${name} is ${show(now)}, and was ${show(usual)} in the ${values.length} runs before`;
    return [{ what, median: usual, now, text }];
  });
}

const invalid = (path: string, why: string): InferOptError =>
  new InferOptError("HISTORY_INVALID", "input", `${path} ${why}`, {
    hint: "Mend or remove that line, or name another file with --history.",
    fields: { path },
  });

/**
 * What is worth following from commit to commit, in the form of github-action-benchmark
 * (`tool: customSmallerIsBetter`): all of it is better when it is smaller.
 */
import { basename } from "node:path";
import type { Percentiles, RunResult } from "../pipeline/result.js";
import { subjectOf } from "../pipeline/sides.js";
import { printable } from "./escape.js";
import { renderJson } from "./json.js";
import { bytes, interval, plural, ratio } from "./numbers.js";

interface Benchmark {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly range?: string;
  readonly extra?: string;
}

/** For charts of a trend: other machines give other numbers, and what passes or fails is decided by `gate`. */
export const renderBenchmarkJson = (result: RunResult): string => renderJson(benchmarksOf(result));

function benchmarksOf(result: RunResult): Benchmark[] {
  const { latency, accuracy, bench, environment } = result;
  const { path, bytes: size } = subjectOf(result);
  const subject = nameOf(path);
  const entries: Benchmark[] = [];
  const times = (name: string, percentiles: Percentiles, more: Pick<Benchmark, "range" | "extra">): void => {
    for (const [title, key] of [
      ["p50", "p50Ms"],
      ["p95", "p95Ms"],
      ["p99", "p99Ms"],
    ] as const) {
      const value = percentiles[key];
      if (value !== null) entries.push({ name: `${name} ${title}`, unit: "ms", value, ...more });
    }
  };
  const machine = printable(environment.cpu);
  if (latency) {
    const { provider, threads, batch, runs, speedup, speedupInterval } = latency;
    const extra = `${printable(provider)}, ${plural(threads, "thread")}, batch ${batch}, ${plural(runs, "run")}; ${ratio(speedup)} as fast as before (${interval(speedupInterval, ratio)}); ${machine}`;
    times(subject, latency.candidate, { extra });
  }
  for (const row of bench?.models ?? []) {
    const { low, high } = row.bounds?.p50 ?? { low: null, high: null };
    const range = low === null || high === null ? {} : { range: `${low} .. ${high}` };
    const { provider, threads, batch, runs } = bench!;
    const extra = `${printable(provider)}, ${plural(threads, "thread")}, batch ${batch}, ${plural(runs, "run")}; ${machine}`;
    times(nameOf(row.model.path), row, { ...range, extra });
    entries.push({ name: `${nameOf(row.model.path)} memory`, unit: "bytes", value: row.peakRssBytes });
  }
  if (accuracy) {
    const { metric, higherIsBetter, samples, kind } = accuracy;
    const drop = higherIsBetter === false ? accuracy.delta : -accuracy.delta;
    const extra = `${plural(samples, "sample")}, ${kind}; ${accuracy.baseline} before, ${accuracy.candidate} after`;
    entries.push({ name: `${subject} ${printable(metric)} lost`, unit: printable(metric), value: drop, extra });
  }
  entries.push({ name: `${subject} size`, unit: "bytes", value: size, extra: bytes(size) });
  return entries;
}

const nameOf = (path: string): string => printable(basename(path));

/**
 * What is worth following from commit to commit, in the form of github-action-benchmark
 * (`tool: customSmallerIsBetter`): all of it is better when it is smaller.
 */
import { basename } from "node:path";
import { percentileNames, percentileText } from "../base/percentiles.js";
import type { Percentiles, RunResult } from "../pipeline/result.js";
import { subjectOf } from "../pipeline/sides.js";
import { printable } from "./escape.js";
import { renderJson } from "./json.js";
import { bytes, interval, plural, ratio, significant } from "./numbers.js";

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
  const { latency, accuracy, bench, load, sweep, request, profile } = result;
  const { path, bytes: size } = subjectOf(result);
  const subject = nameOf(path);
  const entries: Benchmark[] = [];
  const times = (name: string, percentiles: Percentiles, extra: string): void => {
    for (const percentile of percentileNames) {
      const value = percentiles[`${percentile}Ms`] ?? null;
      if (value === null) continue;
      const { low, high } = percentiles.bounds?.[percentile] ?? { low: null, high: null };
      const range = low === null || high === null ? {} : { range: `${low} .. ${high}` };
      entries.push({ name: `${name} ${percentileText(percentile)}`, unit: "ms", value, ...range, extra });
    }
  };
  const machine = printable(result.environment.cpu);
  const setting = ({ provider, threads, batch }: Setting): string =>
    `${printable(provider)}, ${plural(threads, "thread")}${batch === undefined ? "" : `, batch ${batch}`}`;
  if (latency && !bench) {
    const { runs, speedup, speedupInterval } = latency;
    const gain = `${ratio(speedup)} as fast as before (${interval(speedupInterval, ratio)})`;
    times(subject, latency.candidate, `${setting(latency)}, ${plural(runs, "run")}; ${gain}; ${machine}`);
  }
  for (const row of bench?.models ?? []) {
    const name = nameOf(row.model.path);
    times(name, row, `${setting(bench!)}, ${plural(bench!.runs, "run")}; ${machine}`);
    entries.push({ name: `${name} memory`, unit: "bytes", value: row.peakRssBytes });
  }
  for (const { model, latency: arrived, requests } of load?.models ?? []) {
    const many = `${significant(load!.rate)} requests a second, ${plural(requests, "request")}`;
    times(`${nameOf(model.path)} from arrival`, arrived, `${setting(load!)}; ${many}; ${machine}`);
  }
  for (const { model, batch, threads, ...row } of sweep?.settings ?? []) {
    const name = `${nameOf(model.path)}, batch ${batch}, ${plural(threads, "thread")}`;
    times(name, row, `${setting({ provider: sweep!.provider, threads, batch })}; ${machine}`);
    entries.push({ name: `${name}, memory`, unit: "bytes", value: row.peakRssBytes });
  }
  if (request) {
    const extra = `${setting(request)}, ${plural(request.requests, "request")}; ${machine}`;
    for (const stage of request.stages) times(`stage ${printable(stage.name)}`, stage, extra);
    times(`${printable(basename(request.pipeline))} in total`, request.total, extra);
  }
  for (const { model, stages, nodesMs } of latency ? [] : (profile?.models ?? [])) {
    const extra = `${setting(profile!)}; ${machine}`;
    times(nameOf(model.path), stages.run, extra);
    entries.push({ name: `${nameOf(model.path)} nodes`, unit: "ms", value: nodesMs, extra });
  }
  if (accuracy && accuracy.kind !== "smoke") {
    const { metric, higherIsBetter, samples, kind } = accuracy;
    const drop = higherIsBetter === false ? accuracy.delta : -accuracy.delta;
    const extra = `${plural(samples, "sample")}, ${kind}; ${accuracy.baseline} before, ${accuracy.candidate} after`;
    entries.push({ name: `${subject} ${printable(metric)} lost`, unit: printable(metric), value: drop, extra });
  }
  entries.push({ name: `${subject} size`, unit: "bytes", value: size, extra: bytes(size) });
  return apart(entries);
}

interface Setting {
  readonly provider: string;
  readonly threads: number;
  readonly batch?: number;
}

/** A chart is found by its name: files of one name in two folders have one each. */
function apart(entries: readonly Benchmark[]): Benchmark[] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const before = seen.get(entry.name) ?? 0;
    seen.set(entry.name, before + 1);
    return before === 0 ? entry : { ...entry, name: `${entry.name} (${before + 1})` };
  });
}

const nameOf = (path: string): string => printable(basename(path));

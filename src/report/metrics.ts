/** The numbers of a result by flat names, as trackers of experiments take them: `mlflow.log_metrics(json.load(file))`. */
import { basename } from "node:path";
import { percentileNames } from "../base/percentiles.js";
import type { Percentiles, RunResult } from "../pipeline/result.js";
import { afterOf, beforeOf } from "../pipeline/sides.js";
import { storedNodes } from "./forms-text.js";
import { renderJson } from "./json.js";

/** One object of numbers. What was not measured is left out; names of models and stages are reduced to what every tracker takes. */
export const renderMetrics = (result: RunResult): string => renderJson(metricsOf(result));

function metricsOf(result: RunResult): Readonly<Record<string, number>> {
  const { accuracy, latency, verdict, resources, quantization, difference, candidates, passes } = result;
  const [before, after] = [beforeOf(result), afterOf(result)];
  const metrics = new Map<string, number>();
  const put = (name: string, value: number | null | undefined): void => {
    if (typeof value !== "number" || !Number.isFinite(value)) return;
    // Two models of one name keep both numbers.
    let free = name;
    for (let i = 2; metrics.has(free); i++) free = `${name}_${i}`;
    metrics.set(free, value);
  };
  const times = (name: string, percentiles: Percentiles): void => {
    for (const percentile of percentileNames) put(`${name}.${percentile}_ms`, percentiles[`${percentile}Ms`]);
  };
  put("verdict.pass", verdict.status === "pass" ? 1 : 0);
  for (const { limit, got, status } of verdict.reasons) {
    put(`limit.${word(limit)}.got`, got);
    put(`limit.${word(limit)}.met`, status === "met" ? 1 : 0);
  }
  put("size.baseline.bytes", before.bytes);
  put("size.baseline.nodes", before.nodes);
  put("size.candidate.bytes", after?.bytes);
  put("size.candidate.nodes", after?.nodes);
  // On inputs that were made up it says nothing.
  if (accuracy && accuracy.kind !== "smoke") {
    put("accuracy.baseline", accuracy.baseline);
    put("accuracy.candidate", accuracy.candidate);
    put("accuracy.delta", accuracy.delta);
    put("accuracy.delta_low", accuracy.deltaInterval[0]);
    put("accuracy.delta_high", accuracy.deltaInterval[1]);
    put("accuracy.samples", accuracy.samples);
  }
  if (latency) {
    times("latency.baseline", latency.baseline);
    times("latency.candidate", latency.candidate);
    put("latency.speedup", latency.speedup);
    put("latency.speedup_low", latency.speedupInterval[0]);
    put("latency.speedup_high", latency.speedupInterval[1]);
    put("latency.runs", latency.runs);
  }
  for (const row of result.bench?.models ?? []) {
    const name = `bench.${word(basename(row.model.path))}`;
    times(name, row);
    put(`${name}.throughput_per_second`, row.throughputPerSecond);
    put(`${name}.peak_rss_bytes`, row.peakRssBytes);
    put(`${name}.speedup`, row.speedup);
  }
  for (const row of result.load?.models ?? []) {
    const name = `load.${word(basename(row.model.path))}`;
    times(name, row.latency);
    put(`${name}.utilization`, row.utilization);
    put(`${name}.max_rate_per_second`, row.maxRate?.perSecond);
  }
  for (const { batch, threads, ...row } of result.sweep?.settings ?? []) {
    const name = `sweep.${word(basename(row.model.path))}.batch_${batch}.threads_${threads}`;
    times(name, row);
    put(`${name}.throughput_per_second`, row.throughputPerSecond);
  }
  for (const stage of result.request?.stages ?? []) {
    times(`request.${word(stage.name)}`, stage);
    put(`request.${word(stage.name)}.share`, stage.share);
  }
  for (const each of result.profile?.models ?? []) {
    const name = `profile.${word(basename(each.model.path))}`;
    put(`${name}.nodes_ms`, each.nodesMs);
    put(`${name}.flops`, each.flops);
    put(`${name}.activation_peak_bytes`, each.memory.activations?.peakBytes);
  }
  for (const { output, sqnrDb, maxAbs, cosine } of difference) {
    put(`difference.${word(output)}.sqnr_db`, sqnrDb);
    put(`difference.${word(output)}.max_abs`, maxAbs);
    put(`difference.${word(output)}.cosine`, cosine);
  }
  put("quantization.integer_nodes", quantization?.nodes);
  put("quantization.float_nodes", quantization?.float.length);
  put("quantization.weight_nodes", quantization ? storedNodes(quantization) : null);
  put("candidates", candidates.length);
  put(
    "passes.applied",
    passes.reduce((sum, { applied }) => sum + applied, 0),
  );
  put("resources.wall_ms", resources.wallMs);
  put("resources.peak_rss_bytes", resources.peakRssBytes);
  return Object.fromEntries(metrics);
}

const LONGEST = 100;

/** Letters, digits, `_`, `-`, `.`: what MLflow, W&B and TensorBoard all take in a name. */
const word = (text: string): string => (text.replace(/[^\w.-]+/g, "_").slice(0, LONGEST) || "_").replace(/^\.+/, "_");

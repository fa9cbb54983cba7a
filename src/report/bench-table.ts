/** Several models, timed in turns: one row each, compared with the first. */
import { basename } from "node:path";
import type { BenchFacts, LayerDifferences } from "../pipeline/result.js";
import { middle, printable } from "./escape.js";
import { bytes, count, interval, milliseconds, plural, ratio, significant } from "./numbers.js";
import { isRoomy, type Sheet } from "./sheet.js";
import { columns, wrap } from "./table.js";

export function benchLines(bench: BenchFacts, sheet: Sheet): string[] {
  const roomy = isRoomy(sheet);
  const rows = bench.models.map((row) => {
    const { model, p50Ms, p95Ms, p99Ms, p999Ms, speedup, speedupInterval, peakRssBytes, throughputPerSecond } = row;
    return [
      middle(printable(basename(model.path)), roomy ? 36 : 24),
      ...[p50Ms, p95Ms, p99Ms, ...(roomy ? [p999Ms] : [])].map(milliseconds),
      ...(roomy ? [significant(throughputPerSecond)] : []),
      speedup === null ? "1" : ratio(speedup),
      speedupInterval === null ? "" : interval(speedupInterval, (value) => value.toFixed(2)),
      bytes(peakRssBytes),
    ];
  });
  const more = roomy ? ["p99.9", "a second"] : [];
  const heads = ["latency ms", "p50", "p95", "p99", ...more, "speed", "interval", "memory"];
  const lines = columns([heads, ...rows], ["left", ...heads.slice(1).map(() => "right" as const)]);
  lines.push(...startLines(bench));
  const { runs, processes, provider, threads, batch, data, noise } = bench;
  lines.push(
    "",
    ...wrap(
      `${plural(runs, "run")} of each model in ${plural(processes, "process").replace("processs", "processes")}; ` +
        `${printable(provider)}, ${plural(threads, "thread")}, batch ${batch}; fed ${printable(data)}`,
      sheet.columns - 2,
    ),
  );
  if (noise) {
    lines.push(
      `noise check: the first model against itself ${ratio(noise.ratio)} (${interval(noise.interval, ratio)})`,
    );
  }
  return lines;
}

/** Results of earlier versions do not tell. A warm run is the median of the table above. */
function startLines({ models }: BenchFacts): string[] {
  const rows = models.flatMap(({ model, coldStart, memory }) => {
    if (!coldStart || !memory) return [];
    const { processMs, runtimeMs, sessionMs, firstRunMs, totalMs } = coldStart;
    return [
      [
        middle(printable(basename(model.path)), 14),
        ...[processMs, runtimeMs, sessionMs, firstRunMs, totalMs].map(milliseconds),
        ...[memory.runtimeBytes, memory.sessionBytes].map(bytes),
      ],
    ];
  });
  if (rows.length === 0) return [];
  const heads = ["cold start ms", "process", "runtime", "session", "run", "in all", "no model", "loaded"];
  return ["", ...columns([heads, ...rows], ["left", ...heads.slice(1).map(() => "right" as const)])];
}

export function layerLines(
  { thresholdDb, samples, compared, uncompared, first, worst }: LayerDifferences,
  sheet: Sheet,
): string[] {
  const name = sheet.columns - 56;
  const rows = worst.map(({ value, op, sqnrDb, maxAbs, relativeL2 }) => [
    middle(printable(value), name),
    middle(printable(op), 18),
    sqnrDb === null ? "equal" : significant(sqnrDb),
    significant(maxAbs),
    significant(relativeL2),
  ]);
  const where = first
    ? `first below ${thresholdDb} dB: ${printable(first.node)} (${printable(first.op)})`
    : `none below ${thresholdDb} dB`;
  return [
    `layers  ${count(compared)} compared on ${plural(samples, "sample")}, ${count(uncompared)} without a namesake`,
    ...wrap(where, sheet.columns - 2),
    ...columns(
      [
        ["  worst", "operator", "SQNR dB", "max |diff|", "rel. L2"],
        ...rows.map(([name, ...cells]) => [`  ${name}`, ...cells]),
      ],
      ["left", "left", "right", "right", "right"],
    ),
  ];
}

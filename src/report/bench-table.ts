/** Several models, timed in turns: one row each, compared with the first. */
import { percentileNames, percentileText } from "../base/percentiles.js";
import type { BenchFacts, LayerDifferences } from "../pipeline/result.js";
import { middle, middles, printable } from "./escape.js";
import { modelNames } from "./model-names.js";
import { bytes, count, interval, milliseconds, percentileCells, plural, ratio, significant } from "./numbers.js";
import { isRoomy, type Sheet } from "./sheet.js";
import { columns, fitted, roomBeside, wrap } from "./table.js";

export function benchLines(bench: BenchFacts, sheet: Sheet): string[] {
  const lines = [...latencyLines(bench, sheet), "", ...comparedLines(bench, sheet)];
  lines.push(...startLines(bench, sheet));
  const { runs, processes, provider, threads, batch, data, noise } = bench;
  lines.push(
    "",
    ...wrap(
      `${plural(runs, "run")} of each model in ${plural(processes, "process")}; ` +
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

/** Percentiles, and under each the ends of its interval. */
function latencyLines({ models }: BenchFacts, sheet: Sheet): string[] {
  const titles = titlesOf(models, titleWidth(sheet));
  const rows = models.flatMap((row, i) => {
    const ends = (end: "low" | "high"): string[] =>
      // Results of earlier versions have fewer percentiles.
      percentileNames.map((name) => milliseconds(row.bounds[name]?.[end] ?? null));
    return [
      [titles[i]!, ...percentileCells(row)],
      ["  95 % from", ...ends("low")],
      ["  to", ...ends("high")],
    ];
  });
  return fitted(
    [["latency ms", ...percentileNames.map(percentileText)], ...rows],
    ["left", ...percentileNames.map(() => "right" as const)],
    sheet,
  );
}

function comparedLines({ models }: BenchFacts, sheet: Sheet): string[] {
  const titles = titlesOf(models, titleWidth(sheet));
  const rows = models.map(({ speedup, speedupInterval, throughputPerSecond, peakRssBytes }, i) => [
    titles[i]!,
    speedup === null ? "1" : ratio(speedup),
    speedupInterval === null ? "" : interval(speedupInterval, (value) => value.toFixed(2)),
    significant(throughputPerSecond),
    bytes(peakRssBytes),
  ]);
  return fitted(
    [["", "speed", "interval", "a second", "memory"], ...rows],
    ["left", "right", "right", "right", "right"],
    sheet,
  );
}

const titleWidth = (sheet: Sheet): number => (isRoomy(sheet) ? 36 : 24);

const titlesOf = (models: BenchFacts["models"], width: number): readonly string[] =>
  middles(modelNames(models.map(({ model }) => model)).map(printable), width);

/** Results of earlier versions do not tell. A warm run is the median of the table above. */
function startLines({ models }: BenchFacts, sheet: Sheet): string[] {
  const titles = titlesOf(models, 14);
  const rows = models.flatMap(({ coldStart, memory }, i) => {
    if (!coldStart || !memory) return [];
    const { processMs, runtimeMs, sessionMs, firstRunMs, totalMs } = coldStart;
    return [
      [
        titles[i]!,
        ...[processMs, runtimeMs, sessionMs, firstRunMs, totalMs].map(milliseconds),
        ...[memory.runtimeBytes, memory.sessionBytes].map(bytes),
      ],
    ];
  });
  if (rows.length === 0) return [];
  const heads = ["cold start ms", "process", "runtime", "session", "run", "in all", "no model", "loaded"];
  return ["", ...fitted([heads, ...rows], ["left", ...heads.slice(1).map(() => "right" as const)], sheet)];
}

export function layerLines(
  { thresholdDb, samples, compared, uncompared, first, worst }: LayerDifferences,
  sheet: Sheet,
): string[] {
  const rows = worst.map(({ op, sqnrDb, maxAbs, relativeL2 }) => [
    middle(printable(op), 18),
    sqnrDb === null ? "equal" : significant(sqnrDb),
    significant(maxAbs),
    significant(relativeL2),
  ]);
  const cells = [["operator", "SQNR dB", "max |diff|", "rel. L2"], ...rows];
  const names = middles(
    worst.map(({ value }) => printable(value)),
    roomBeside(cells, sheet.columns - 3),
  );
  const where = first
    ? `first below ${thresholdDb} dB: ${printable(first.node)} (${printable(first.op)})`
    : `none below ${thresholdDb} dB`;
  return [
    `layers  ${count(compared)} compared on ${plural(samples, "sample")}, ${count(uncompared)} without a namesake`,
    ...wrap(where, sheet.columns - 2),
    ...columns(
      cells.map((row, i) => [i === 0 ? "  worst" : `  ${names[i - 1]!}`, ...row]),
      ["left", "left", "right", "right", "right"],
    ),
  ];
}

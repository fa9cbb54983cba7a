/** Batch sizes and thread counts, one row each. */
import { type PercentileName, percentileNames, percentileText } from "../base/percentiles.js";
import type { SweepFacts } from "../pipeline/sweep/sweep-facts.js";
import { cellsOf } from "./cell-width.js";
import { middles, printable } from "./escape.js";
import { statusWord } from "./limits.js";
import { fileNames } from "./model-names.js";
import { bytes, count, milliseconds, significant } from "./numbers.js";
import type { Sheet } from "./sheet.js";
import { columns, fitted, wrap } from "./table.js";

export function sweepLines(
  { settings, costPerHour, provider, data, best, fastest }: SweepFacts,
  sheet: Sheet,
): string[] {
  const isSeveral = new Set(settings.map(({ model }) => model.path)).size > 1;
  const files = fileNames(settings.map(({ model }) => model));
  const names = middles(
    settings.map(({ model }) => printable(files.get(model.path)!)),
    18,
  );
  const hasLimits = settings.some(({ limits }) => limits.length > 0);
  const rowsWith = (percentiles: readonly PercentileName[]): string[][] => [
    [
      ...["  batch", "threads", ...percentiles.map((name, i) => `${percentileText(name)}${i === 0 ? " ms" : ""}`)],
      ...["a second", "memory", ...(costPerHour === null ? [] : ["cost/million"]), ...(hasLimits ? ["limits"] : [])],
    ],
    ...settings.map((setting, i) => {
      const { batch, threads, throughputPerSecond, peakRssBytes, costPerMillion, limits } = setting;
      const isMissed = limits.some(({ status }) => status === "missed");
      const isUnsure = limits.some(({ status }) => status === "inconclusive");
      return [
        `${i === (best ?? fastest) ? "*" : " "} ${isSeveral ? `${names[i]!}, ` : ""}${count(batch)}`,
        count(threads),
        ...percentiles.map((name) => milliseconds(setting[`${name}Ms`] ?? null)),
        significant(throughputPerSecond),
        bytes(peakRssBytes),
        ...(costPerHour === null ? [] : [significant(costPerMillion)]),
        ...(hasLimits ? [statusWord[isMissed ? "missed" : isUnsure ? "inconclusive" : "met"]] : []),
      ];
    }),
  ];
  const align = ["left", ...Array.from({ length: 10 }, () => "right" as const)] as const;
  const all = rowsWith(percentileNames);
  // With a price and limits beside them there is room for three.
  const fits = columns(all, align).every((line) => cellsOf(line) < sheet.columns);
  const table = fitted(fits ? all : rowsWith(["p50", "p95", "p99"]), align, sheet);
  const how = `${printable(provider)}; fed ${printable(data)}; each setting in up to three processes, in turns`;
  const price =
    costPerHour === null ? "" : `; a machine for ${significant(costPerHour)} an hour that does nothing else`;
  return [...table, "", ...wrap(`${how}${price}`, sheet.columns - 2)];
}

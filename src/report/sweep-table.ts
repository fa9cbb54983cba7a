/** Batch sizes and thread counts, one row each. */
import { basename } from "node:path";
import type { SweepFacts } from "../pipeline/sweep/sweep-facts.js";
import { middle, printable } from "./escape.js";
import { statusWord } from "./limits.js";
import { bytes, count, milliseconds, significant } from "./numbers.js";
import type { Sheet } from "./sheet.js";
import { fitted, wrap } from "./table.js";

export function sweepLines(
  { settings, costPerHour, provider, data, best, fastest }: SweepFacts,
  sheet: Sheet,
): string[] {
  const isSeveral = new Set(settings.map(({ model }) => model.path)).size > 1;
  const rows = settings.map((setting, i) => {
    const { model, batch, threads, p50Ms, p95Ms, p99Ms, throughputPerSecond, peakRssBytes, costPerMillion, limits } =
      setting;
    const isMissed = limits.some(({ status }) => status === "missed");
    const isUnsure = limits.some(({ status }) => status === "inconclusive");
    return [
      `${i === (best ?? fastest) ? "*" : " "} ${isSeveral ? `${middle(printable(basename(model.path)), 18)}, ` : ""}${count(batch)}`,
      count(threads),
      ...[p50Ms, p95Ms, p99Ms].map(milliseconds),
      significant(throughputPerSecond),
      bytes(peakRssBytes),
      ...(costPerMillion === null ? [] : [significant(costPerMillion)]),
      ...(limits.length === 0 ? [] : [statusWord[isMissed ? "missed" : isUnsure ? "inconclusive" : "met"]]),
    ];
  });
  const hasLimits = settings.some(({ limits }) => limits.length > 0);
  const head = ["  batch", "threads", "p50 ms", "p95", "p99", "a second", "memory"];
  const table = fitted(
    [[...head, ...(costPerHour === null ? [] : ["cost/million"]), ...(hasLimits ? ["limits"] : [])], ...rows],
    ["left", ...Array.from({ length: 8 }, () => "right" as const)],
    sheet,
  );
  const how = `${printable(provider)}; fed ${printable(data)}; each setting in up to three processes, in turns`;
  const price =
    costPerHour === null ? "" : `; a machine for ${significant(costPerHour)} an hour that does nothing else`;
  return [...table, "", ...wrap(`${how}${price}`, sheet.columns - 2)];
}

/** Requests that arrived by themselves: how long they took from their arrival, and what they waited for. */
import { percentileNames, percentileText } from "../base/percentiles.js";
import type { LoadFacts, ModelLoadFacts } from "../pipeline/load/load-facts.js";
import { middles, printable } from "./escape.js";
import { modelNames } from "./model-names.js";
import { count, percent, percentileCells, plural, significant } from "./numbers.js";
import type { Sheet } from "./sheet.js";
import { fitted, wrap } from "./table.js";

export function loadLines(load: LoadFacts, sheet: Sheet): string[] {
  const width = sheet.columns - 2;
  const { models, arrivals, rate, processes, durationMs, threads, provider, data } = load;
  const row = (title: string, times: ModelLoadFacts["latency"], more: string): string[] => [
    title,
    ...percentileCells(times),
    more,
  ];
  const titles = middles(modelNames(models.map(({ model }) => model)).map(printable), 24);
  const rows = models.flatMap(({ latency, waiting, service, utilization }, i) => [
    row(titles[i]!, latency, percent(utilization, 2)),
    row("  waiting", waiting, ""),
    row("  being served", service, ""),
  ]);
  const table = fitted(
    [["from arrival, ms", ...percentileNames.map(percentileText), "busy"], ...rows],
    ["left", ...percentileNames.map(() => "right" as const), "right"],
    sheet,
  );
  const words = { poisson: "at random", constant: "evenly", trace: "as recorded" };
  const how =
    `${significant(rate)} requests a second ${words[arrivals]} for ${significant(durationMs / 1000)} s: ` +
    `${models.map(({ requests }) => count(requests)).join(", ")} counted, without those that came while the queue was forming; ` +
    `${plural(processes, "process")}, ${printable(provider)}, ${plural(threads, "thread")}; fed ${printable(data)}`;
  return [
    ...table,
    "",
    ...wrap(how, width),
    ...models.flatMap(({ maxRate }, i) => maxRateLines(titles[i]!, maxRate, width)),
  ];
}

function maxRateLines(title: string, maxRate: ModelLoadFacts["maxRate"], width: number): string[] {
  if (!maxRate) return [];
  const { perSecond, failedPerSecond, tried, isCutShort = false } = maxRate;
  const above = failedPerSecond === null ? "" : `, and not at ${significant(failedPerSecond)}`;
  const count = `${plural(tried.length, "rate")} tried${isCutShort ? ", then the time was over" : ""}`;
  const least = Math.min(...tried.map((trial) => trial.perSecond));
  const none =
    tried.length === 0
      ? "there was no time to try a rate"
      : `no rate tried meets the limits, down to ${significant(least)} a second`;
  const text =
    perSecond === null ? none : `limits are met up to ${significant(perSecond)} requests a second${above} (${count})`;
  return wrap(`${title}: ${text}`, width);
}

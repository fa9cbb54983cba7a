/** Whole requests, a row a stage, and what to do about it. */
import { basename } from "node:path";
import { percentileNames, percentileText } from "../base/percentiles.js";
import type { RequestFacts } from "../pipeline/stages/request-facts.js";
import { middle, printable } from "./escape.js";
import { count, interval, milliseconds, percent, percentileCells, plural, ratio, significant } from "./numbers.js";
import type { Sheet } from "./sheet.js";
import { fitted, wrap } from "./table.js";

/** Where the model takes so much more among the stages than alone, that is worth a line. */
const NOTABLE = 1.1;

export function requestLines(request: RequestFacts, sheet: Sheet): string[] {
  const width = sheet.columns - 2;
  const rows = request.stages.map((stage) => [
    `  ${middle(printable(stage.name), 16)}`,
    percent(stage.share),
    interval(stage.shareInterval, (share) => significant(100 * share, share < 0.1 ? 2 : 3)),
    ...percentileCells(stage),
  ]);
  const table = fitted(
    [
      ["a request, ms", "share", "95 %", ...percentileNames.map(percentileText)],
      ...rows,
      ["  in total", "", "", ...percentileCells(request.total)],
    ],
    ["left", "right", "right", ...percentileNames.map(() => "right" as const)],
    sheet,
  );
  const notes = requestNotes(request).flatMap((note) => wrap(note, width));
  return [...table, "", ...notes, "", ...wrap(conditionsOf(request), width)];
}

/** What follows from the times, in sentences. */
export function requestNotes(request: RequestFacts): string[] {
  const { stages, first, alone, overlap, notOverlapped, total } = request;
  const largest = stages.find(({ name }) => name === first.stages[0])!;
  const rivals = first.stages.slice(1).map(printable);
  const which = `work on ${printable(largest.name)} first: ${percent(largest.share)} of the time`;
  const doubt = rivals.length > 0 ? ` (${rivals.join(", ")} may well take as much)` : "";
  const notes = [`${which}${doubt}; if it took half as long, a request would be ${ratio(first.ifHalved)} as fast`];
  const inference = stages.find(({ name }) => name === "inference")!;
  if (inference.p50Ms > NOTABLE * alone.p50Ms && isApart(alone.bounds.p50, inference.bounds.p50)) {
    notes.push(
      `the model takes ${milliseconds(inference.p50Ms)} ms among the other stages, and ${milliseconds(alone.p50Ms)} ms back to back`,
    );
  }
  if (overlap) {
    const { speedup, speedupInterval, serialPerSecond, overlappedPerSecond, latency } = overlap;
    const [low, high] = speedupInterval;
    const worth =
      low > 1 ? "brings more" : high < 1 ? "costs more than it brings" : "makes no difference that could be told";
    notes.push(
      `preparing the next request while the model runs ${worth}: ${significant(overlappedPerSecond)} requests a second ` +
        `instead of ${significant(serialPerSecond)}, ${ratio(speedup)} (${interval(speedupInterval, ratio)}), each taking ` +
        `${milliseconds(latency.p50Ms)} ms (p50) instead of ${milliseconds(total.p50Ms)}; measured, in a thread beside the model`,
    );
  } else if (notOverlapped !== null) notes.push(`overlapping was not measured: ${printable(notOverlapped)}`);
  return notes;
}

type Bounds = RequestFacts["total"]["bounds"]["p50"];

const isApart = ({ high }: Bounds, { low }: Bounds): boolean => high !== null && low !== null && high < low;

function conditionsOf({ pipeline, requests, distinct, processes, data }: RequestFacts): string {
  const from = data === pipeline ? "of its own" : `made of ${printable(data)}`;
  return (
    `${plural(requests, "request")} one after the other in ${count(processes)} processes, ${plural(distinct, "different one")} ` +
    `${from}; ${printable(basename(pipeline))}`
  );
}

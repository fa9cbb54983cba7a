/** What was measured, as tables of Markdown: "" for what a result has none of. */
import type { Percentiles, RunResult } from "../pipeline/result.js";
import { afterOf, beforeOf } from "../pipeline/sides.js";
import { type LimitRow, limitRows, statusWord } from "./limits.js";
import { bullets, codeCell, type Side, saidCell, table } from "./markdown-table.js";
import { fileNames, modelNames } from "./model-names.js";
import {
  bytes,
  change,
  cosineText,
  count,
  interval,
  milliseconds,
  percent,
  percentileCells,
  percentileHeads,
  percentileRows,
  percentOf,
  plural,
  ratio,
  score,
  significant,
} from "./numbers.js";
import { placementNotes, timeShare } from "./placement.js";
import { requestNotes } from "./request-table.js";

export function limitsTable(result: RunResult): string {
  const rows = limitRows(result);
  const word = ({ status }: LimitRow): string => (status === "met" ? status : `**${status}**`);
  // Earlier versions tell limits in words only.
  if (rows.every(({ figures }) => figures === null)) {
    return table(
      ["limit", "", "result"],
      ["l", "l", "l"],
      rows.map((row) => [saidCell(row.limit), word(row), saidCell(row.text)]),
    );
  }
  return table(
    ["limit", "wanted", "got", "interval", ""],
    ["l", "r", "r", "r", "l"],
    rows.map((row) => {
      const { wanted = "", got = saidCell(row.text), interval: sure = "" } = row.figures ?? {};
      return [saidCell(row.limit), wanted, row.status === "met" ? got : `**${got}**`, sure, word(row)];
    }),
  );
}

/** Each limit's own sentence, with samples and units; "" where the verdict or the table tells it all. */
export function limitsInWords(result: RunResult): string {
  const rows = limitRows(result).filter(
    ({ text, figures }) => text !== "" && figures !== null && !result.verdict.summary.includes(text),
  );
  return bullets(rows.map(({ limit, status, text }) => `${limit}, ${statusWord[status]}: ${text}`));
}

export function numbersTable(result: RunResult): string {
  const { accuracy, latency } = result;
  const [before, after] = [beforeOf(result), afterOf(result)];
  const rows: string[][] = [];
  if (accuracy) {
    const { metric, kind, samples, baseline, candidate, delta, deltaInterval } = accuracy;
    const note = `${change(delta)} (${interval(deltaInterval, change)}), n = ${count(samples)}, ${kind}`;
    rows.push([saidCell(metric), score(baseline), score(candidate), note]);
  }
  if (latency) {
    const { baseline, candidate, speedup, speedupInterval, runs } = latency;
    const note = `${ratio(speedup)} (${interval(speedupInterval, ratio)}), ${plural(runs, "run")}`;
    rows.push(...percentileRows(baseline, candidate).map((row, i) => [...row, i === 0 ? note : ""]));
  }
  if (after) {
    rows.push(["size", bytes(before.bytes), bytes(after.bytes), ratio(before.bytes / Math.max(1, after.bytes))]);
    rows.push(["nodes", count(before.nodes), count(after.nodes), ""]);
  }
  return table(["", "before", "after", ""], ["l", "r", "r", "l"], rows);
}

const timeHeads: readonly string[] = [`${percentileHeads[0]} ms`, ...percentileHeads.slice(1)];
const timeSides: readonly Side[] = percentileHeads.map(() => "r");

export function benchTable({ bench }: RunResult): string {
  if (!bench) return "";
  const names = modelNames(bench.models.map(({ model }) => model));
  return table(
    ["model", ...timeHeads, "speed", "interval", "a second", "memory"],
    ["l", ...timeSides, "r", "r", "r", "r"],
    bench.models.map((row, i) => [
      codeCell(names[i]!),
      ...percentileCells(row),
      row.speedup === null ? "1" : ratio(row.speedup),
      row.speedupInterval === null ? "" : interval(row.speedupInterval, ratio),
      significant(row.throughputPerSecond),
      bytes(row.peakRssBytes),
    ]),
  );
}

export function loadTable({ load }: RunResult): string {
  if (!load) return "";
  const names = modelNames(load.models.map(({ model }) => model));
  const row = (title: string, times: Percentiles, more: string): string[] => [title, ...percentileCells(times), more];
  return table(
    ["from arrival to answer", ...timeHeads, "busy"],
    ["l", ...timeSides, "r"],
    load.models.flatMap(({ latency, waiting, service, utilization }, i) => [
      row(codeCell(names[i]!), latency, percent(utilization, 2)),
      row("waiting", waiting, ""),
      row("being served", service, ""),
    ]),
  );
}

export function sweepTable({ sweep }: RunResult): string {
  if (!sweep) return "";
  const { settings, best, fastest, costPerHour } = sweep;
  const names = fileNames(settings.map(({ model }) => model));
  const isPriced = costPerHour !== null;
  return table(
    ["model", "batch", "threads", ...timeHeads, "a second", "memory", ...(isPriced ? ["cost/million"] : [])],
    ["l", "r", "r", ...timeSides, "r", "r", ...(isPriced ? (["r"] as const) : [])],
    settings.map((setting, i) => {
      const cells = [
        codeCell(names.get(setting.model.path)!),
        count(setting.batch),
        count(setting.threads),
        ...percentileCells(setting),
        significant(setting.throughputPerSecond),
        bytes(setting.peakRssBytes),
        ...(isPriced ? [significant(setting.costPerMillion)] : []),
      ];
      return i === (best ?? fastest) ? cells.map((cell) => `**${cell}**`) : cells;
    }),
  );
}

export function requestTable({ request }: RunResult): string {
  if (!request) return "";
  const row = (name: string, share: string, times: Percentiles): string[] => [name, share, ...percentileCells(times)];
  const rows = request.stages.map((stage) =>
    row(saidCell(stage.name), `${percent(stage.share)} (${interval(stage.shareInterval, percent)})`, stage),
  );
  const all = [...rows, row("in total", "", request.total)];
  return `${table(["stage", "share", ...timeHeads], ["l", "r", ...timeSides], all)}\n${bullets(requestNotes(request))}`;
}

const MOST_OPERATORS = 15;

export function profileTables({ profile }: RunResult): string {
  const names = modelNames((profile?.models ?? []).map(({ model }) => model));
  return (profile?.models ?? [])
    .map(({ operators, nodesMs }, at) => {
      const rows = operators.slice(0, MOST_OPERATORS).map(({ op, provider, nodes, ms }) => {
        const part = percentOf(ms, nodesMs);
        return [codeCell(op), saidCell(provider), count(nodes), milliseconds(ms), part];
      });
      const heading = ["operator", "provider", "nodes", "ms", "time"];
      return `${codeCell(names[at]!)}\n\n${table(heading, ["l", "l", "r", "r", "r"], rows)}`;
    })
    .join("\n");
}

export function placementTable({ placement }: RunResult): string {
  if (!placement) return "";
  const rows = placement.operators.map(({ op, provider, nodes, durationMs }) => [
    codeCell(op),
    saidCell(provider),
    count(nodes),
    timeShare(durationMs, placement),
  ]);
  const notes = bullets(placementNotes(placement).map(({ title, text }) => `${title}: ${text}`));
  return `${table(["operator", "provider", "nodes", "time"], ["l", "l", "r", "r"], rows)}${notes === "" ? "" : "\n"}${notes}`;
}

export const differencesTable = ({ difference }: RunResult): string =>
  table(
    ["output", "max abs", "relative L2", "SQNR dB", "cosine"],
    ["l", "r", "r", "r", "r"],
    difference.map(({ output, maxAbs, relativeL2, sqnrDb, cosine }) => [
      codeCell(output),
      significant(maxAbs),
      significant(relativeL2),
      sqnrDb === null ? "equal" : significant(sqnrDb),
      cosineText(cosine),
    ]),
  );

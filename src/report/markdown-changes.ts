/** What was done to a model, what was left and what else was tried, as tables of Markdown: "" for what a result has none of. */
import type { RunResult } from "../pipeline/result.js";
import { nodesColumns } from "./candidate-nodes.js";
import { speedColumns, speedRemark } from "./candidate-speed.js";
import { candidateWhy } from "./candidate-why.js";
import { markdownText } from "./escape.js";
import { formsText, integersText, nodesText } from "./forms-text.js";
import { keptFloat } from "./kept-float.js";
import { bullets, codeCell, saidCell, table } from "./markdown-table.js";
import { bytes, count, interval, optional, ratio, score, significant } from "./numbers.js";
import { byReason } from "./reasons.js";
import { shapeRows } from "./shapes.js";

export function changesText({ passes, quantization, precision }: RunResult): string {
  const rows = passes
    .filter(({ applied, rejected }) => applied > 0 || rejected !== undefined)
    .map(({ name, applied, rejected }) => [
      codeCell(name),
      count(applied),
      rejected === undefined ? "" : `undone: ${saidCell(rejected)}`,
    ]);
  const parts = rows.length > 0 ? [table(["pass", "applied", ""], ["l", "r", "l"], rows)] : [];
  if (quantization) {
    const { mode, bits, method, why, notes } = quantization;
    const how = method ? `, ${markdownText(method)} ranges` : "";
    const forms = formsText(quantization);
    const what = `${nodesText(quantization)}${forms ? ` (${markdownText(forms)})` : ""}`;
    parts.push(`${mode} INT${bits ?? 8}${how}: ${what}. ${markdownText(why)}\n`);
    parts.push(bullets([...integersText(quantization), ...notes]));
  }
  if (precision) parts.push(`${precision.target}\n`, bullets(precision.notes));
  return parts.filter((part) => part !== "").join("\n");
}

export const fixedSizesTable = (result: RunResult): string =>
  table(
    ["", "name", "before", "after"],
    ["l", "l", "l", "l"],
    shapeRows(result).map(({ port, name, before, after }) => [port, codeCell(name), codeCell(before), codeCell(after)]),
  );

export const keptFloatTable = (result: RunResult): string =>
  table(
    ["nodes", "reason", "for example"],
    ["r", "l", "l"],
    byReason(keptFloat(result)).map(({ reason, nodes }) => [
      count(nodes.length),
      saidCell(reason),
      nodes.slice(0, 3).map(codeCell).join(", "),
    ]),
  );

export const prunedTable = ({ pruning }: RunResult): string =>
  table(
    ["group", "", "before", "after"],
    ["l", "l", "r", "r"],
    (pruning?.groups ?? [])
      .filter(({ width, kept }) => kept < width)
      .map(({ group, kind, width, kept }) => [codeCell(group), saidCell(kind), count(width), count(kept)]),
  );

export function candidatesTable(result: RunResult): string {
  const { candidates } = result;
  const [speeds, nodes] = [speedColumns(candidates), nodesColumns(candidates, true)];
  const isTimed = candidates.some(({ timedInterval }) => timedInterval);
  const heads = [
    ...speeds.map(({ title }) => title),
    ...(isTimed ? ["interval"] : []),
    "accuracy",
    "SQNR dB",
    "size",
    ...nodes.map(({ title }) => title),
  ];
  const remark = speedRemark(candidates);
  const rows = table(
    ["candidate", ...heads, ""],
    ["l", ...heads.map(() => "r" as const), "l"],
    candidates.map((candidate) => [
      candidate.chosen ? `**${saidCell(candidate.name)}**` : saidCell(candidate.name),
      ...speeds.map(({ of }) => optional(of(candidate), ratio)),
      ...(isTimed ? [candidate.timedInterval ? interval(candidate.timedInterval, ratio) : ""] : []),
      optional(candidate.accuracy, score),
      optional(candidate.sqnrDb, significant),
      bytes(candidate.bytes),
      ...nodes.map(({ of }) => optional(of(candidate), count)),
      saidCell(candidateWhy(candidate, result)),
    ]),
  );
  return remark === null || rows === "" ? rows : `${rows}\n${markdownText(remark)}\n`;
}

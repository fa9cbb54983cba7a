/** What was done to a model, what was left and what else was tried, as tables of Markdown: "" for what a result has none of. */
import type { RunResult } from "../pipeline/result.js";
import { candidateWhy } from "./candidate-why.js";
import { markdownText } from "./escape.js";
import { formsText, integersText } from "./forms-text.js";
import { bullets, codeCell, saidCell, table } from "./markdown-table.js";
import { bytes, count, optional, plural, ratio, score, significant } from "./numbers.js";
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
    const { mode, bits, method, nodes, why, notes } = quantization;
    const how = method ? `, ${markdownText(method)} ranges` : "";
    const forms = formsText(quantization);
    const what = `${plural(nodes, "node")} on integers${forms ? ` (${markdownText(forms)})` : ""}`;
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

export const keptFloatTable = ({ quantization, precision }: RunResult): string =>
  table(
    ["nodes", "reason", "for example"],
    ["r", "l", "l"],
    byReason([...(quantization?.float ?? []), ...(precision?.float ?? [])]).map(({ reason, nodes }) => [
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

export const candidatesTable = (result: RunResult): string =>
  table(
    ["candidate", "speed", "accuracy", "SQNR dB", "size", "float nodes", ""],
    ["l", "r", "r", "r", "r", "r", "l"],
    result.candidates.map((candidate) => [
      candidate.chosen ? `**${saidCell(candidate.name)}**` : saidCell(candidate.name),
      optional(candidate.speedup, ratio),
      optional(candidate.accuracy, score),
      optional(candidate.sqnrDb, significant),
      bytes(candidate.bytes),
      count(candidate.floatNodes),
      saidCell(candidateWhy(candidate, result)),
    ]),
  );

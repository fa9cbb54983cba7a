/** What was done to the model, what was left and why, and what else was tried, for a terminal. */
import type { RunResult } from "../pipeline/result.js";
import { nodesColumns } from "./candidate-nodes.js";
import { speedColumns, speedRemark } from "./candidate-speed.js";
import { candidateWhy } from "./candidate-why.js";
import { middle, middles, printable } from "./escape.js";
import { formsText, integersText, nodesText } from "./forms-text.js";
import { keptFloat } from "./kept-float.js";
import { bytes, count, milliseconds, optional, plural, ratio, score, significant } from "./numbers.js";
import { byReason } from "./reasons.js";
import { isRoomy, type Sheet } from "./sheet.js";
import { columns, fitted, indented, wrap } from "./table.js";

const MOST_REASONS = 5;
const MOST_CANDIDATES = 8;
/** Cells of why a candidate was taken or not, however many columns stand before it. */
const LEAST_WHY = 16;

export function changedLines({ passes, quantization, precision }: RunResult, sheet: Sheet): string[] {
  const roomy = isRoomy(sheet);
  const room = sheet.columns - 4;
  const applied = passes.filter((pass) => pass.applied > 0);
  const undone = passes.filter((pass) => pass.rejected !== undefined);
  const rows = applied.map(({ name, applied: times, skipped, durationMs }) => [
    middle(printable(name), roomy ? 60 : 48),
    `${count(times)}x`,
    ...(roomy ? [skipped.length > 0 ? `${count(skipped.length)} left` : "", `${milliseconds(durationMs)} ms`] : []),
  ]);
  const lines = columns(rows, ["left", "right", "right", "right"]);
  for (const { name, applied: kept, rejected } of undone) {
    lines.push(...wrap(`${printable(name)} undone${kept > 0 ? " in part" : ""}: ${printable(rejected!)}`, room));
  }
  // Where nothing became integers, the verdict says why.
  if (quantization && quantization.nodes > 0) {
    const { mode, bits, method, why, calibration } = quantization;
    const forms = printable(formsText(quantization));
    const parts = [
      `${mode} INT${bits ?? 8}${method ? ` (${printable(method)} ranges)` : ""}, ${nodesText(quantization)}`,
      ...(forms ? [forms] : []),
      ...(calibration ? [`${plural(calibration.samples, "calibration sample")}`] : []),
    ];
    lines.push(...wrap(parts.join(", "), room), ...wrap(printable(why), room));
    lines.push(...integersText(quantization).flatMap((line) => wrap(printable(line), room)));
    for (const note of quantization.notes) lines.push(...wrap(`note: ${printable(note)}`, room));
  }
  if (precision) {
    lines.push(precision.target === "f16" ? "float16" : "bfloat16");
    for (const note of precision.notes) lines.push(...wrap(`note: ${printable(note)}`, room));
  }
  return lines.length === 0 ? [] : ["what changed", ...indented(lines)];
}

export function keptFloatLines(result: RunResult, sheet: Sheet): string[] {
  const { quantization } = result;
  const float = keptFloat(result);
  if (float.length === 0) return [];
  const room = sheet.columns - 10;
  const named = isRoomy(sheet) ? 6 : 3;
  const groups = byReason(float);
  const lines = groups.slice(0, MOST_REASONS).flatMap(({ reason, nodes }) => {
    const [first, ...rest] = wrap(printable(reason), room);
    const examples = middles(nodes.slice(0, named).map(printable), 32);
    const more = nodes.length > named ? `, and ${nodes.length - named} more` : "";
    return [
      `${count(nodes.length).padStart(4)}  ${first}`,
      ...[...rest, ...wrap(`${examples.join(", ")}${more}`, room)].map((line) => `      ${line}`),
    ];
  });
  if (groups.length > MOST_REASONS) {
    lines.push(`      and ${plural(groups.length - MOST_REASONS, "more reason")}: in the JSON result`);
  }
  // Of those that one would look for, wherever integers reach beyond them.
  const { nodes = 0, between = 0 } = quantization ?? {};
  const of = quantization ? ` of ${count(nodes - between + quantization.float.length)}` : "";
  return [`kept in float  ${count(float.length)}${of}`, ...lines.map((line) => ` ${line}`)];
}

export function candidateLines(result: RunResult, sheet: Sheet): string[] {
  const { candidates } = result;
  if (candidates.length < 2) return [];
  const roomy = isRoomy(sheet);
  const shown = candidates.slice(0, MOST_CANDIDATES);
  const [speeds, nodes] = [speedColumns(candidates), nodesColumns(candidates, roomy)];
  const room = Math.max(LEAST_WHY, sheet.columns - 74 - 10 * (speeds.length + nodes.length - 1));
  const rows = shown.map((each) => [
    `${each.chosen ? "*" : " "} ${middle(printable(each.name), roomy ? 36 : 28)}`,
    ...speeds.map(({ of }) => optional(of(each), ratio)),
    optional(each.accuracy, score),
    optional(each.sqnrDb, significant),
    bytes(each.bytes),
    ...nodes.map(({ of }) => optional(of(each), count)),
    ...(roomy ? [middle(printable(candidateWhy(each, result)), room)] : []),
  ]);
  const heads = [
    ...speeds.map(({ title }) => title),
    ...["accuracy", "SQNR dB", "size"],
    ...nodes.map(({ title }) => title),
    ...(roomy ? [""] : []),
  ];
  const table = fitted(
    [["candidates", ...heads], ...rows],
    ["left", ...heads.map((head) => (head === "" ? ("left" as const) : ("right" as const)))],
    sheet,
  );
  // Without a column for it, of those that were nearly taken.
  const raced = roomy ? [] : shown.filter(({ chosen, timedInterval }) => timedInterval && !chosen);
  const left = candidates.length - shown.length;
  const remark = speedRemark(candidates);
  return [
    ...table,
    ...raced.flatMap((each) =>
      indented(wrap(printable(`${each.name}: ${candidateWhy(each, result)}`), sheet.columns - 4)),
    ),
    ...(left > 0 ? [`  and ${left} more in the JSON result`] : []),
    ...(remark === null ? [] : indented(wrap(remark, sheet.columns - 4))),
  ];
}

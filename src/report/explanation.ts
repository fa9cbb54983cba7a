/** Why passes fired or declined, what they left, and why nodes stay float: every group of nodes with its reason. */
import type { ExplainedNode, Explanation, PassHint } from "../pipeline/explain/explain.js";
import type { RegionFacts } from "../pipeline/result.js";
import { middle, middles, printable } from "./escape.js";
import { count } from "./numbers.js";
import type { Palette } from "./palette.js";
import { byReason, type ReasonGroup } from "./reasons.js";
import { plainSheet, type Sheet } from "./sheet.js";
import { columns, roomBeside, wrap } from "./table.js";

/** Names of a group that are told where nobody asked for certain nodes. */
const EXAMPLES = 4;
const MOST_ORIGINS = 24;

export function renderExplanation(explanation: Explanation, paint: Palette, sheet: Sheet = plainSheet): string {
  const { path, passes, unfused, runtimeSpecific, lossy, float, regions = [], nodes, notes } = explanation;
  // Each line has a space before it.
  const width = sheet.columns - 1;
  const most = nodes.length > 0 ? Number.POSITIVE_INFINITY : EXAMPLES;
  const applied = passes.filter((pass) => pass.applied > 0).map((pass) => `${pass.name} ${count(pass.applied)}x`);
  const undone = passes.flatMap(({ name, rejected }) => (rejected === undefined ? [] : [`${name}: ${rejected}`]));
  const entries = new Map(unfused.map((entry) => [entry.node, entry]));
  const blocks: string[][] = [
    [paint.strong(printable(path)), ...notes.flatMap((note) => wrap(printable(note), width))],
    ...nodes.map((node) => explained(node, width, paint)),
    section(paint.strong("applied"), applied.length === 0 ? [] : indented(applied.join(", "), 2, width)),
    section(
      paint.strong("undone"),
      undone.flatMap((line) => indented(line, 2, width)),
    ),
    section(
      `${paint.strong("not fused")}  ${count(unfused.length)} ${unfused.length === 1 ? "node" : "nodes"}`,
      byReason(unfused).flatMap((group) => {
        const { pass, help, detail } = entries.get(group.nodes[0]!)!;
        const about = [
          ...(detail === undefined || group.nodes.length > 1 ? [] : [detail]),
          ...(help === undefined ? [] : [help]),
        ];
        return [...groupLines(group, most, width, pass), ...about.flatMap((line) => indented(line, 8, width))];
      }),
    ),
    section(paint.strong("more with --runtime-specific"), hintLines(runtimeSpecific, most, width)),
    section(paint.strong("approximated with --lossy"), hintLines(lossy, most, width)),
    section(
      paint.strong("kept in float"),
      byReason(float.filter((entry) => !isQuantized(entry))).flatMap((group) => groupLines(group, most, width)),
    ),
    section(
      paint.strong("quantized already"),
      byReason(float.filter(isQuantized)).flatMap((group) => groupLines(group, most, width)),
    ),
    section(paint.strong("regions"), regionTable(regions, width)),
  ].filter((lines) => lines.length > 0);
  if (blocks.length === 1) blocks.push(["no pass found anything to do, and the result names no node that stays float"]);
  return `${blocks.map((lines) => lines.map((line) => ` ${line}`.trimEnd()).join("\n")).join("\n\n")}\n`;
}

const REGIONS =
  "nodes: a product and what would be integers with it; float ms and int ms by a profile or the table of kernels; error dB of the region alone as integers, where a search measured it";

/** Where the error and the time of each region are, in one table; why one stays float stands under "kept in float". */
function regionTable(regions: readonly RegionFacts[], width: number): string[] {
  if (regions.length === 0) return [];
  const rows = regions.map(({ nodes, form, sqnrDb, beforeMs, afterMs }) => [
    count(nodes.length),
    form,
    sqnrDb === null ? "-" : sqnrDb.toFixed(1),
    beforeMs.toFixed(3),
    afterMs.toFixed(3),
  ]);
  const cells = [["nodes", "form", "error dB", "float ms", "int ms"], ...rows];
  const names = middles(
    regions.map(({ region }) => printable(region)),
    roomBeside(cells, width - 2),
  );
  const table = columns(
    cells.map((row, i) => [i === 0 ? "region" : names[i - 1]!, ...row]),
    ["left", "right", "left", "right", "right", "right"],
  );
  return [...indented(REGIONS, 2, width), ...table.map((line) => `  ${line}`)];
}

const isQuantized = ({ reason }: { readonly reason: string }): boolean => reason.startsWith("quantized already");

const section = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [title, ...lines]);

const indented = (text: string, by: number, width: number): string[] =>
  wrap(printable(text), width - by).map((line) => `${" ".repeat(by)}${line}`);

/** The reason once, the pass that gave it, and names of nodes. */
function groupLines({ reason, nodes }: ReasonGroup, most: number, width: number, pass: string | null = null): string[] {
  const [first, ...rest] = wrap(printable(pass === null ? reason : `${reason}  [${pass}]`), width - 8);
  const told = middles(nodes.slice(0, most).map(printable), width - 8);
  const more = nodes.length - told.length;
  const names = more > 0 ? `${told.join(", ")} and ${count(more)} more` : told.join(", ");
  return [
    `  ${count(nodes.length).padStart(4)}  ${first}`,
    ...[...rest, ...wrap(names, width - 8)].map((line) => `        ${line}`),
  ];
}

const hintLines = (hints: readonly PassHint[], most: number, width: number): string[] =>
  hints.flatMap(({ pass, nodes }) => groupLines({ reason: pass, nodes }, most, width));

/** What many nodes share stands for very many. */
const some = (names: readonly string[]): string =>
  names.length <= MOST_ORIGINS
    ? names.join(", ")
    : `${names.slice(0, MOST_ORIGINS).join(", ")} and ${count(names.length - MOST_ORIGINS)} more`;

/** One node: what it stands for, who changed it, and what those said who look at its kind. */
function explained(
  { node, op, remains, standsFor, changedBy, asked }: ExplainedNode,
  width: number,
  paint: Palette,
): string[] {
  const said = asked.filter(({ answer }) => answer !== null);
  const silent = asked.filter(({ answer }) => answer === null).map(({ pass }) => pass);
  return [
    `${paint.strong(middle(printable(node), width - 30))}  ${op}${remains ? "" : ", gone"}`,
    ...(standsFor.length === 0 ? [] : indented(`stands for: ${some(standsFor)}`, 2, width)),
    ...(changedBy.length > 0 ? indented(`changed by: ${changedBy.join(", ")}`, 2, width) : []),
    ...(remains || changedBy.length > 0
      ? []
      : indented("nothing reads it any more, or it went with what reads it", 2, width)),
    ...said.flatMap(({ pass, answer }) => indented(`${pass}: ${answer}`, 2, width)),
    ...(remains && changedBy.length === 0 && asked.length === 0
      ? ["  no pass that ran looks at nodes of its kind"]
      : []),
    ...(silent.length === 0 ? [] : indented(`not what they look for: ${silent.join(", ")}`, 2, width)),
  ];
}

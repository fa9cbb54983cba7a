/** Limits for a terminal: what was wanted, what came out, and how sure that is. */
import { basename } from "node:path";
import type { RunResult, VerdictReason } from "../pipeline/result.js";
import { printable } from "./escape.js";
import { type LimitRow, limitRows, statusWord } from "./limits.js";
import type { Palette } from "./palette.js";
import type { Sheet } from "./sheet.js";
import { columns, wrap } from "./table.js";

const WORD = 6;

export function limitLines(result: RunResult, paint: Palette, sheet: Sheet): string[] {
  const rows = limitRows(result);
  if (rows.length === 0) return [];
  const name = Math.max(...rows.map(({ limit }) => limit.length));
  const [heading, ...table] = columns(
    [
      ["limits".padEnd(WORD + name), "wanted", "got", "interval"],
      ...rows.map(({ status, limit, figures }) => [
        statusWord[status].padEnd(WORD) + limit,
        ...(figures ? [figures.wanted, figures.got, figures.interval] : []),
      ]),
    ],
    ["left", "right", "right", "right"],
  );
  const lines = table.flatMap((line, i) => {
    const row = rows[i]!;
    const word = statusWord[row.status];
    const painted = colors(paint)[row.status](word);
    if (row.figures === null) {
      const [first, ...rest] = wrap(printable(row.text), sheet.columns - WORD - name - 4);
      return [
        `${painted}${" ".repeat(WORD - word.length)}${row.limit.padEnd(name)}  ${first}`,
        ...rest.map((text) => " ".repeat(WORD + name + 2) + text),
      ];
    }
    const below = isTold(row, result) && isAlone(row, rows) ? [] : wrap(printable(row.text), sheet.columns - 2 - WORD);
    return [painted + line.slice(word.length), ...below.map((text) => " ".repeat(WORD) + text)];
  });
  const from = result.configPath === undefined ? [] : [`limits read from ${printable(basename(result.configPath))}`];
  return [rows.some(({ figures }) => figures !== null) ? heading! : "limits", ...lines, ...from];
}

/** Limits of several models have one name: their sentences tell them apart. */
const isAlone = (row: LimitRow, rows: readonly LimitRow[]): boolean =>
  rows.every((each) => each === row || each.limit !== row.limit);

/** Whether the figures, or the sentence at the top, say all that the row's own sentence says. */
const isTold = ({ status, text }: LimitRow, { verdict }: RunResult): boolean =>
  status === "met" || text === "" || verdict.summary.includes(text);

const colors = (paint: Palette): Readonly<Record<VerdictReason["status"], (text: string) => string>> => ({
  met: paint.good,
  missed: paint.bad,
  inconclusive: paint.unsure,
});

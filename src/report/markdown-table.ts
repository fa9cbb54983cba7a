/** Parts of a comment on a pull request: a table, a text that is folded away, names that are cut where they are too long. */
import { markdownCode, markdownText, middle } from "./escape.js";
import { count } from "./numbers.js";

/** More rows than this nobody reads there. */
const MOST_ROWS = 30;
/** Of a name or a reason in a cell. */
const LONGEST = 200;

export type Side = "l" | "r";

export const saidCell = (text: string): string => markdownText(middle(text, LONGEST));
export const codeCell = (text: string): string => markdownCode(middle(text, LONGEST));

/** Cells are Markdown; "" where there is no row. */
export function table(heads: readonly string[], align: readonly Side[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const left = rows.length - MOST_ROWS;
  return [
    line(heads),
    line(align.map((side) => (side === "l" ? "---" : "--:"))),
    ...rows.slice(0, MOST_ROWS).map(line),
    left > 0 ? `\nand ${count(left)} more\n` : "",
  ].join("");
}

export const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${markdownText(line)}\n`).join("");

export const folded = (title: string, body: string): string =>
  body === "" ? "" : `<details><summary>${title}</summary>\n\n${body}\n</details>\n`;

/** Lines that several screens are made of. */
import { printable } from "../../report/escape.js";
import { wrap } from "../../report/table.js";
import { padLeft, padRight, widthOf } from "../cells.js";

/** Text of anybody's, in lines that no one's cursor moves on. */
export const paragraph = (text: string, width: number, indent = 0): string[] =>
  wrap(printable(text), Math.max(4, width - indent)).map((line) => `${" ".repeat(indent)}${line}`);

/** A title and what is said of it beside it, or below it where that leaves too little room. */
export function titled(title: string, text: string, width: number, column = 14): string[] {
  if (width - column < 24) return [title, ...paragraph(text, width, 2)];
  const [first, ...rest] = wrap(printable(text), width - column);
  return [`${padRight(title, column)}${first}`, ...rest.map((line) => `${" ".repeat(column)}${line}`)];
}

/** Below this, text is better off on lines of its own. */
const LEAST_TEXT = 26;

/** Figures in columns as wide as their widest, numbers to the right, and text in the last, beside or below them. */
export function grid(rows: readonly (readonly string[])[], width: number): string[] {
  const figures = rows.map((row) => row.slice(0, -1));
  const columns = Math.max(0, ...figures.map((row) => row.length));
  const wide = Array.from({ length: columns }, (_, i) => Math.max(0, ...figures.map((row) => widthOf(row[i] ?? ""))));
  const left = wide.reduce((sum, each) => sum + each + 2, 0);
  return rows.flatMap((row, r) => {
    const line = figures[r]!.map((cell, i) => (i === 0 ? padRight(cell, wide[i]!) : padLeft(cell, wide[i]!))).join(
      "  ",
    );
    const text = row.at(-1)!;
    if (text === "") return [line.trimEnd()];
    if (width - left < LEAST_TEXT) return [line.trimEnd(), ...paragraph(text, width, 4)];
    const [first, ...rest] = paragraph(text, width - left);
    return [`${line}  ${first}`, ...rest.map((more) => `${" ".repeat(left)}${more}`)];
  });
}

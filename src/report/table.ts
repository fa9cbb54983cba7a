/** Columns of text: no borders, numbers to the right; widths are cells of a terminal. */
import { cellsOf, firstCells, padEnd, padStart } from "./cell-width.js";
import { middles } from "./escape.js";
import type { Sheet } from "./sheet.js";

export type Align = "left" | "right";

/** Cells of the words that stand before a wrapped text. */
const TITLE = 14;

/** One line a row. Cells must hold no escape codes: their length is their width. */
export function columns(rows: readonly (readonly string[])[], align: readonly Align[], gap = 2): string[] {
  const widths = align.map((_, i) => Math.max(0, ...rows.map((row) => cellsOf(row[i] ?? ""))));
  return rows.map((row) =>
    align
      .map((side, i) => (side === "left" ? padEnd : padStart)(row[i] ?? "", widths[i]!))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** As `columns`, within the sheet: where the room is not enough, columns move together, then the first one is cut. */
export function fitted(rows: readonly (readonly string[])[], align: readonly Align[], sheet: Sheet): string[] {
  const room = sheet.columns - 1;
  const excess = (lines: readonly string[]): number => Math.max(0, ...lines.map(cellsOf)) - room;
  const wide = columns(rows, align);
  if (excess(wide) <= 0) return wide;
  const close = columns(rows, align, 1);
  const over = excess(close);
  if (over <= 0) return close;
  const most = Math.max(LEAST_NAME, Math.max(...rows.map(([name = ""]) => cellsOf(name))) - over);
  const names = middles(
    rows.map(([name = ""]) => name),
    most,
  );
  return columns(
    rows.map(([_, ...cells], i) => [names[i]!, ...cells]),
    align,
    1,
  );
}

/** Cells that a name has left at least. */
const LEAST_NAME = 12;

/** Cells that these columns leave on a line for names before them. */
export const roomBeside = (rows: readonly (readonly string[])[], width: number, gap = 2): number =>
  width -
  gap -
  Math.max(
    ...columns(
      rows,
      rows[0]!.map(() => "right"),
      gap,
    ).map(cellsOf),
  );

/** Breaks at spaces so that no line is wider than `width`, and within a word where one is. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((each) => pieces(each, width))) {
    if (line !== "" && cellsOf(line) + 1 + cellsOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Where a word is wider than a line, nothing of it may be lost. */
function pieces(word: string, width: number): string[] {
  // A title may leave no room at all: a character takes two cells at most.
  const room = Math.max(2, width);
  const found: string[] = [];
  let rest = word;
  while (cellsOf(rest) > room) {
    const piece = firstCells(rest, room);
    found.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...found, rest];
}

/** A word, and beside it a text in as many lines as it takes. */
export function titled(title: string, text: string, sheet: Sheet): string[] {
  const [first, ...rest] = wrap(text, sheet.columns - TITLE - 4);
  return [`${title.padEnd(TITLE)}  ${first}`, ...rest.map((line) => `${" ".repeat(TITLE)}  ${line}`)];
}

export const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** Lines that may have colours (`ESC [ ... m`) measured, cut and filled to a width; colours take none. */
import { cellsOf, firstCells, lastCells } from "../report/cell-width.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what colours begin with
const colour = /\x1b\[[\d;]*m/g;

/** Columns that the text takes. */
export const widthOf = (text: string): number => cellsOf(text.includes("\x1b") ? text.replace(colour, "") : text);

/** A line no wider than `width`: its end is left out, colours end where they would. */
export function clip(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  if (!line.includes("\x1b")) return firstCells(line, width);
  let left = width;
  let shown = "";
  let from = 0;
  for (const match of [...line.matchAll(colour), null]) {
    const part = firstCells(line.slice(from, match?.index), left);
    left -= cellsOf(part);
    shown += part + (match?.[0] ?? "");
    from = match ? match.index + match[0].length : line.length;
  }
  return shown;
}

/** Below this two dots would take more than they tell. */
const LEAST_CUT = 5;

/** Text without colours shortened from the middle, where names of nodes differ least. */
export function shorten(text: string, width: number): string {
  if (cellsOf(text) <= width) return text;
  if (width < LEAST_CUT) return firstCells(text, Math.max(0, width));
  const first = Math.floor((width - 2) / 2);
  return `${firstCells(text, first)}..${lastCells(text, width - 2 - first)}`;
}

/** The same, shortened at its end. */
export function shortenEnd(text: string, width: number): string {
  if (cellsOf(text) <= width) return text;
  return width < LEAST_CUT ? firstCells(text, Math.max(0, width)) : `${firstCells(text, width - 2)}..`;
}

export const padRight = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));
export const padLeft = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text;

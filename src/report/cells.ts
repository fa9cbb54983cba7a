/**
 * How wide text is on a terminal, and text cut and filled to a width. Chinese, Japanese, Korean and most emoji take two
 * columns a character, marks that combine take none; colours (`ESC [ ... m`) take none either.
 */

/** East Asian wide and fullwidth, and emoji that are shown as such: first and last code point, ascending. */
const wide: readonly (readonly [number, number])[] = [
  ...([
    [0x1100, 0x115f],
    [0x231a, 0x231b],
    [0x2329, 0x232a],
    [0x23e9, 0x23ec],
    [0x2614, 0x2615],
    [0x2648, 0x2653],
  ] as const),
  ...([
    [0x26bd, 0x26be],
    [0x2705, 0x2705],
    [0x2728, 0x2728],
    [0x274c, 0x274c],
    [0x2753, 0x2755],
    [0x2e80, 0x303e],
  ] as const),
  ...([
    [0x3041, 0x4dbf],
    [0x4e00, 0xa4cf],
    [0xa960, 0xa97c],
    [0xac00, 0xd7a3],
    [0xf900, 0xfaff],
    [0xfe10, 0xfe19],
  ] as const),
  ...([
    [0xfe30, 0xfe6b],
    [0xff01, 0xff60],
    [0xffe0, 0xffe6],
    [0x16fe0, 0x18cff],
    [0x1b000, 0x1b2ff],
  ] as const),
  ...([
    [0x1f004, 0x1f004],
    [0x1f200, 0x1f265],
    [0x1f300, 0x1f64f],
    [0x1f680, 0x1f6ff],
    [0x1f7e0, 0x1f7eb],
  ] as const),
  ...([
    [0x1f900, 0x1f9ff],
    [0x1fa70, 0x1faff],
    [0x20000, 0x3fffd],
  ] as const),
];
const isCombining = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const isAscii = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what colours begin with
const colour = /\x1b\[[\d;]*m/g;

function cellsOf(character: string): number {
  const code = character.codePointAt(0)!;
  if (code < 0x300) return 1;
  if (isCombining.test(character)) return 0;
  return wide.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Columns that the text takes. */
export function widthOf(text: string): number {
  const bare = text.includes("\x1b") ? text.replace(colour, "") : text;
  if (isAscii.test(bare)) return bare.length;
  let width = 0;
  for (const character of bare) width += cellsOf(character);
  return width;
}

/** The characters that fit from the start, whole ones only. */
function head(text: string, width: number): string {
  let taken = 0;
  let end = 0;
  for (const character of text) {
    taken += cellsOf(character);
    if (taken > width) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** A line no wider than `width`: its end is left out, colours end where it does. */
export function clip(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  if (!line.includes("\x1b")) return head(line, width);
  let left = width;
  let shown = "";
  let from = 0;
  for (const match of [...line.matchAll(colour), null]) {
    const part = head(line.slice(from, match?.index), left);
    left -= widthOf(part);
    // Colours are kept to the end: they are ended there as well.
    shown += part + (match?.[0] ?? "");
    from = match ? match.index + match[0].length : line.length;
  }
  return shown;
}

/** Text without colours shortened from the middle, where names of nodes differ least. */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 5) return head(text, Math.max(0, width));
  const first = Math.floor((width - 2) / 2);
  const end = head([...text].reverse().join(""), width - 2 - first);
  return `${head(text, first)}..${[...end].reverse().join("")}`;
}

/** The same, shortened at its end. */
export const shortenEnd = (text: string, width: number): string =>
  widthOf(text) <= width ? text : width < 5 ? head(text, Math.max(0, width)) : `${head(text, width - 2)}..`;

export const padRight = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));
export const padLeft = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text;

/** Text without colours broken at spaces; a word that is too long is broken where it must be. */
export function wrapCells(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) <= width) {
      line += ` ${word}`;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (widthOf(line) > width && width >= 2) {
      const part = head(line, width);
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  return [...lines, line];
}

/** How many cells of a terminal a text takes: Chinese, Japanese and Korean characters and pictures take two, marks none. */

const plain = /^[\x20-\x7e]*$/;
const marks = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** First and last code points of what is two cells wide (East Asian Width W and F), in order. */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x23e9, 0x23ec],
  [0x2614, 0x2615],
  [0x26aa, 0x26ab],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x274c, 0x274c],
  [0x2753, 0x2755],
  [0x2795, 0x2797],
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b50],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f004, 0x1f004],
  [0x1f0cf, 0x1f0cf],
  [0x1f18e, 0x1f19a],
  [0x1f200, 0x1f320],
  [0x1f32d, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f7e0, 0x1f7eb],
  [0x1f90c, 0x1f9ff],
  [0x1fa70, 0x1faff],
  [0x20000, 0x3fffd],
];

/** Of one character. */
function cellsOfCharacter(character: string): 0 | 1 | 2 {
  const code = character.codePointAt(0)!;
  if (code < 0x300) return 1;
  if (marks.test(character)) return 0;
  return wide.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

export function cellsOf(text: string): number {
  if (plain.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += cellsOfCharacter(character);
  return cells;
}

/** As `padEnd` and `padStart`, by cells. */
export const padEnd = (text: string, cells: number): string => text + " ".repeat(Math.max(0, cells - cellsOf(text)));
export const padStart = (text: string, cells: number): string => " ".repeat(Math.max(0, cells - cellsOf(text))) + text;

/** As much of the beginning as `cells` hold. */
export function firstCells(text: string, cells: number): string {
  let used = 0;
  let kept = "";
  for (const character of text) {
    used += cellsOfCharacter(character);
    if (used > cells) break;
    kept += character;
  }
  return kept;
}

/** As much of the end as `cells` hold; it never begins with a mark that belongs to what was cut off. */
export function lastCells(text: string, cells: number): string {
  const characters = [...text];
  let used = 0;
  let from = characters.length;
  while (from > 0 && used + cellsOfCharacter(characters[from - 1]!) <= cells)
    used += cellsOfCharacter(characters[--from]!);
  while (from > 0 && from < characters.length && cellsOfCharacter(characters[from]!) === 0) from++;
  return characters.slice(from).join("");
}

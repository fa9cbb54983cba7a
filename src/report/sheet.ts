/** What a text is written on: how wide it is, and whether it takes more than ASCII. */

export interface Sheet {
  /** Cells of a line, the margin at the left included. */
  readonly columns: number;
  readonly isAscii: boolean;
}

/** What every terminal has, and what a file or a log gets. */
export const plainSheet: Sheet = { columns: 80, isAscii: false };

/** From here on tables have more columns. */
const ROOMY = 110;
/** Nobody reads longer lines. */
const WIDEST = 120;

/** @param columns of the terminal; null where there is none */
export const sheetOf = (columns: number | null, isAscii: boolean): Sheet => ({
  columns: Math.min(Math.max(columns ?? plainSheet.columns, plainSheet.columns), WIDEST),
  isAscii,
});

export const isRoomy = ({ columns }: Sheet): boolean => columns >= ROOMY;

/** Beyond ASCII as escapes, for terminals that would show something else. */
export const inAscii = (text: string): string =>
  text.replace(/[^\p{ASCII}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);

/** The same of all texts in a value. */
export function allInAscii<T>(value: T): T {
  if (typeof value === "string") return inAscii(value) as T;
  if (Array.isArray(value)) return value.map(allInAscii) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, allInAscii(part)])) as T;
}

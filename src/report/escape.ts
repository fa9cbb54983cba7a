/** Names come from files that strangers made: each format gets them in a form that cannot break it. */
import { groupBy } from "../base/group-by.js";
import { cellsOf, firstCells, lastCells } from "./cell-width.js";

// Control characters could drive a terminal, and the bidirectional ones reorder what a reader sees.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** One line that moves no cursor: `\x1b` in place of the escape character, `\n` in place of a line break. */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) => {
    if (character === "\n") return "\\n";
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });

/** Text of a Markdown cell or sentence: no markup, no tag, no mention, no new cell. */
export const markdownText = (text: string): string =>
  printable(text)
    .replace(/[\\`*_[\]|#~]/g, "\\$&")
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/@/g, "&#64;");

/** Inline code. What backticks do not tame in every renderer goes into an element as entities. */
export function markdownCode(text: string): string {
  const safe = printable(text);
  if (!/[`|<>&@]/.test(safe)) return `\`${safe}\``;
  return `<code>${xml(safe).replace(/[|`@]/g, (character) => `&#${character.charCodeAt(0)};`)}</code>`;
}

/** Text or attribute of XML; characters that XML forbids are spelled out first. */
export const xml = (text: string): string =>
  printable(text)
    .replace(/[\ufffe\uffff]/g, "?")
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");

/** Shortens from the middle, where names of nodes differ least; `width` in cells of a terminal. */
export function middle(text: string, width: number): string {
  if (cellsOf(text) <= width) return text;
  const tail = Math.ceil((width - 3) / 2);
  return `${firstCells(text, width - 3 - tail)}...${lastCells(text, tail)}`;
}

/**
 * Each shortened from the middle; where that makes some of them look alike, of those the parts that the fewest names have.
 *
 * @param shorten one name to a number of cells, where a screen has its own way
 */
export function middles(texts: readonly string[], width: number, shorten = middle): string[] {
  const told = new Map(texts.map((text) => [text, shorten(text, width)]));
  const shares = sharesOfParts([...told.keys()]);
  for (const text of alike(told).flat()) told.set(text, shorten(rarestParts(text, shares, width), width));
  for (const group of alike(told))
    for (const [i, short] of fromFirstDifference(group, width).entries()) told.set(group[i]!, short);
  return texts.map((text) => told.get(text)!);
}

/** Names of which several became one text. */
function alike(told: ReadonlyMap<string, string>): string[][] {
  const groups = [...groupBy(told, ([, short]) => short).values()];
  return groups.filter(({ length }) => length > 1).map((group) => group.map(([text]) => text));
}

/** In how many of the names a part between slashes is. */
function sharesOfParts(texts: readonly string[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const text of texts) for (const part of new Set(text.split("/"))) shares.set(part, (shares.get(part) ?? 0) + 1);
  return shares;
}

/** Without the parts that most names have, as few of them as it takes; of those that as many have, the last tells the most. */
function rarestParts(text: string, shares: ReadonlyMap<string, number>, width: number): string {
  const parts = text.split("/");
  const without = (left: ReadonlySet<number>): string => {
    const kept = parts.map((part, at) => (left.has(at) ? "..." : part));
    return kept.filter((part, at) => part !== "..." || kept[at - 1] !== "...").join("/");
  };
  const [, ...others] = parts
    .map((_, at) => at)
    .sort((a, b) => shares.get(parts[a]!)! - shares.get(parts[b]!)! || b - a);
  // A slash beside each makes more of them than fit: a name of thousands would be tried with all of these.
  const left = new Set(others.splice(width + 1));
  // A name that is cut anyway may end without a word on it: that leaves room for another part.
  const told = (): string[] => [without(left), without(left).replace(/(?<=\.\.\..*)\/\.\.\.$/, "")];
  const fitting = (): string | undefined => told().find((each) => cellsOf(each) <= width);
  while (others.length > 0 && fitting() === undefined) left.add(others.pop()!);
  return fitting() ?? without(left);
}

/** From the part of the name on in which they begin to differ. */
function fromFirstDifference(texts: readonly string[], width: number): string[] {
  const [first] = texts;
  let at = 0;
  while (at < first!.length && texts.every((text) => text[at] === first![at])) at++;
  const from = first!.slice(0, at).search(/[^/._: ]*$/);
  return texts.map((text) => `...${firstCells(text.slice(from), Math.max(0, width - 3))}`);
}

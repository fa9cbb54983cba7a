/** Names come from files that strangers made: each format gets them in a form that cannot break it. */
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
 * Each shortened from the middle; of those that would look alike, only what tells them apart.
 *
 * @param shorten one name to a number of cells, where a screen has its own way
 */
export function middles(texts: readonly string[], width: number, shorten = middle): string[] {
  const cut = texts.map((text) => shorten(text, width));
  const alike = new Map(cut.map((short) => [short, new Set<string>()]));
  for (const [i, text] of texts.entries()) alike.get(cut[i]!)!.add(text);
  const told = new Map<string, string>();
  for (const group of alike.values()) {
    if (group.size === 1) continue;
    const parts = withoutSharedParts([...group]).map((text) => shorten(text, width));
    const short = new Set(parts).size === group.size ? parts : fromFirstDifference([...group], width);
    for (const [i, text] of [...group].entries()) told.set(text, short[i]!);
  }
  return texts.map((text, i) => told.get(text) ?? cut[i]!);
}

/** Between slashes, what all of them begin or end with is left out, and where they are equally deep also what they share between. */
function withoutSharedParts(texts: readonly string[]): string[] {
  const split = texts.map((text) => text.split("/"));
  const least = Math.min(...split.map((parts) => parts.length));
  const isShared = (at: number): boolean => split.every((parts) => parts.at(at) === split[0]!.at(at));
  let first = 0;
  while (first < least && isShared(first)) first++;
  let last = 0;
  while (last < least - first && isShared(-1 - last)) last++;
  const isLevel = split.every((parts) => parts.length === least);
  return split.map((parts) => {
    const told = parts.map((part, at) =>
      at < first || at >= parts.length - last || (isLevel && isShared(at)) ? "..." : part,
    );
    return told.filter((part, at) => part !== "..." || told[at - 1] !== "...").join("/");
  });
}

/** From the part of the name on in which they begin to differ. */
function fromFirstDifference(texts: readonly string[], width: number): string[] {
  const [first] = texts;
  let at = 0;
  while (at < first!.length && texts.every((text) => text[at] === first![at])) at++;
  const from = first!.slice(0, at).search(/[^/._: ]*$/);
  return texts.map((text) => `...${firstCells(text.slice(from), Math.max(0, width - 3))}`);
}

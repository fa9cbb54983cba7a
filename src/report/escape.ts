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

/** Each shortened from the middle; of those that would look alike, only the parts between slashes that tell them apart. */
export function middles(texts: readonly string[], width: number): string[] {
  const cut = texts.map((text) => middle(text, width));
  return texts.map((text, i) => {
    const alike = texts.filter((other, j) => other !== text && cut[j] === cut[i]).map((other) => other.split("/"));
    if (alike.length === 0) return cut[i]!;
    const told = text.split("/").map((part, at) => (alike.every((other) => other[at] === part) ? "..." : part));
    return middle(told.filter((part, at) => part !== "..." || told[at - 1] !== "...").join("/"), width);
  });
}

/** Markup that cannot be broken into: whatever is put into a template is text, unless it is markup itself. */
import { printable } from "../escape.js";

export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | readonly Part[] | null;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text and attribute values alike; characters that reorder or hide text are spelled out. */
const escaped = (text: string): string => printable(text).replace(/[&<>"']/g, (character) => entities[character]!);

/** Parts of lists are put one after the other; null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.reduce((text, string, i) => text + textOf(parts[i - 1] ?? null) + string));
}

/** Of a block of JSON in the page, which no text can end, in ASCII: what a script puts on the page is spelled out as everything else is. */
export const data = (value: unknown): Markup =>
  new Markup(
    JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? printable(part) : part)).replace(
      /[<\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  );

function textOf(part: Part): string {
  if (part === null) return "";
  if (part instanceof Markup) return part.text;
  return Array.isArray(part) ? (part as readonly Part[]).map(textOf).join("") : escaped(String(part));
}

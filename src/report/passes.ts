/** The list of passes, as text and as the table of the README. */
import type { Numerics } from "../base/numerics.js";
import { columns } from "./table.js";

export interface PassInfo {
  readonly name: string;
  readonly summary: string;
  readonly numerics: Numerics;
  /** Commands that run it. */
  readonly recipes: readonly string[];
}

export const renderPasses = (passes: readonly PassInfo[]): string =>
  `${columns(
    passes.map(({ name, numerics, summary }) => [name, numerics, summary]),
    ["left", "left", "left"],
  ).join("\n")}\n`;

export const renderPassesMarkdown = (passes: readonly PassInfo[]): string =>
  [
    "| pass | does | numbers | run by |",
    "| --- | --- | --- | --- |",
    ...passes.map(({ name, summary, numerics, recipes }) => {
      const text = summary.replace(/\|/g, "\\|");
      return `| \`${name}\` | ${text} | ${numerics} | ${recipes.map((recipe) => `\`${recipe}\``).join(", ")} |`;
    }),
    "",
  ].join("\n");

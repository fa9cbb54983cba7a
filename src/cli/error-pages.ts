/** What docs/errors.md says about a code, for `infer-opt help CODE`. */
import { readFileSync } from "node:fs";

export const isCode = (word: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(word);

/** null for a code that the page does not have. */
export function errorPage(code: string): string | null {
  const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const section = new RegExp(`^### ${code}\\n\\n([\\s\\S]*?)(?=^##|$(?![\\s\\S]))`, "m").exec(page)?.[1];
  if (section !== undefined) return `${code}\n\n${plainText(section)}\n`;
  const about = new RegExp(`^\\| \`${code}\` \\| (.*) \\|$`, "m").exec(page)?.[1];
  return about === undefined ? null : `${code}\n\nNo error, but a finding or a warning: ${plainText(about)}.\n`;
}

/** Without marks; a link is told as the file of the package that it leads to. */
const plainText = (markdown: string): string =>
  markdown
    .trim()
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_, text: string, path: string) =>
      text === path ? `docs/${path}` : `${text} (docs/${path})`,
    )
    .replaceAll("docs/../", "")
    .replaceAll("`", "");

/** Command lines that documents show, and whether the program takes them. */
import { commands } from "../../src/cli/commands/index.js";
import { command, fakeIo } from "./fake-io.js";

/** Those in code blocks, as one would type them: lines that are continued are joined, comments are cut off. */
export function commandLinesOf(markdown: string): string[] {
  const code = [...markdown.matchAll(/^```\w*\n([\s\S]*?)^```|(?<=\n\n)((?: {4}.*\n)+)/gm)].map(
    ([, fenced, indented]) => fenced ?? indented!,
  );
  const lines = code.flatMap((block) => block.replace(/ \\\n\s*(?:>\s)?/g, " ").split("\n"));
  const typed = lines.flatMap(
    (line) => /^\s*(?:\$ |- run: )?(?:\w+=\S+ )?(?:npx )?(infer-opt .*)$/.exec(line)?.[1] ?? [],
  );
  return typed.map(withoutShell);
}

/** Without comments, pipes and files for the output. */
export const withoutShell = (line: string): string =>
  line
    .replace(/^eval "\$\((.*)\)"$/, "$1")
    .replace(/\s+#.*$/, "")
    .replace(/ [12]?> .*$| \|.*$| && .*$/, "")
    .trim();

/** null, or what the program has against it. No model is opened and nothing runs: what is asked for is read, no more. */
export async function objectionTo(line: string): Promise<string | null> {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
  const [program, name, ...rest] = words;
  if (program !== "infer-opt") return "it starts another program";
  if (!commands.some((known) => known.name === name) && name !== "help" && !name?.startsWith("-")) return `no ${name}`;
  // Without a place for scratch files everything ends where it would begin.
  const io = fakeIo({ env: { INFER_OPT_TMP: "no-such-folder" } });
  const { code, stderr } = await command([name!, ...rest], { io });
  return code === 1 || code === 2 ? stderr : null;
}

/**
 * What could stand where the cursor is. Shells ask by running the program with INFER_OPT_COMPLETE set and the words typed so
 * far (`completion` prints the few lines that make them do so); no answer means the name of a file.
 */
import { isFault } from "../base/errors.js";
import type { Actions } from "./actions.js";
import { type Command, everywhere } from "./command.js";
import type { Flag } from "./flag.js";
import { type FlagName, flags } from "./flags.js";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** @param words those after the program's name, the last of them the one being typed, which may be empty */
export async function completions(
  words: readonly string[],
  commands: readonly Command[],
  actions: Pick<Actions, "passes" | "names">,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? "";
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined && value !== undefined) {
    const found = await completions([...words.slice(0, -1), flag, value], commands, actions);
    return found.map((word) => `${flag}=${word}`);
  }
  const found = await possible(words, current, commands, actions);
  return found.filter((word) => word.startsWith(current));
}

async function possible(
  words: readonly string[],
  current: string,
  commands: readonly Command[],
  actions: Pick<Actions, "passes" | "names">,
): Promise<readonly string[]> {
  const names = commands.map(({ name }) => name);
  if (words.length <= 1) return [...names, "help", "--help", "--version"];
  const [name] = words;
  if (name === "help") return names;
  const command = commands.find((known) => known.name === name);
  if (!command) return [];
  const own = [...command.flags, ...everywhere];
  const before = own.find((flag) => flags[flag].kind !== "switch" && spellings(flags[flag]).includes(words.at(-2)!));
  if (before) return values(before, words, actions);
  if (current.startsWith("-")) return [...own.flatMap((flag) => spellings(flags[flag]).slice(-1)), "--help"];
  return command.name === "completion" ? shells : [];
}

/** `-o`, `--output`. */
const spellings = ({ spelling }: Flag<unknown>): string[] => spelling.match(/(?<![\w-])--?[a-z][\w-]*/g) ?? [];

async function values(
  flag: FlagName,
  words: readonly string[],
  actions: Pick<Actions, "passes" | "names">,
): Promise<readonly string[]> {
  if (flag === "skip" || flag === "only") {
    // One of several, separated by commas: those before it stay.
    const before = /^.*,/s.exec(words.at(-1)!)?.[0] ?? "";
    return (await actions.passes()).map(({ name }) => before + name);
  }
  if (flag === "include" || flag === "exclude") {
    const model = words.slice(1, -1).find((word) => word.endsWith(".onnx"));
    return model === undefined ? [] : nodeNames(model, actions);
  }
  const text = flags[flag].parse.form?.text;
  return text && "enum" in text ? text.enum : [];
}

/** A model that cannot be read has none; a line that is being typed is no place to say why. */
async function nodeNames(model: string, actions: Pick<Actions, "names">): Promise<readonly string[]> {
  try {
    return await actions.names(model);
  } catch (thrown) {
    if (isFault(thrown)) return [];
    throw thrown;
  }
}

export const completionScripts: Readonly<Record<Shell, string>> = {
  // The line itself, since bash takes words apart at colons and equals signs.
  bash: `_infer_opt() {
  local line="\${COMP_LINE:0:COMP_POINT}" IFS=$' \\t\\n'
  local -a words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local current="\${words[-1]}" IFS=$'\\n'
  COMPREPLY=($(INFER_OPT_COMPLETE=1 infer-opt "\${words[@]:1}" 2>/dev/null))
  local apart="\${current%"\${current##*[:=]}"}"
  COMPREPLY=("\${COMPREPLY[@]#"$apart"}")
}
complete -o default -F _infer_opt infer-opt
`,
  zsh: `#compdef infer-opt
_infer_opt() {
  local -a found
  found=("\${(@f)$(INFER_OPT_COMPLETE=1 infer-opt "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _infer_opt infer-opt
`,
  fish: `function __infer_opt
    set -l found (INFER_OPT_COMPLETE=1 infer-opt (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c infer-opt -f -a '(__infer_opt)'
`,
};

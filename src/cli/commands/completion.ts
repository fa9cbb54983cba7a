import { InferOptError } from "../../base/errors.js";
import type { Command } from "../command.js";
import { completionScripts, shells } from "../complete.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";

export const completion: Command = {
  name: "completion",
  group: "Machine",
  parameters: "<shell>",
  about: "What makes bash, zsh or fish complete",
  note: "Commands, flags and their values, names of passes, and for --include and --exclude those of the model's nodes.",
  examples: [
    'eval "$(infer-opt completion bash)"',
    "infer-opt completion fish > ~/.config/fish/completions/infer-opt.fish",
  ],
  flags: [],
  exits: [exitCode.done, exitCode.usage],
  async run(invocation) {
    // A parameter is a path elsewhere: here it is a word.
    const word = invocation.parameters[0]!.split(/[/\\]/).at(-1)!;
    const shell = shells.find((known) => known === word);
    if (!shell) {
      throw new InferOptError("SHELL_UNKNOWN", "usage", `"${word}" is no shell that can be told how to complete`, {
        hint: `Those are ${shells.join(", ")}.`,
        fields: { shell: word },
      });
    }
    answer(invocation, completionScripts[shell], { shell, script: completionScripts[shell] });
    return exitCode.done;
  },
};

import { renderPasses, renderPassesMarkdown } from "../../report/passes.js";
import type { Command } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";

export const passes: Command = {
  name: "passes",
  group: "Machine",
  parameters: "",
  about: "Every pass, in the order in which they run",
  examples: ["infer-opt passes", "infer-opt passes --markdown"],
  flags: ["markdownTable"],
  exits: [exitCode.done, exitCode.usage],
  async run(invocation) {
    const { actions, settings } = invocation;
    const list = await actions.passes();
    answer(invocation, settings.markdownTable ? renderPassesMarkdown(list) : renderPasses(list), { passes: list });
    return exitCode.done;
  },
};

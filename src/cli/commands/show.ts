import { renderGroups } from "../../report/groups.js";
import { palette } from "../../report/palette.js";
import type { Command } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { wantsColor } from "../io.js";
import { changeExits } from "../run-and-deliver.js";
import { withRunContext } from "../run-context.js";
import { runtimeConfig } from "../settings.js";

export const show: Command = {
  name: "show",
  group: "Look",
  parameters: "<model>",
  about: "The graph as stable text, or its channels",
  examples: ["infer-opt show model.onnx --types", "infer-opt show model.onnx --groups"],
  flags: ["types", "values", "groups"],
  exits: changeExits,
  async run(invocation) {
    const { parameters, settings, actions, io } = invocation;
    const model = parameters[0]!;
    if (settings.groups) {
      const config = runtimeConfig(settings);
      const groups = await withRunContext(invocation, (context) => actions.showGroups(model, config, context));
      answer(invocation, renderGroups(groups, palette(wantsColor(io, "stdout"))), groups);
      return exitCode.done;
    }
    const text = await actions.show(model, { types: settings.types, valuesUpTo: settings.values });
    answer(invocation, text, { model: { path: model }, text });
    return exitCode.done;
  },
};

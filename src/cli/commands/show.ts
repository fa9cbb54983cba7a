import type { Command } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";

export const show: Command = {
  name: "show",
  group: "Look",
  parameters: "<model>",
  about: "The graph as stable text",
  examples: ["infer-opt show model.onnx --types", "diff <(infer-opt show a.onnx) <(infer-opt show b.onnx)"],
  flags: ["types", "values"],
  exits: [exitCode.done, exitCode.usage, exitCode.input],
  async run(invocation) {
    const { parameters, settings, actions } = invocation;
    const model = parameters[0]!;
    const text = await actions.show(model, { types: settings.types, valuesUpTo: settings.values });
    answer(invocation, text, { model: { path: model }, text });
    return exitCode.done;
  },
};

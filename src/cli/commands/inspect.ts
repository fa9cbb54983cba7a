import { renderInspection } from "../../report/inspection.js";
import { palette } from "../../report/palette.js";
import type { Command } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { wantsColor } from "../io.js";
import { changeExits } from "../run-and-deliver.js";
import { withRunContext } from "../run-context.js";
import { runtimeConfig } from "../settings.js";

export const inspect: Command = {
  name: "inspect",
  group: "Look",
  parameters: "<model>",
  about: "What is in a model and what to do about it",
  examples: ["infer-opt inspect model.onnx", "infer-opt inspect model.onnx --target tensorrt --json"],
  flags: ["shape", "batch", "target"],
  exits: changeExits,
  async run(invocation) {
    const { parameters, settings, actions, io } = invocation;
    const config = runtimeConfig(settings);
    const inspection = await withRunContext(invocation, (context) =>
      actions.inspect(parameters[0]!, config, context, settings.target),
    );
    answer(invocation, renderInspection(inspection, palette(wantsColor(io, "stdout"))), inspection);
    return exitCode.done;
  },
};

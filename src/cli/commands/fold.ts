import { type Command, passChoice, running, written } from "../command.js";
import { modelOutput } from "../output-path.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig } from "../settings.js";

export const fold: Command = {
  name: "fold",
  group: "Change",
  parameters: "<model>",
  about: "Fold constants, clean up; the same bits",
  examples: ["infer-opt fold model.onnx -o clean.onnx", "infer-opt fold model.onnx --in-place --fold-budget 0B"],
  flags: [...passChoice, "calibration", "eval", ...running, ...written, "report"],
  exits: changeExits,
  run(invocation) {
    const { parameters, settings, actions } = invocation;
    const model = parameters[0]!;
    const config = fuseConfig(settings, model, modelOutput(model, settings));
    return runAndDeliver(invocation, (context) => actions.fuse({ ...config, recipe: "fold" }, context));
  },
};

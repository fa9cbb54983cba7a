import { type Command, passChoice, running, written } from "../command.js";
import { modelOutput } from "../output-path.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig } from "../settings.js";

export const fuse: Command = {
  name: "fuse",
  group: "Change",
  parameters: "<model>",
  about: "Fold, clean up and fuse; the same algebra",
  examples: ["infer-opt fuse model.onnx -o fused.onnx", "infer-opt fuse model.onnx -o fused.onnx --skip fuse-pad"],
  flags: [...passChoice, "calibration", "eval", ...running, ...written, "report"],
  exits: changeExits,
  run(invocation) {
    const { parameters, settings, actions } = invocation;
    const model = parameters[0]!;
    const config = fuseConfig(settings, model, modelOutput(model, settings));
    return runAndDeliver(invocation, (context) => actions.fuse({ ...config, recipe: "fuse" }, context));
  },
};

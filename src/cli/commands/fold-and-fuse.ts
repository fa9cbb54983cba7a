import { type Command, comparesOutputs, passChoice, running, written } from "../command.js";
import { modelOutput } from "../output-path.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig } from "../settings.js";

/** The two recipes of passes, a command each. */
const recipeCommand = (
  recipe: "fold" | "fuse",
  about: string,
  examples: Command["examples"],
  more: Command["flags"] = [],
): Command => ({
  name: recipe,
  group: "Change",
  parameters: "<model>",
  about,
  examples,
  flags: [...passChoice, "opset", "target", ...more, "calibration", "eval", ...running, ...written, "report"],
  abouts: comparesOutputs,
  exits: changeExits,
  run(invocation) {
    const { parameters, settings, actions } = invocation;
    const model = parameters[0]!;
    const config = fuseConfig(settings, model, modelOutput(model, settings));
    return runAndDeliver(invocation, (context) => actions.fuse({ ...config, recipe }, context));
  },
});

export const fold = recipeCommand("fold", "Fold constants, clean up; the same bits", [
  "infer-opt fold model.onnx -o clean.onnx",
  "infer-opt fold model.onnx --in-place --fold-budget 0B",
]);

export const fuse = recipeCommand(
  "fuse",
  "Fold, clean up and fuse; the same algebra",
  ["infer-opt fuse model.onnx -o fused.onnx", "infer-opt fuse model.onnx -o fused.onnx --runtime-specific"],
  ["runtimeSpecific", "lossy"],
);

import { type Command, limits, passChoice, running, written } from "../command.js";
import { modelOutput } from "../output-path.js";
import { judgedExits, runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig, limitsOf, pruneConfig } from "../settings.js";

export const prune: Command = {
  name: "prune",
  group: "Change",
  parameters: "<model>",
  about: "Fewer channels and units, the rest fitted anew",
  note: "Samples need no labels. Each net that is tried is judged on samples that were not fitted, and timed. Without --target-speedup and --keep-ratio the fastest net within --max-drop is looked for. --sparsity puts zeros into the weights instead: for size, since no CPU is faster for them.",
  examples: [
    "infer-opt prune model.onnx -o pruned.onnx --calibration samples.npz --target-speedup 1.5",
    "infer-opt prune model.onnx -o sparse.onnx --calibration samples.npz --eval test.npz --metric top1 --sparsity 2:4",
  ],
  flags: [
    ...(["keepRatio", "widths", "recover", "sparsity", "target", "include", "exclude"] as const),
    ...passChoice,
    ...(["targetSpeedup"] as const),
    ...limits,
    "goal",
    ...(["calibration", "eval"] as const),
    ...running,
    "budget",
    ...written,
    ...(["keepRejected", "report"] as const),
  ],
  exits: judgedExits,
  run(invocation) {
    const { parameters, settings, actions } = invocation;
    const model = parameters[0]!;
    const config = {
      ...fuseConfig(settings, model, modelOutput(model, settings), true),
      limits: limitsOf(settings),
      prune: pruneConfig(settings),
    };
    return runAndDeliver(invocation, (context) => actions.prune(config, context));
  },
};

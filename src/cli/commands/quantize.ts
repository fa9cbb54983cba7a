import type { OptimizeConfig } from "../../pipeline/config.js";
import { type Command, type Invocation, limits, passChoice, running, written } from "../command.js";
import { modelOutput } from "../output-path.js";
import { judgedExits, runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig, limitsOf, quantizeConfig } from "../settings.js";

const flags = [
  ...(["mode", "bits", "format", "method", "corrections", "include", "exclude", "target"] as const),
  "runtimeSpecific",
  ...passChoice,
  ...limits,
  "goal",
  "baseline",
  ...(["calibration", "ranges", "eval"] as const),
  ...running,
  "maxMemory",
  "budget",
  ...written,
  ...(["keepRejected", "report"] as const),
] as const;

export const quantize: Command = {
  name: "quantize",
  group: "Change",
  parameters: "<model>",
  about: "8-bit integers where they pay, proven",
  examples: [
    "infer-opt quantize model.onnx -o int8.onnx --calibration samples.npz",
    "infer-opt quantize model.onnx -o int8.onnx --ranges model.ranges.json --eval test.npz --max-drop 0.5%",
  ],
  flags,
  exits: judgedExits,
  run(invocation) {
    const config = optimizeConfig(invocation);
    return runAndDeliver(invocation, (context) => invocation.actions.quantize(config, context));
  },
};

export const optimize: Command = {
  name: "optimize",
  group: "Change",
  parameters: "<model>",
  about: "Fuse, fp16 or int8, verify, time, choose",
  examples: [
    "infer-opt optimize model.onnx -o small.onnx --calibration samples.npz --eval test.npz --metric top1",
    "infer-opt optimize model.onnx -o small.onnx --prune --calibration samples.npz --max-drop 0.5% --slo p95=20ms",
  ],
  flags: [...flags, "lossy", "prune"],
  exits: judgedExits,
  run(invocation) {
    const config = optimizeConfig(invocation);
    const { optimize, optimizePruned } = invocation.actions;
    const run = invocation.settings.prune ? optimizePruned : optimize;
    return runAndDeliver(invocation, (context) => run(config, context));
  },
};

function optimizeConfig({ parameters, settings }: Invocation): OptimizeConfig {
  const model = parameters[0]!;
  return {
    ...fuseConfig(settings, model, modelOutput(model, settings), true),
    limits: limitsOf(settings),
    ...(settings.baseline !== null && { baseline: settings.baseline }),
    quantize: quantizeConfig(settings),
  };
}

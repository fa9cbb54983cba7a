import { type Command, comparesOutputs, passChoice, running, written } from "../command.js";
import { exitCode } from "../exit-code.js";
import { modelOutput } from "../output-path.js";
import { runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig, selectionOf } from "../settings.js";

export const fp16: Command = {
  name: "fp16",
  group: "Change",
  parameters: "<model>",
  about: "Half precision; inputs and outputs stay float",
  examples: [
    "infer-opt fp16 model.onnx -o half.onnx",
    "infer-opt fp16 model.onnx -o half.onnx --bf16 --exclude op:Softmax",
  ],
  flags: [
    ...(["bf16", "convertIo", "include", "exclude"] as const),
    ...passChoice,
    "opset",
    ...(["calibration", "eval"] as const),
    ...running,
    ...written,
    ...(["keepRejected", "report"] as const),
  ],
  abouts: comparesOutputs,
  exits: [
    exitCode.done,
    exitCode.usage,
    exitCode.input,
    exitCode.runtime,
    exitCode.accuracy,
    exitCode.inconclusive,
    exitCode.interrupted,
  ],
  run(invocation) {
    const { parameters, settings, actions } = invocation;
    const model = parameters[0]!;
    const config = {
      ...fuseConfig(settings, model, modelOutput(model, settings)),
      target: settings.bf16 ? "bf16" : "f16",
      convertIo: settings.convertIo,
      selection: selectionOf(settings),
    } as const;
    return runAndDeliver(invocation, (context) => actions.fp16(config, context));
  },
};

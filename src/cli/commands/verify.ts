import { type Command, limits, running, smokeTest } from "../command.js";
import { comparedExits, runAndDeliver } from "../run-and-deliver.js";
import { dataConfig, limitsOf, runtimeConfig } from "../settings.js";

export const verify: Command = {
  name: "verify",
  group: "Prove",
  parameters: "<baseline> <candidate>",
  about: "How far two models' answers are apart",
  note: smokeTest,
  examples: [
    "infer-opt verify model.onnx int8.onnx --eval test.npz --metric top1 --max-drop 0.5%",
    "infer-opt verify model.onnx int8.onnx --eval test.npz --layers",
  ],
  flags: [
    ...limits.filter((flag) => flag === "metric" || flag === "maxDrop" || flag === "maxSize" || flag === "confidence"),
    ...(["eval", "calibration"] as const),
    ...running,
    ...(["drift", "layers", "maxMemory", "target", "report"] as const),
  ],
  exits: comparedExits,
  run(invocation) {
    const { parameters, settings, actions } = invocation;
    const config = {
      baseline: parameters[0]!,
      candidate: parameters[1]!,
      data: dataConfig(settings),
      runtime: runtimeConfig(settings),
      // A config file that is shared with `gate` may name limits on what is not timed here.
      limits: { ...limitsOf(settings), minSpeedup: null, slo: [] },
      drift: settings.drift,
      layers: settings.layers,
      ...(settings.target !== null && { target: settings.target }),
    };
    return runAndDeliver(invocation, (context) => actions.verify(config, context));
  },
};

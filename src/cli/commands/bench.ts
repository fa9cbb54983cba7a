import { type Command, running } from "../command.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { runtimeConfig } from "../settings.js";

export const bench: Command = {
  name: "bench",
  group: "Prove",
  parameters: "<models...>",
  about: "Latency, in turns, against the first",
  examples: [
    "infer-opt bench model.onnx --threads 1 --shape input=1,3,224,224",
    "infer-opt bench model.onnx int8.onnx --eval test.npz --threads 1 --budget 1m",
  ],
  flags: ["eval", ...running, "budget", "noiseCheck", "report"],
  exits: changeExits,
  run(invocation) {
    const { more, settings, actions } = invocation;
    const { eval: data, noiseCheck } = settings;
    const config = { models: more, data, runtime: runtimeConfig(settings), noiseCheck };
    return runAndDeliver(invocation, (context) => actions.bench(config, context));
  },
};

import type { InferOptError } from "../../base/errors.js";
import { type Command, limits, running, smokeTest } from "../command.js";
import { comparedExits, runAndDeliver } from "../run-and-deliver.js";
import { dataConfig, limitsOf, runtimeConfig } from "../settings.js";

export const gate: Command = {
  name: "gate",
  group: "Prove",
  parameters: "<baseline> <candidate>",
  about: "Limits between two models, as a step of CI",
  note: `${smokeTest} Limits and data may stand in .infer-opt.json of the folder it runs in, or in a file given with --config; flags win.`,
  examples: [
    "infer-opt gate base.onnx new.onnx --eval test.npz --metric top1 --max-drop 0.5% --min-speedup 1.2",
    "infer-opt gate base.onnx new.onnx --max-drop none --max-size 10MB --slo p95=20ms --report gate.md",
  ],
  flags: [
    ...limits,
    "inconclusive",
    ...(["eval", "calibration", "target"] as const),
    ...running,
    "affinity",
    "budget",
    "history",
    "report",
  ],
  exits: comparedExits,
  findsConfig: true,
  async run(invocation) {
    const { parameters, settings, configPath, actions } = invocation;
    let unwritten: InferOptError | null = null;
    const onUnwritten = (failure: InferOptError): void => {
      unwritten = failure;
    };
    const config = {
      baseline: parameters[0]!,
      candidate: parameters[1]!,
      data: dataConfig(settings),
      limits: limitsOf(settings),
      runtime: runtimeConfig(settings),
      inconclusive: settings.inconclusive,
      ...(configPath !== null && { configPath }),
      ...(settings.target !== null && { target: settings.target }),
      ...(settings.history !== null && {
        history: { path: settings.history, at: new Date().toISOString(), onUnwritten },
      }),
    };
    const code = await runAndDeliver(invocation, (context) => actions.gate(config, context));
    if (unwritten !== null) throw unwritten;
    return code;
  },
};

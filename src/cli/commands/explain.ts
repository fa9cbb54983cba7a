import { renderExplanation } from "../../report/explanation.js";
import { palette } from "../../report/palette.js";
import { type Command, running } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { sheetFor, wantsColor } from "../io.js";
import { changeExits } from "../run-and-deliver.js";
import { withRunContext } from "../run-context.js";
import { graphConfig, runtimeConfig } from "../settings.js";
import { isStandardInput, STANDARD_INPUT } from "../standard-input.js";

export const explain: Command = {
  name: "explain",
  group: "Look",
  parameters: "<result-or-model>",
  about: "Why nodes stay unfused, and why float",
  note: "- is a result that is piped in.",
  examples: ["infer-opt explain result.json", "infer-opt explain model.onnx --node '/head/*'"],
  flags: [
    "node",
    ...(["skip", "only", "keepOpset", "foldBudget", "opset", "target", "runtimeSpecific"] as const),
    ...running.filter((flag) => flag !== "seed"),
  ],
  exits: changeExits,
  async run(invocation) {
    const { parameters, settings, actions, io } = invocation;
    const config = {
      path: parameters[0]!,
      nodes: settings.node,
      runtime: runtimeConfig(settings),
      graph: graphConfig(settings),
    };
    const piped = isStandardInput(config.path) ? { ...config, path: STANDARD_INPUT, text: io.readInput() } : null;
    const explanation = piped
      ? await actions.explain(piped, null)
      : (await actions.explainsResult(config.path))
        ? await actions.explain(config, null)
        : await withRunContext(invocation, (context) => actions.explain(config, context));
    answer(invocation, renderExplanation(explanation, palette(wantsColor(io, "stdout")), sheetFor(io)), explanation);
    return exitCode.done;
  },
};

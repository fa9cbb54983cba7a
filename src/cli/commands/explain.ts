import { InferOptError } from "../../base/errors.js";
import { renderExplanation } from "../../report/explanation.js";
import { palette } from "../../report/palette.js";
import { type Command, type Invocation, running } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { longName } from "../flag.js";
import { type FlagName, flags } from "../flags.js";
import { sheetFor, wantsColor } from "../io.js";
import { changeExits } from "../run-and-deliver.js";
import { withRunContext } from "../run-context.js";
import { graphConfig, runtimeConfig } from "../settings.js";
import { isStandardInput, STANDARD_INPUT } from "../standard-input.js";

/** Say what is tried on a model: of a result all that was found out before. */
const ofModels: readonly FlagName[] = [
  ...(["skip", "only", "keepOpset", "foldBudget", "opset", "target", "runtimeSpecific"] as const),
  ...running.filter((flag) => flag !== "seed"),
];

export const explain: Command = {
  name: "explain",
  group: "Look",
  parameters: "<result-or-model>",
  about: "Why nodes stay unfused, and why float",
  note: "- is a result that is piped in.",
  examples: ["infer-opt explain result.json", "infer-opt explain model.onnx --node '/head/*'"],
  flags: ["node", ...ofModels],
  exits: changeExits,
  async run(invocation) {
    const { parameters, settings, actions, io } = invocation;
    const config = {
      path: parameters[0]!,
      nodes: settings.node,
      runtime: runtimeConfig(settings),
      graph: graphConfig(settings),
    };
    const isResult = isStandardInput(config.path) || (await actions.explainsResult(config.path));
    if (isResult) refuseOfModels(invocation);
    const piped = isStandardInput(config.path) ? { ...config, path: STANDARD_INPUT, text: io.readInput() } : null;
    const explanation = piped
      ? await actions.explain(piped, null)
      : isResult
        ? await actions.explain(config, null)
        : await withRunContext(invocation, (context) => actions.explain(config, context));
    answer(invocation, renderExplanation(explanation, palette(wantsColor(io, "stdout")), sheetFor(io)), explanation);
    return exitCode.done;
  },
};

function refuseOfModels({ parameters, typed }: Invocation): void {
  const lost = typed.filter((flag) => ofModels.includes(flag)).map((flag) => longName(flags[flag]));
  if (lost.length === 0) return;
  const [path] = parameters;
  const result = isStandardInput(path!) ? STANDARD_INPUT : path;
  throw new InferOptError(
    "FLAG_INVALID",
    "usage",
    `${lost.join(", ")}: without effect, since ${result} is a result and tells what was found when it was made`,
    { hint: `Leave out ${lost.join(", ")}, or name a model.`, fields: { flag: lost[0] } },
  );
}

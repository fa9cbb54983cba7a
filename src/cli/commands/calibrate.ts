import { InferOptError } from "../../base/errors.js";
import { shellWord } from "../../base/shell-word.js";
import { plural } from "../../report/numbers.js";
import { type Command, type Invocation, passChoice, running } from "../command.js";
import { answer } from "../deliver.js";
import { type ExitCode, exitCode } from "../exit-code.js";
import { requiredOutput } from "../output-path.js";
import { changeExits, runAndDeliver } from "../run-and-deliver.js";
import { fuseConfig } from "../settings.js";

export const calibrate: Command = {
  name: "calibrate",
  group: "Change",
  parameters: "[model]",
  about: "Statistics for quantization, also in parts",
  examples: [
    "infer-opt calibrate model.onnx --calibration samples.npz --shard 1/2 -o part1.json",
    "infer-opt calibrate --merge part1.json part2.json -o model.ranges.json",
  ],
  flags: [
    ...(["calibration", "shard", "merge"] as const),
    ...passChoice,
    "target",
    ...running,
    "maxMemory",
    ...(["output", "report"] as const),
  ],
  exits: changeExits,
  run(invocation) {
    const { parameters, settings } = invocation;
    const model = parameters[0] ?? "";
    if (settings.merge.length > 0) return merge(invocation, model);
    if (model === "") {
      throw new InferOptError("ARGUMENT_MISSING", "usage", "no model is named", {
        hint: "Name one, or join parts with --merge A B.",
      });
    }
    return calibrateModel(invocation, model);
  },
};

function calibrateModel(invocation: Invocation, model: string): Promise<ExitCode> {
  const { settings, actions } = invocation;
  const { calibration, shard } = settings;
  const output = requiredOutput(settings, calibration === null ? [model] : [model, calibration]);
  const config = {
    ...fuseConfig(settings, model, output),
    shard: shard && { index: shard.index, of: shard.count },
  };
  return runAndDeliver(invocation, (context) => actions.calibrate(config, context));
}

async function merge(invocation: Invocation, model: string): Promise<ExitCode> {
  const { settings, actions } = invocation;
  if (model !== "") {
    throw new InferOptError(
      "ARGUMENT_UNEXPECTED",
      "usage",
      `--merge joins parts and takes no model, but got ${model}`,
      {
        hint: "Parts know which model they belong to: leave it out.",
        fields: { model },
      },
    );
  }
  const output = requiredOutput(settings, settings.merge);
  const { samples, tensors } = await actions.mergeRanges(settings.merge, output);
  const text = `${plural(settings.merge.length, "part")} joined: ${plural(tensors, "tensor")} over ${plural(samples, "sample")}`;
  // Parts know their model by what it holds, and not where it is.
  const next = `next  infer-opt quantize MODEL -o int8.onnx --ranges ${shellWord(output)}`;
  answer(invocation, `${text} -> ${output}\n${next}`, { parts: settings.merge.length, samples, tensors, output });
  return exitCode.done;
}

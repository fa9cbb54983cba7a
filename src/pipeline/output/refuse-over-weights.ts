import { InferOptError } from "../../base/errors.js";
import type { Model } from "../../ir/index.js";
import type { OutputConfig } from "../config.js";
import { externalFiles } from "../model-facts.js";
import { rejectedPath } from "./rejected-path.js";
import { isSamePlace } from "./same-place.js";

/** Throws OUTPUT_IS_INPUT where the output would take the place of a file that holds weights of the model which is read. */
export function refuseOverWeights(model: Model, out: OutputConfig): void {
  const written = [out.output, rejectedPath(out)].filter((path) => path !== null);
  for (const weights of externalFiles(model)) {
    const output = written.find((path) => isSamePlace(path, weights));
    if (output === undefined) continue;
    throw new InferOptError("OUTPUT_IS_INPUT", "usage", `${output} holds weights of the input ${model.path}`, {
      hint: "Name another file: without its weights the input could not be read any more.",
      fields: { output, model: model.path },
    });
  }
}

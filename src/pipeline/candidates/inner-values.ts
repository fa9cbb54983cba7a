/** Models that tell, besides their answers, what their last products read: candidates are judged by it where answers are few numbers. */
import { linkModel, loadModel, type Model } from "../../ir/index.js";
import { inputsOfFewAnswers, tellInputs } from "../../quantization/outputs/few-answers.js";
import type { RunContext } from "../context.js";
import { linkedFile, removeLinked } from "../model-runs.js";
import type { Candidate } from "./candidate.js";
import type { WorkshopOptions } from "./workshop.js";

export interface InnerValues {
  /** The float model that static candidates are made of, as one that tells. */
  readonly float: string;
  /** Last products, by name: the label of what each reads, by which it is told. */
  readonly products: ReadonlyMap<string, string>;
}

/** Labels of them, once each. */
export const labelsOf = ({ products }: Pick<InnerValues, "products">): readonly string[] => [
  ...new Set(products.values()),
];

/** Null for a model whose answers are numbers enough, and where integer operators do not tell what they read. */
export function innerValuesOf(
  prepared: string,
  format: WorkshopOptions["format"] | null,
  context: RunContext,
): InnerValues | null {
  if (format === "qoperator") return null;
  const model = loadModel(prepared);
  const inputs = inputsOfFewAnswers(model);
  if (inputs.size === 0) return null;
  const products = new Map([...inputs].map(([name, { label }]) => [name, label] as const));
  const float = telling(model, products, context);
  return float === null ? null : { float, products };
}

/** The float model and these candidates as models that tell; null where one of them cannot. All but the first are the caller's to remove. */
export function tellingModels(
  { float, products }: InnerValues,
  candidates: readonly Candidate[],
  context: RunContext,
): readonly string[] | null {
  const models = [float];
  try {
    for (const { built } of candidates) {
      const path = telling(loadModel(built.path), products, context);
      if (path === null) break;
      models.push(path);
    }
  } finally {
    if (models.length <= candidates.length) for (const made of models.splice(1)) removeLinked(made);
  }
  return models.length === 1 ? null : models;
}

function telling(model: Model, products: InnerValues["products"], context: RunContext): string | null {
  if (!tellInputs(model, products)) return null;
  const to = linkedFile(context, "telling");
  linkModel(model, to);
  return to;
}

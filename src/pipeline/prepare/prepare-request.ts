/** What is asked of `prepareModel`. */
import type { Model } from "../../ir/index.js";
import type { recipes } from "../../passes/catalog.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import type { FuseConfig, GraphConfig, RuntimeConfig } from "../config.js";
import type { Intake } from "../intake.js";

export type Recipe = keyof typeof recipes;

export interface PrepareRequest {
  readonly model: string;
  /** What the result must agree with, where that is not `model` itself. */
  readonly baseline?: string;
  /** The model as it was loaded, for the first attempt of one call to change; without it the file is read. */
  readonly loaded?: Model;
  readonly recipe: Recipe;
  /** On what the result is compared with the original, and whether that can be run; needed only then. */
  readonly intake: Judged | Promise<Judged>;
  readonly graph: GraphConfig;
  readonly runtime: RuntimeConfig;
  /** Least opset that later steps need, 0 for none. */
  readonly minOpset: number;
  /** Called with what may turn out to be the result while the runtime compares it. It must leave the model as it is. */
  readonly meanwhile?: (model: Model) => void;
}

type Judged = Pick<Intake, "signature" | "trial"> & Partial<Pick<Intake, "unrunnable">>;

/** Of what becomes integers. */
export function recipeFor({
  isForSize,
  runtimeSpecific,
}: Pick<IntegerTarget, "isForSize" | "runtimeSpecific">): Recipe {
  if (isForSize) return "small";
  return runtimeSpecific ? "runtimePrepare" : "prepare";
}

/** For the model of a run, as it was taken in. */
export const requestOf = (
  config: FuseConfig,
  intake: PrepareRequest["intake"],
  recipe: Recipe,
  minOpset = 0,
): PrepareRequest => ({
  model: config.model,
  recipe,
  intake,
  graph: config.graph,
  runtime: config.runtime,
  minOpset,
});

/** What is asked of `prepareModel`. */
import type { DatasetRef } from "../dataset/index.js";
import type { Model } from "../ir/index.js";
import type { recipes } from "../passes/catalog.js";
import type { ModelSignature } from "../runtime/port.js";
import type { FuseConfig, GraphConfig, RuntimeConfig } from "./config.js";
import type { Intake } from "./intake.js";

export type Recipe = keyof typeof recipes;

export interface PrepareRequest {
  readonly model: string;
  /** What the result must agree with, where that is not `model` itself. */
  readonly baseline?: string;
  readonly recipe: Recipe;
  readonly signature: ModelSignature;
  /** Samples on which the result is compared with the original, the first of them; or word that there are none. */
  readonly data: DatasetRef;
  /** Why the original cannot be run, so that nothing can be compared. */
  readonly unrunnable?: string | null;
  readonly graph: GraphConfig;
  readonly runtime: RuntimeConfig;
  /** Least opset that later steps need, 0 for none. */
  readonly minOpset: number;
  /** Called with what may turn out to be the result while the runtime compares it. It must leave the model as it is. */
  readonly meanwhile?: (model: Model) => void;
}

/** For the model of a run, as it was taken in. */
export const requestOf = (config: FuseConfig, intake: Intake, recipe: Recipe, minOpset = 0): PrepareRequest => ({
  model: config.model,
  recipe,
  signature: intake.signature,
  data: intake.trial,
  unrunnable: intake.unrunnable,
  graph: config.graph,
  runtime: config.runtime,
  minOpset,
});

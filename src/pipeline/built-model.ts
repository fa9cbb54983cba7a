import type { FloatNode } from "../quantization/plan-static.js";

/** A candidate on disk, in the scratch folder. */
export interface BuiltModel {
  readonly path: string;
  readonly bytes: number;
  /** Names of the nodes that run on integers. */
  readonly quantized: readonly string[];
  readonly float: readonly FloatNode[];
  readonly notes: readonly string[];
}

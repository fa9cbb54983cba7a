/** A model that might be the answer, with what is known of it so far. */
import type { RangeMethod } from "../observe/index.js";
import type { PlacementOptions } from "../quantization/plan-static.js";
import type { BuiltModel } from "./built-model.js";
import type { AccuracyFacts, CandidateFacts } from "./result.js";

export type Placement = Omit<PlacementOptions, "keepFloat">;

/** How a candidate is made, apart from the nodes that stay float. */
export type Variant =
  | { readonly kind: "fused" }
  | { readonly kind: "fp16" }
  | { readonly kind: "static"; readonly placement: Placement; readonly method: RangeMethod }
  | { readonly kind: "dynamic" }
  | { readonly kind: "weights"; readonly bits: 8 | 4 };

export interface Candidate {
  readonly variant: Variant;
  readonly name: string;
  readonly built: BuiltModel;
  /** Nodes that were put back to float because of what they cost, with the reason. */
  readonly keptFloat: ReadonlyMap<string, string>;
  /** Mean SQNR of the outputs against the float model on a few samples, dB; null until measured. */
  sqnrDb: number | null;
  /** Old over new, from a short comparison; null until measured. */
  speedup: number | null;
  accuracy: AccuracyFacts | null;
  note: string;
}

export function variantName(variant: Variant): string {
  switch (variant.kind) {
    case "static": {
      const { neighbours, depthwise } = variant.placement;
      return `int8 static ${variant.method}${neighbours ? " +neighbours" : ""}${depthwise ? "" : " -depthwise"}`;
    }
    case "dynamic":
      return "int8 dynamic";
    case "weights":
      return `int${variant.bits} weights`;
    default:
      return variant.kind === "fused" ? "float32 fused" : "float16";
  }
}

export const candidateFacts = (candidate: Candidate, chosen: Candidate | null): CandidateFacts => ({
  name: candidate.name,
  chosen: candidate === chosen,
  bytes: candidate.built.bytes,
  quantizedNodes: candidate.built.quantized.length,
  floatNodes: candidate.built.float.length,
  speedup: candidate.speedup,
  sqnrDb: candidate.sqnrDb,
  accuracy: candidate.accuracy?.candidate ?? null,
  reason: candidate.note,
});

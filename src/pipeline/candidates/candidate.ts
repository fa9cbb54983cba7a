/** A model that might be the answer, with what is known of it so far. */
import { bitsOf, type Form } from "../../quantization/form.js";
import { methodsOf, type Recipe, type StaticChoice } from "../../quantization/recipe.js";
import type { NodeTime } from "../../runtime/port.js";
import type { AccuracyFacts } from "../result.js";
import type { BuiltModel } from "./built-model.js";

/** In two means over the samples, dB: see Candidate. */
export interface Sqnr {
  readonly sqnrDb: number;
  readonly pooledDb: number;
}

/** How a candidate is made, apart from the nodes that stay float. */
export type Variant =
  | { readonly kind: "fused" }
  /** But for nodes that go beyond its range, with the reason. */
  | { readonly kind: "fp16"; readonly tooWide?: ReadonlyMap<string, string> }
  | { readonly kind: "integers"; readonly recipe: Recipe };

export interface Candidate {
  readonly variant: Variant;
  readonly name: string;
  readonly built: BuiltModel;
  /** Nodes that were put back to float because of what they cost, with the reason. */
  readonly keptFloat: ReadonlyMap<string, string>;
  /** Mean SQNR of the outputs against the float model on a few samples, dB; null until measured. */
  sqnrDb: number | null;
  /** SQNR of all these samples together, in which the largest answers count most; absent until measured. */
  pooledDb?: number;
  /** The same of what the last products read, which decides where answers are few numbers; absent elsewhere. */
  inner?: Sqnr;
  /** Old over new: estimated, and once it is raced as timed; null until measured. */
  speedup: number | null;
  /** What `speedup` was before the race, by the table, a profile or a short comparison; absent until it is raced. */
  estimate?: number | null;
  /** Of `speedup` as the race timed it; absent until it is raced. */
  interval?: readonly [number, number];
  /**
   * Node by node, by the runtime's profile, beside the prepared float model's in the same minutes, and where float
   * candidates are compared too beside the original's; null until measured.
   */
  times?: {
    readonly float: readonly NodeTime[];
    readonly own: readonly NodeTime[];
    readonly original?: readonly NodeTime[];
  } | null;
  accuracy: AccuracyFacts | null;
  /** The fastest placement, where this one, which is more accurate, was taken in its place; absent where it is the fastest. */
  faster?: {
    readonly keptFloat: ReadonlyMap<string, string>;
    /** So many times as fast as this one, by what placed both. */
    readonly gain: number;
  };
  /** The widest placement, where a table of kernel times left more in float: that table may be wrong. */
  wider?: {
    readonly keptFloat: ReadonlyMap<string, string>;
    /** So many times as fast as this one by that table: less than 1. */
    readonly gain: number;
  };
  /** By region, when it alone is integers: SQNR of the outputs, dB; absent until a search measured it. */
  errors?: ReadonlyMap<string, number>;
  note: string;
}

/** How far its outputs, or what its last products read, are from the float model's. */
export type OutputError = Pick<Candidate, "sqnrDb" | "pooledDb" | "inner">;

/** What measuring its error on a few samples told. */
export type MeasuredError = OutputError & Pick<Candidate, "note">;

/** What decides where integers pay: of a candidate, or of one that was not made. */
export interface Plan extends Pick<Candidate, "variant" | "keptFloat" | "times"> {
  readonly built: Pick<BuiltModel, "forms">;
}

export const isInteger = ({ variant }: Candidate): boolean => variant.kind === "integers";

export const isStatic = ({ variant }: Pick<Candidate, "variant">): boolean =>
  variant.kind === "integers" && variant.recipe.statics !== null;

export function variantName(variant: Variant): string {
  if (variant.kind === "integers") return recipeName(variant.recipe);
  return variant.kind === "fused" ? "float32 fused" : "float16";
}

function recipeName({ form, forms, statics, smoothing }: Recipe): string {
  const others = new Map<Form, number>();
  for (const other of forms.values()) if (other !== form) others.set(other, (others.get(other) ?? 0) + 1);
  const exceptions = [...others].map(([other, nodes]) => `, ${nodes} ${formName(other, null)}`);
  return formName(form, statics) + (smoothing ? " smoothed" : "") + exceptions.join("");
}

function formName(form: Form, statics: StaticChoice | null): string {
  switch (form) {
    case "float":
      return "float32";
    case "static": {
      if (!statics) return "int8 static";
      const { neighbours, depthwise } = statics.placement;
      return `int8 static ${methodsOf(statics)}${neighbours ? " +neighbours" : ""}${depthwise ? "" : " -depthwise"}`;
    }
    case "dynamic":
      return "int8 dynamic";
    case "dynamicRows":
      return "int8 dynamic per row";
    case "blocks8":
      return "int8 blocks of weights";
    default:
      return `int${bitsOf(form)} weights`;
  }
}

/** What candidates are compared by before any of them is raced, and those that are not raced ever. */
export const estimateOf = ({ speedup, estimate }: Pick<Candidate, "speedup" | "estimate">): number | null =>
  estimate === undefined ? speedup : estimate;

/** As it is, or placed for speed alone, whichever is faster; null where its speed is not known. */
export const mostSpeedup = ({ speedup, faster }: Pick<Candidate, "speedup" | "faster">): number | null =>
  speedup === null ? null : speedup * Math.max(1, faster?.gain ?? 1);

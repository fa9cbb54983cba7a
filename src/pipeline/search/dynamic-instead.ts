/**
 * Dynamic integers for what costs too much accuracy as static ones: ranges that are found in each run fit it, so they err less,
 * and they are faster than float. What a region may become is what a candidate of nothing but dynamic integers has made of it.
 */
import { type Form, isDynamicForm } from "../../quantization/form.js";
import { type Recipe, withForms } from "../../quantization/recipe.js";
import { type Candidate, estimateOf, type Variant } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";

export interface DynamicInstead {
  /** Of the nodes that have dynamic integers, by name. */
  readonly forms: ReadonlyMap<string, Form>;
  /** What their activations are divided by. */
  readonly smoothing: Recipe["smoothing"];
  /** Of such a node's time in float, what it takes as dynamic integers. */
  readonly timeShare: number;
}

export const isDynamic = ({ variant }: Candidate): boolean =>
  variant.kind === "integers" && variant.recipe.statics === null && variant.recipe.form === "dynamic";

/** @param candidate of dynamic integers alone, with its speed */
export function dynamicInstead(candidate: Candidate, workshop: Workshop): DynamicInstead {
  const { variant, built } = candidate;
  const forms = new Map([...built.forms].filter(([, form]) => isDynamicForm(form)));
  // All that the whole model gains beyond what its fusing does is theirs.
  const share = workshop.floatShare([...forms.keys()]) ?? 1;
  const gained = 1 - 1 / workshop.besideFloat(estimateOf(candidate) ?? 1);
  return {
    forms,
    smoothing: variant.kind === "integers" ? variant.recipe.smoothing : undefined,
    timeShare: share > 0 ? Math.min(1, Math.max(0, 1 - gained / share)) : 1,
  };
}

/** A variant of static integers with these nodes as dynamic ones. */
export function withDynamic(variant: Variant, nodes: readonly string[], instead: DynamicInstead): Variant {
  if (variant.kind !== "integers" || nodes.length === 0) return variant;
  const { smoothing } = instead;
  const forms = new Map(nodes.map((node) => [node, instead.forms.get(node)!]));
  return { ...variant, recipe: { ...withForms(variant.recipe, forms), ...(smoothing && { smoothing }) } };
}

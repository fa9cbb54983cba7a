/** Lines that bring answers closer (quantization/outputs) were fitted to the noise of all regions: with fewer integers there is less. */
import { relaxed } from "../../quantization/outputs/output-line.js";
import type { Variant } from "../candidates/candidate.js";

/** @param share of that noise */
export function withLinesFor(variant: Variant, share: number): Variant {
  if (variant.kind !== "integers" || !variant.recipe.lines) return variant;
  const { lines: fitted, ...recipe } = variant.recipe;
  if (share === 0) return { ...variant, recipe };
  const lines = new Map([...fitted].map(([node, line]) => [node, relaxed(line, share)] as const));
  return { ...variant, recipe: { ...recipe, lines } };
}

/**
 * Rows of text that are padding say nothing: a model that takes an attention mask is fitted on the others alone.
 * The mask is an input of integers or booleans that is called so, one number a row.
 */
import type { Model, Value } from "../../ir/index.js";
import type { SampleSizes } from "./sample-sizes.js";

const NAMED = /(^|[^a-z])(attention|padding|input)?_?mask$/i;

/** Null where the model takes none. */
export function paddingMask({ graph }: Model): Value | null {
  const isMask = ({ label, dtype, shape }: Value): boolean =>
    NAMED.test(label) && shape?.length === 2 && ["i64", "i32", "bool", "f32"].includes(dtype ?? "");
  const masks = graph.inputs.filter(isMask);
  return masks.length === 1 ? masks[0]! : null;
}

/** Whether a value has a row, its last axis, for each place of the mask. */
export function isMasked(value: Value, mask: Value, sizes: SampleSizes): boolean {
  const [rows, places] = [sizes.get(value.label), sizes.get(mask.label)];
  return rows?.length === 3 && places?.length === 2 && rows[0] === places[0] && rows[1] === places[1];
}

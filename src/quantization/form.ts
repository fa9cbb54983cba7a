/** What a node may become. No more than names: reports of saved results speak of them too, and load nothing else for that. */
import type { WeightBits } from "./weight-only.js";

/**
 * - `static`       integers between Q/DQ pairs with measured ranges
 * - `dynamic`      integers, activations with ranges found at run time
 * - `dynamicRows`  the same with a scale for each row of the activations
 * - `weights16`    weights i16 per channel, widened before float arithmetic
 * - `weights8`     the same with i8
 * - `blocks8`      weights i8 per block where there is a kernel that reads them so, else as `weights8`
 * - `weights4`     weights i4 per block where there is a kernel, else as `weights8`
 */
export type Form = "float" | "static" | "dynamic" | "dynamicRows" | "weights16" | "weights8" | "blocks8" | "weights4";

/** What results speak of: how weights are stored and whether activations are integers too. */
export type Mode = "static" | "dynamic" | "weights" | "mixed";

export function modeOf(form: Form): Mode {
  if (form === "static") return "static";
  return form === "dynamic" || form === "dynamicRows" ? "dynamic" : "weights";
}

/** Whether activations are integers too, with ranges found at run time. */
export const isDynamicForm = (form: Form): boolean => modeOf(form) === "dynamic";

/** Of weights that alone are integers: products of blocks apart, arithmetic is in float. */
const storedBits: Readonly<Partial<Record<Form, WeightBits>>> = { weights16: 16, weights8: 8, blocks8: 8, weights4: 4 };

/** Null where weights are float, or not alone in being integers. */
export const storedBitsOf = (form: Form): WeightBits | null => storedBits[form] ?? null;

/** Of integer weights. */
export const bitsOf = (form: Form): WeightBits => storedBitsOf(form) ?? 8;

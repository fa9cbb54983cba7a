import { defineRewrite } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";

const idempotent = ["Abs", "Ceil", "Floor", "Relu", "Round", "Sign"];
const involutive = ["Neg", "Not"];
/** What one of them makes, none of them changes. */
const rounding = ["Ceil", "Floor", "Round"];

/**
 * f(f(x))         =>  f(x) where doing it twice is doing it once, x where the second undoes the first
 * Ceil(Floor(x))  =>  Floor(x), and so for all roundings to integers
 */
export const eliminateRepeated = defineRewrite({
  name: "eliminate-repeated",
  summary: "Remove the second of two roundings, equal Relus, Abs or Sign, and Neg or Not that undo each other",
  numerics: "exact",
  roots: [...idempotent, ...involutive],
  rewrite(outer) {
    const ops = rounding.includes(outer.op) ? rounding : [outer.op];
    const inner = ops.map((op) => producerOf(outer.inputs[0], op, outer.graph)).find((node) => node !== null);
    if (!inner) return null;
    return involutive.includes(outer.op) ? (inner.inputs[0] ?? null) : inner.output;
  },
});

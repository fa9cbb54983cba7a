import { defineRewrite } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";

const idempotent = ["Abs", "Ceil", "Floor", "Relu", "Round", "Sign"];
const involutive = ["Neg", "Not"];

/** f(f(x))  =>  f(x) where doing it twice is doing it once, x where the second undoes the first. */
export const eliminateRepeated = defineRewrite({
  name: "eliminate-repeated",
  summary: "Remove the second of two equal roundings, Relus, Abs or Sign, and Neg or Not that undo each other",
  numerics: "exact",
  roots: [...idempotent, ...involutive],
  rewrite(outer) {
    const inner = producerOf(outer.inputs[0], outer.op, outer.graph);
    if (!inner) return null;
    return involutive.includes(outer.op) ? (inner.inputs[0] ?? null) : inner.output;
  },
});

/**
 *   Pow(x, 0.75)  =>  Sqrt(x) * Sqrt(Sqrt(x))     x without a sign
 *   Pow(x, -0.5)  =>  Reciprocal(Sqrt(x))         the same
 *   Pow(x, -2)    =>  Reciprocal(x * x)
 *
 * Quarters up to 4. ONNX Runtime has loops of its own for squares and cubes, and a call of the C library for each element else:
 * 3.1 ns, and so 0.2 to 0.7; a square takes 0.24, and 0.09 as a product (1.32, Zen 5, 1 thread). The runtime tells
 * normalizations by squares that are averaged: these stay.
 */
import type { Node, Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { scalarBeside } from "../../rewrite/match.js";
import { hasNoSign } from "./no-sign.js";

const MOST = 4;
const QUICK = new Set([0, 1, 2, 3]);

export const inlinePower = defineRewrite({
  name: "inline-power",
  summary: "Compute powers of whole numbers and quarters by products and roots",
  numerics: "rounding",
  roots: ["Pow"],
  onlyOnCpu: "its kernel for powers takes one element after the other",
  rewrite(pow, { create }) {
    const [x, by] = pow.inputs;
    const exponent = scalarBeside(by, x);
    if (!x || exponent === null || x.dtype !== "f32" || !isWithin(exponent)) return null;
    if (QUICK.has(exponent) && (exponent !== 2 || isAveraged(pow))) return null;
    if (!Number.isInteger(exponent) && !hasNoSign(x)) return null;
    return powerOf(x, exponent, create);
  },
});

const isAveraged = ({ output }: Node): boolean =>
  output.uses.some((use) => use.kind === "input" && use.node.is("ReduceMean"));

const isWithin = (exponent: number): boolean =>
  exponent !== 0 && Math.abs(exponent) <= MOST && Number.isInteger(4 * exponent);

/** x to the power of a multiple of 1/4 from -4 to 4; null for another exponent, and for 0. x must not have a sign where it is no whole number. */
export function powerOf(x: Value, exponent: number, create: RewriteContext["create"]): Value | null {
  if (!isWithin(exponent)) return null;
  const times = (a: Value, b: Value): Value => create("Mul", [a, b]).output;
  const root = (a: Value): Value => create("Sqrt", [a]).output;
  const size = Math.abs(exponent);
  const whole = Math.floor(size);
  const factors: Value[] = [];
  if (whole % 2 === 1) factors.push(x);
  if (whole >= 2) {
    const square = times(x, x);
    factors.push(whole === 4 ? times(square, square) : square);
  }
  const rest = size - whole;
  if (rest > 0) {
    const half = root(x);
    if (rest >= 0.5) factors.push(half);
    if (rest !== 0.5) factors.push(root(half));
  }
  const power = factors.reduce(times);
  return exponent < 0 ? create("Reciprocal", [power]).output : power;
}

/**
 *   x / 2 * (1 + Erf(x / sqrt(2)))                                   =>  Gelu(x)
 *   x / 2 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))          =>  Gelu<approximate="tanh">(x)
 *
 * with the factors anywhere, in any order, as products or quotients, the cube as Pow or as
 * products. ONNX Runtime's fusion of a bias works on Gelu as on what it stands for.
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { isNear, lineOf, polynomialIn, productOf } from "./scalar-algebra.js";

export const fuseGelu = defineRewrite({
  name: "fuse-gelu",
  summary: "Turn a Gelu written out, with Erf or with Tanh, into Gelu",
  numerics: "rounding",
  roots: ["Mul", "Div"],
  minOpset: 20,
  rewrite(root, { create, skip }): Answer {
    const gelu = geluOf(root);
    if (!gelu) return null;
    if (gelu.x.dtype !== "f32" && gelu.x.dtype !== "f16") return skip("only f32 and f16");
    return create("Gelu", [gelu.x], gelu.form === "tanh" ? { approximate: attr.string("tanh") } : {});
  },
});

/** A product that is a Gelu of x, in one form or the other; null when it is none. */
export function geluOf(root: Node): { readonly x: Value; readonly form: "erf" | "tanh" } | null {
  const product = productOf(root);
  if (product?.factors.length !== 2) return null;
  for (const [x, gate] of [product.factors, [...product.factors].reverse()] as [Value, Value][]) {
    const form = formOf(x, gate, product.scale);
    if (form) return { x, form };
  }
  return null;
}

/** Which form scale * x * gate has: the gate is half of 1 + an odd function of x. */
function formOf(x: Value, gate: Value, outer: number): "erf" | "tanh" | null {
  const { base, scale, offset } = lineOf(gate);
  const curve = soleProducer(base, "Erf") ?? soleProducer(base, "Tanh");
  if (!curve || !isNear(outer * offset, 0.5, x.dtype) || !isNear(Math.abs(outer * scale), 0.5, x.dtype)) return null;
  const argument = argumentOf(curve, x);
  if (!argument) return null;
  const [constant = 0, first = 0, second = 0, third = 0] = argument.map((each) => Math.sign(outer * scale) * each);
  if (constant !== 0 || second !== 0) return null;
  if (curve.op === "Erf") return third === 0 && isNear(first, Math.SQRT1_2, x.dtype) ? "erf" : null;
  const isOurs = isNear(first, Math.sqrt(2 / Math.PI), x.dtype) && isNear(third / first, 0.044715, x.dtype);
  return isOurs ? "tanh" : null;
}

const argumentOf = (curve: Node, x: Value): number[] | null => polynomialIn(curve.inputs[0], x);

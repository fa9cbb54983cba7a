import { fuseOldGelu } from "../../../src/passes/contrib/gelu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const erf = (type = "f32"): string => `(x: ${type}[N,4]) -> (y) {
  d = Div(x, $root: ${type}[] = {1.4142135})
  e = Erf(d)
  a = Add(e, $one: ${type}[] = {1.0})
  m = Mul(x, a)
  y = Mul(m, $half: ${type}[] = {0.5})
}`;
const tanh = `(x: f32[N,4]) -> (y) {
  p = Pow(x, $three: f32[] = {3.0})
  c = Mul(p, $small: f32[] = {0.044715})
  s = Add(x, c)
  k = Mul(s, $factor: f32[] = {0.7978846})
  t = Tanh(k)
  a = Add(t, $one: f32[] = {1.0})
  h = Mul(x, $half: f32[] = {0.5})
  y = Mul(h, a)
}`;

testRewrite(fuseOldGelu, {
  rewrites: {
    "the form with Erf": erf(),
    "the form with Tanh": tanh,
  },
  leaves: {
    "a model that has Gelu": [erf(), null, { opset: 20 }],
    float16: [erf("f16"), "the runtime's Gelu computes in f32 only"],
    "another gate": [erf().replace("Erf", "Tanh"), null],
  },
});

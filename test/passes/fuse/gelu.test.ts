import { fuseGelu } from "../../../src/passes/fuse/gelu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4]"): string => `(${input}) -> (y) {\n${lines}\n}`;
/** Gives each constant a label of its own, so that one may be written several times. */
const numbered = (text: string): string => {
  let count = 0;
  return text.replaceAll(/\$(\w+):/g, (_, label) => `$${label}_${count++}:`);
};
const at20 = (lines: string, input?: string) => [numbered(graph(lines, input)), { opset: 20 }] as const;
const kept = (lines: string, input?: string) => [numbered(graph(lines, input)), null, { opset: 20 }] as const;

const number = (label: string, value: string): string => `$${label}: f32[] = {${value}}`;
const [HALF, ONE, TWO, THREE] = [number("half", "0.5"), number("one", "1.0"), number("two", "2.0"), number("c", "3.0")];
const ROOT = number("root", "1.4142135");
const INVERSE = number("inverse", "0.70710677");
const [CUBIC, SLOPE] = [number("cubic", "0.044715"), number("slope", "0.7978845608")];

const GATE = `a = Div(x, ${ROOT}) e = Erf(a) g = Add(e, ${ONE})`;
const POLYNOMIAL = `p = Pow(x, ${THREE}) q = Mul(p, ${CUBIC}) r = Add(x, q) s = Mul(r, ${SLOPE}) t = Tanh(s)`;

testRewrite(fuseGelu, {
  rewrites: {
    "x * gate, then the half": at20(`${GATE} m = Mul(x, g) y = Mul(m, ${HALF})`),
    "half of x first, the gate's sum the other way round": at20(
      `h = Mul(${HALF}, x) a = Mul(${INVERSE}, x) e = Erf(a) g = Add(${ONE}, e) y = Mul(g, h)`,
    ),
    "half of the gate first": at20(`${GATE} h = Mul(${HALF}, g) y = Mul(x, h)`),
    "a division by two": at20(`${GATE} m = Mul(g, x) y = Div(m, ${TWO})`),
    "half of the Erf, and half": at20(
      `a = Div(x, ${ROOT}) e = Erf(a) f = Mul(e, ${HALF}) g = Add(f, ${HALF}) y = Mul(x, g)`,
    ),
    "one minus the Erf of minus x": at20(
      `n = Neg(x) a = Div(n, ${ROOT}) e = Erf(a) g = Sub(${ONE}, e) m = Mul(x, g) y = Mul(m, ${HALF})`,
    ),
    "numbers of rank 1, rounded": at20(
      "a = Div(x, $r: f32[1] = {1.41421}) e = Erf(a) g = Add(e, $o: f32[1] = {1.0}) m = Mul(x, g) y = Mul(m, $h: f32[1] = {0.5})",
    ),
    "one in a body": [
      `(x: f32[N,4], c: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { ${GATE} m = Mul(x, g) t = Mul(m, ${HALF}) }, else_branch=() -> (f) { f = Abs(x) }>(c)
      }`,
      { opset: 20 },
    ],
    "Tanh of a Pow": at20(`${POLYNOMIAL} g = Add(t, ${ONE}) h = Mul(x, ${HALF}) y = Mul(h, g)`),
    "Tanh with an integer exponent": at20(
      `p = Pow(x, $c: i64[] = {3}) q = Mul(p, ${CUBIC}) r = Add(x, q) s = Mul(r, ${SLOPE}) t = Tanh(s) g = Add(t, ${ONE}) h = Mul(x, ${HALF}) y = Mul(h, g)`,
    ),
    "Tanh of x * (1 + c * x * x)": at20(
      `c2 = Mul(${CUBIC}, x) c3 = Mul(c2, x) o = Add(${ONE}, c3) k = Mul(x, ${SLOPE}) s = Mul(k, o) t = Tanh(s) g = Add(${ONE}, t) h = Mul(${HALF}, x) y = Mul(h, g)`,
    ),
    "Tanh of two products": at20(
      `x2 = Mul(x, x) x3 = Mul(x, x2) q = Mul(${CUBIC}, x3) r = Add(q, x) s = Mul(${SLOPE}, r) t = Tanh(s) g = Add(t, ${ONE}) i = Mul(g, ${HALF}) y = Mul(i, x)`,
    ),
  },
  leaves: {
    "another slope": kept(`a = Mul(x, ${HALF}) e = Erf(a) g = Add(e, ${ONE}) m = Mul(x, g) y = Mul(m, ${HALF})`),
    "no half": kept(`${GATE} y = Mul(x, g)`),
    "one minus the Erf": kept(`a = Div(x, ${ROOT}) e = Erf(a) g = Sub(${ONE}, e) m = Mul(x, g) y = Mul(m, ${HALF})`),
    "an Erf that is shifted": kept(
      `a = Div(x, ${ROOT}) b = Add(a, ${ONE}) e = Erf(b) g = Add(e, ${ONE}) m = Mul(x, g) y = Mul(m, ${HALF})`,
    ),
    "a Tanh where an Erf stands": kept(
      `a = Div(x, ${ROOT}) e = Tanh(a) g = Add(e, ${ONE}) m = Mul(x, g) y = Mul(m, ${HALF})`,
    ),
    "another cubic term": kept(
      `p = Pow(x, ${THREE}) q = Mul(p, ${HALF}) r = Add(x, q) s = Mul(r, ${SLOPE}) t = Tanh(s) g = Add(t, ${ONE}) h = Mul(x, ${HALF}) y = Mul(h, g)`,
    ),
    "a square where the cube stands": kept(
      `p = Pow(x, ${TWO}) q = Mul(p, ${CUBIC}) r = Add(x, q) s = Mul(r, ${SLOPE}) t = Tanh(s) g = Add(t, ${ONE}) h = Mul(x, ${HALF}) y = Mul(h, g)`,
    ),
    "a product with another tensor": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { ${GATE} m = Mul(z, g) y = Mul(m, ${HALF}) }`,
      null,
      { opset: 20 },
    ],
    "a gate that somebody else reads": [
      `(x: f32[N,4]) -> (y, g) { ${GATE} m = Mul(x, g) y = Mul(m, ${HALF}) }`,
      null,
      { opset: 20 },
    ],
    "a number that adds an axis": kept(`${GATE} m = Mul(x, g) y = Mul(m, $half: f32[1,1,1] = {0.5})`),
    "one number per element": kept(`${GATE} m = Mul(x, g) y = Mul(m, $half: f32[4] = {0.5, 0.5, 0.5, 0.4})`),
    "an opset without Gelu": [graph(`${GATE} m = Mul(x, g) y = Mul(m, ${HALF})`), null],
  },
});

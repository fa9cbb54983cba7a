import { fuseLeakyRelu, fusePRelu, fuseThresholdedRelu, fuseWhereClip } from "../../../src/passes/fuse/rectifier.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4]"): string => `(${input}) -> (y) {\n${lines}\n}`;
const SLOPED = "m = Mul(x, $a: f32[] = {0.1})";
const [ZERO, HALF] = ["$zero: f32[] = {0.0}", "$half: f32[] = {0.5}"];

testRewrite(fuseLeakyRelu, {
  rewrites: {
    "a slope below zero": graph(`${SLOPED} c = Less(x, ${ZERO}) y = Where(c, m, x)`),
    "itself above zero": graph(`${SLOPED} c = GreaterOrEqual(x, ${ZERO}) y = Where(c, x, m)`),
    "zero compared with x": graph(`${SLOPED} c = Greater(${ZERO}, x) y = Where(c, m, x)`),
    "a quotient": graph(`m = Div(x, $a: f32[] = {10.0}) c = LessOrEqual(x, ${ZERO}) y = Where(c, m, x)`),
    "the larger of two": graph(`${SLOPED} y = Max(m, x)`),
    "two halves": graph("p = Relu(x) n = Neg(x) r = Relu(n) m = Mul(r, $a: f32[] = {0.1}) y = Sub(p, m)"),
    "two halves and their sum": graph(
      "p = Relu(x) n = Neg(x) r = Relu(n) m = Mul(r, $a: f32[] = {-0.1}) y = Add(m, p)",
    ),
    "PRelu of one slope": graph("y = PRelu(x, $a: f32[1] = {0.2})"),
    "PRelu of equal slopes": graph("y = PRelu(x, $a: f32[4] = {0.2, 0.2, 0.2, 0.2})"),
  },
  leaves: {
    "a slope above zero": [graph(`${SLOPED} c = Less(x, ${ZERO}) y = Where(c, x, m)`), null],
    "another bound": [graph(`${SLOPED} c = Less(x, ${HALF}) y = Where(c, m, x)`), null],
    "the comparison of another": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { ${SLOPED} c = Less(z, ${ZERO}) y = Where(c, m, x) }`,
      null,
    ],
    "a shifted line": [graph(`${SLOPED} s = Add(m, ${HALF}) c = Less(x, ${ZERO}) y = Where(c, s, x)`), null],
    "the larger of x and a steeper line": [graph("m = Mul(x, $a: f32[] = {2.0}) y = Max(m, x)"), null],
    "the larger of three": [graph(`${SLOPED} n = Neg(x) y = Max(m, x, n)`), null],
    "halves of the same sign": [
      graph("p = Relu(x) n = Abs(x) r = Relu(n) m = Mul(r, $a: f32[] = {0.1}) y = Sub(p, m)"),
      null,
    ],
    "PRelu of other slopes": [graph("y = PRelu(x, $a: f32[4] = {0.2, 0.2, 0.2, 0.1})"), null],
    "PRelu of computed slopes": ["(x: f32[N,4], a: f32[1]) -> (y) { y = PRelu(x, a) }", null],
    float64: [graph("y = PRelu(x, $a: f64[1] = {0.2})", "x: f64[N,4]"), "only f32"],
    "a bound that adds an axis": [graph(`${SLOPED} c = Less(x, $zero: f32[1,1,1] = {0.0}) y = Where(c, m, x)`), null],
  },
});

const HALVES = "p = Relu(x) n = Neg(x) r = Relu(n)";
const SLOPES = "$a: f32[4] = {0.1, -0.2, 0.3, 1.4}";

testRewrite(fusePRelu, {
  rewrites: {
    "halves and their difference": graph(`${HALVES} m = Mul(r, ${SLOPES}) y = Sub(p, m)`),
    "halves and their sum, either way round": graph(`${HALVES} m = Mul(${SLOPES}, r) y = Add(m, p)`),
    "slopes of channels": graph(`${HALVES} m = Mul(r, $a: f32[1,3,1,1]) y = Add(p, m)`, "x: f32[N,3,4,5]"),
  },
  leaves: {
    "the lower half less the upper": [graph(`${HALVES} m = Mul(r, ${SLOPES}) y = Sub(m, p)`), null],
    "halves of two": [
      `(x: f32[N,4], z: f32[N,4]) -> (y) { p = Relu(x) n = Neg(z) r = Relu(n) m = Mul(r, ${SLOPES}) y = Sub(p, m) }`,
      null,
    ],
    "halves of the same sign": [graph(`p = Relu(x) n = Abs(x) r = Relu(n) m = Mul(r, ${SLOPES}) y = Sub(p, m)`), null],
    "slopes that widen": [graph(`${HALVES} m = Mul(r, $a: f32[2,1,4]) y = Sub(p, m)`), null],
    "a half that others read": [`(x: f32[N,4]) -> (y, r) { ${HALVES} m = Mul(r, ${SLOPES}) y = Sub(p, m) }`, null],
    float64: [graph(`${HALVES} m = Mul(r, $a: f64[4]) y = Sub(p, m)`, "x: f64[N,4]"), null],
  },
});

testRewrite(fuseThresholdedRelu, {
  rewrites: {
    "above a bound": graph(`c = Greater(x, ${HALF}) y = Where(c, x, ${ZERO})`),
    "a bound below": graph(`c = Less(${HALF}, x) y = Where(c, x, ${ZERO})`),
    "above zero": graph("c = Greater(x, $bound: f32[] = {0.0}) y = Where(c, x, $zero: f32[] = {0.0})"),
  },
  leaves: {
    "at a bound too": [graph(`c = GreaterOrEqual(x, ${HALF}) y = Where(c, x, ${ZERO})`), null],
    "below a bound": [graph(`c = Less(x, ${HALF}) y = Where(c, x, ${ZERO})`), null],
    "another number": [graph(`c = Greater(x, ${HALF}) y = Where(c, x, $one: f32[] = {1.0})`), null],
    "a zero that adds an axis": [graph(`c = Greater(x, ${HALF}) y = Where(c, x, $zero: f32[1,1,1] = {0.0})`), null],
    "a computed bound": [`(x: f32[N,4], b: f32[]) -> (y) { c = Greater(x, b) y = Where(c, x, ${ZERO}) }`, null],
  },
});

testRewrite(fuseWhereClip, {
  rewrites: {
    "a lower bound": graph(`c = Less(x, $lo: f32[] = {0.5}) y = Where(c, lo, x)`),
    "an upper bound": graph("c = Less($hi: f32[] = {0.5}, x) y = Where(c, hi, x)"),
    "itself above a bound": graph("c = GreaterOrEqual(x, $lo: f32[] = {0.5}) y = Where(c, x, lo)"),
    "a bound of rank 1, written twice": graph(
      "c = Less(x, $lo: f32[1] = {0.5}) y = Where(c, $again: f32[1] = {0.5}, x)",
    ),
    "computed bounds": `(x: f32[N,4], lo: f32[], hi: f32[]) -> (y) {
      c = Less(x, lo) a = Where(c, lo, x) d = Less(hi, a) y = Where(d, hi, a)
    }`,
    integers: "(x: i64[N,4], lo: i64[]) -> (y) { c = Less(x, lo) y = Where(c, lo, x) }",
  },
  leaves: {
    "a number that is not the bound": [
      graph("c = Less(x, $lo: f32[] = {0.5}) y = Where(c, $other: f32[] = {0.6}, x)"),
      null,
    ],
    "a bound that adds an axis": [graph("c = Less(x, $lo: f32[1,1,1] = {0.5}) y = Where(c, lo, x)"), null],
    "a bound that may add an axis": [graph("c = Less(x, $lo: f32[1] = {0.5}) y = Where(c, lo, x)", "x: f32"), null],
    "a bound per element": ["(x: f32[N,4], lo: f32[4]) -> (y) { c = Less(x, lo) y = Where(c, lo, x) }", null],
    "another number than the bound": [
      "(x: f32[N,4], lo: f32[], z: f32[]) -> (y) { c = Less(x, lo) y = Where(c, z, x) }",
      null,
    ],
    "an upper bound and then a lower one": [
      "(x: f32[N,4], lo: f32[], hi: f32[]) -> (y) { a = Clip(x, _, hi) y = Clip(a, lo) }",
      null,
    ],
    "a Clip that somebody else reads": [
      "(x: f32[N,4], lo: f32[], hi: f32[]) -> (y, a) { a = Clip(x, lo) y = Clip(a, _, hi) }",
      null,
    ],
    "opset 11": ["(x: f32[N,4], lo: f32[]) -> (y) { c = Less(x, lo) y = Where(c, lo, x) }", null, { opset: 11 }],
  },
});

import { fuseArithmeticUp } from "../../../src/passes/linear/arithmetic-up.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,3,6,6]"): string => `(${input}) -> (y) {
  ${lines}
}`;
const CONV = "c = Conv<pads=[1,1,1,1]>(x, $w: f32[4,3,3,3], $cb: f32[4])";
const norm = (input: string, channels = 4): string =>
  `BatchNormalization(${input}, $g: f32[${channels}], $b: f32[${channels}], $mean: f32[${channels}], $v: f32[${channels}] = {${Array.from({ length: channels }, (_, i) => 0.5 + i).join(", ")}})`;
const FACTORS = "$s: f32[4,1,1] = {0.5, -2.0, 0.25, 3.0}";
const POSITIVE = "$s: f32[4,1,1] = {0.5, 2.0, 0.25, 3.0}";

testRewrite(fuseArithmeticUp, {
  rewrites: {
    "a normalization past an average": graph(`${CONV}\n  p = AveragePool<kernel_shape=[2,2]>(c)\n  y = ${norm("p")}`),
    "a normalization past an average that does not count its padding": graph(
      `${CONV}\n  p = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(c)\n  y = ${norm("p")}`,
    ),
    "a factor past an average that counts its padding": graph(
      `${CONV}\n  p = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(c)\n  y = Mul(p, ${FACTORS})`,
    ),
    "a normalization past a global average, a Flatten and a Gemm's place": graph(
      `${CONV}\n  p = GlobalAveragePool(c)\n  f = Flatten(p)\n  y = ${norm("f")}`,
    ),
    "a mean over places": graph(`${CONV}\n  p = ReduceMean<axes=[2,3], keepdims=0>(c)\n  y = Add(p, $t: f32[4])`),
    "factors past a Transpose": graph(
      `${CONV}\n  p = Transpose<perm=[0,2,3,1]>(c)\n  y = Mul(p, $s: f32[4] = {0.5, -2.0, 0.25, 3.0})`,
    ),
    "a normalization past the greatest, where it keeps the order": graph(
      `${CONV}\n  p = MaxPool<kernel_shape=[2,2], pads=[1,1,1,1]>(c)\n  y = BatchNormalization(p, $g: f32[4] = {1.0, 2.0, 0.5, 3.0}, $b: f32[4], $mean: f32[4], $v: f32[4] = {1.0, 2.0, 0.5, 3.0})`,
    ),
    "factors above zero past Relu": graph(`${CONV}\n  p = Relu(c)\n  y = Mul(p, ${POSITIVE})`),
    "a factor past a square": graph(
      "m = Mul(x, $a: f32[3,1,1] = {2.0, 1.5, 3.0})\n  p = Pow(m, $two: f32[] = {2.0})\n  y = Mul(p, $s: f32[3,1,1] = {8.0, 2.0, 0.5})",
    ),
    "a normalization of two Conv side by side": graph(
      `c = Conv(x, $w: f32[4,3,1,1])\n  d = Conv(x, $u: f32[2,3,1,1], $ub: f32[2])\n  k = Concat<axis=1>(c, d)\n  y = ${norm("k", 6)}`,
    ),
    "a normalization of a sum of two Conv": graph(
      `c = Conv(x, $w: f32[4,3,1,1])\n  d = Conv(x, $u: f32[4,3,1,1])\n  k = Add(c, d)\n  y = ${norm("k")}`,
    ),
    "an addend to the one Conv of a difference": graph(
      "c = Conv(x, $w: f32[3,3,1,1])\n  k = Sub(x, c)\n  y = Add(k, $t: f32[3,1,1])",
    ),
    "a factor of a product": graph(
      `${CONV}\n  d = Sigmoid(z)\n  k = Mul(c, d)\n  y = Mul(k, ${FACTORS})`,
      "x: f32[N,3,6,6], z: f32[N,4,6,6]",
    ),
    "factors in a row": graph("a = Mul(x, $p: f32[3,1,1])\n  y = Div(a, $q: f32[] = {4.0})"),
    "addends in a row": graph("a = Sub($p: f32[3,1,1], x)\n  y = Sub(a, $q: f32[1])"),
    "a factor of a factor and an addend": graph(
      "a = Mul(x, $p: f32[3,1,1])\n  b = Add(a, $q: f32[3,1,1])\n  y = Mul(b, $r: f32[3,1,1])",
    ),
    "a factor between addends": graph(
      "a = Add(x, $p: f32[3,1,1])\n  b = Mul(a, $q: f32[3,1,1])\n  y = Add(b, $r: f32[3,1,1])",
    ),
    "a sign of a factor": graph("a = Mul(x, $p: f32[3,1,1])\n  y = Neg(a)"),
    "a factor of a sign": graph("a = Neg(x)\n  y = Mul(a, $p: f32[3,1,1])"),
    "what is added to a sign": graph("a = Neg(x)\n  y = Add(a, $p: f32[3,1,1])"),
    "a sign among others": graph("r = Mul(x, $q: f32[])\n  a = Neg(r)\n  y = Add(a, $p: f32[3,1,1])"),
    "a sign of a Conv": graph(`${CONV}\n  y = Neg(c)`),
    "a factor and an addend into a normalization": graph(
      `r = Relu(x)\n  c = ${norm("r", 3)}\n  m = Mul(c, $s: f32[3,1,1])\n  y = Add(m, $t: f32[3,1,1])`,
    ),
    "a factor of what is added to a product with a constant matrix": graph(
      "p = MatMul(x, $w: f32[6,5])\n  q = Add(p, $t: f32[5])\n  y = Mul(q, $s: f32[] = {0.25})",
    ),
    "a factor of a product of two, into the constant of one": graph(
      "p = Mul(x, $s: f32[] = {3.0})\n  q = MatMul(p, z)\n  y = Mul(q, $t: f32[] = {0.25})",
      "x: f32[N,3,6,6], z: f32[N,3,6,2]",
    ),
    "factors of columns": graph(
      "p = Mul(z, $s: f32[2] = {3.0, 2.0})\n  q = MatMul(x, p)\n  y = Mul(q, $t: f32[2])",
      "x: f32[N,3,6,6], z: f32[N,3,6,2]",
    ),
    doubles: graph("d = Cast<to=11>(x)\n  a = Mul(d, $p: f64[3,1,1])\n  y = Mul(a, $q: f64[])"),
    "half precision": graph("d = Cast<to=10>(x)\n  a = Mul(d, $p: f16[3,1,1])\n  y = Mul(a, $q: f16[])"),
  },
  leaves: {
    "a factor below zero before a square": [
      graph("m = Mul(x, $a: f32[] = {2.0})\n  p = Pow(m, $two: f32[] = {2.0})\n  y = Mul(p, $s: f32[] = {-8.0})"),
      null,
    ],
    "an exponent that is not whole": [
      graph("m = Mul(x, $a: f32[] = {2.0})\n  p = Pow(m, $e: f32[] = {0.3})\n  y = Mul(p, $s: f32[] = {8.0})"),
      null,
    ],
    "what another node reads": [
      `(x: f32[N,3,6,6]) -> (y, z) {
        ${CONV}
        p = AveragePool<kernel_shape=[2,2]>(c)
        y = ${norm("p")}
        z = Relu(p)
      }`,
      null,
    ],
    "a Conv that another node reads": [
      `(x: f32[N,3,6,6]) -> (y, z) {
        ${CONV}
        p = AveragePool<kernel_shape=[2,2]>(c)
        y = ${norm("p")}
        z = Relu(c)
      }`,
      "other nodes read the Conv",
    ],
    "an output": [
      `(x: f32[N,3,6,6]) -> (p, y) { ${CONV} p = AveragePool<kernel_shape=[2,2]>(c) y = ${norm("p")} }`,
      null,
    ],
    "the Conv itself, which other passes fuse": [graph(`${CONV}\n  y = ${norm("c")}`), null],
    "an addend behind counted padding": [
      graph(
        `${CONV}\n  p = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(c)\n  y = Add(p, $t: f32[4,1,1])`,
      ),
      "an addend does not pass AveragePool",
    ],
    "a last window that hangs over": [
      graph(
        `${CONV}\n  p = AveragePool<kernel_shape=[4,4], strides=[4,4], ceil_mode=1>(c)\n  y = Add(p, $t: f32[4,1,1])`,
      ),
      "an addend does not pass AveragePool",
    ],
    "a factor below zero behind Relu": [
      graph(`${CONV}\n  p = Relu(c)\n  y = Mul(p, ${FACTORS})`),
      "a factor that is not above zero does not pass Relu",
    ],
    "an addend behind Relu": [
      graph(`${CONV}\n  p = Relu(c)\n  y = Add(p, $t: f32[4,1,1])`),
      "an addend does not pass Relu",
    ],
    "factors along an axis that is averaged": [
      graph(`${CONV}\n  p = ReduceMean<axes=[1]>(c)\n  y = Mul(p, $s: f32[6])`),
      "the constant is not one number per channel of the Conv",
    ],
    "a branch that keeps its numbers": [
      graph(`c = Conv(x, $w: f32[4,3,1,1])\n  d = Sigmoid(x)\n  k = Concat<axis=1>(c, d)\n  y = ${norm("k", 7)}`),
      null,
    ],
    "a branch whose weight is shared": [
      `(x: f32[N,3,6,6]) -> (y, z) {
        c = Conv(x, $w: f32[4,3,1,1])
        d = Conv(x, $u: f32[2,3,1,1])
        k = Concat<axis=1>(c, d)
        y = ${norm("k", 6)}
        z = Conv(x, $u)
      }`,
      "in one branch of the Concat, other nodes read the weight",
    ],
    "a constant that widens": [graph("a = Mul(x, $p: f32[1])\n  y = Mul(a, $q: f32[2,1,1,1,1])"), null],
    "a table that two vectors would make": [
      graph("a = Mul(x, $p: f32[3,1,1])\n  y = Mul(a, $q: f32[6])"),
      "the folded constant would be larger than its parts",
    ],
    "numbers beyond the type": [
      graph("a = Mul(x, $p: f32[] = {1e30})\n  y = Mul(a, $q: f32[] = {1e30})"),
      "a folded constant leaves the range of its type",
    ],
    "a factor between addends that are one only per place": [
      graph("a = Add(x, $p: f32[])\n  b = Mul(a, $q: f32[3,1,1])\n  y = Add(b, $r: f32[6])"),
      null,
    ],
    integers: [graph("a = Mul(x, $p: i64[])\n  y = Mul(a, $q: i64[])", "x: i64[N]"), null],
    "the factor of attention scores": [
      graph(
        "p = Mul(x, $s: f32[] = {3.0})\n  q = MatMul(p, z)\n  m = Mul(q, $t: f32[] = {0.25})\n  y = Softmax(m)",
        "x: f32[N,3,6,6], z: f32[N,3,6,2]",
      ),
      null,
    ],
    "a factor in a body of what is outside": [
      `(x: f32[1,3,6,6], p: bool[]) -> (y) {
        a = Mul(x, $p1: f32[3,1,1])
        y = If<then_branch=() -> (t) { t = Mul(a, $q: f32[]) }, else_branch=() -> (e) { e = Relu(x) }>(p)
      }`,
      null,
    ],
  },
});

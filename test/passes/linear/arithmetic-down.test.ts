import { fuseArithmeticDown } from "../../../src/passes/linear/arithmetic-down.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4,6,6]"): string => `(${input}) -> (y) {
  ${lines}
}`;
const norm = (input: string, channels = 4): string =>
  `BatchNormalization(${input}, $g: f32[${channels}], $b: f32[${channels}], $m: f32[${channels}], $v: f32[${channels}] = {${Array.from({ length: channels }, (_, i) => 0.5 + i).join(", ")}})`;
const MATRIX = "x: f32[N,4]";
const GEMM = "y = Gemm<transB=1, alpha=0.5, beta=2.0>(a, $w: f32[3,4], $c: f32[3])";

testRewrite(fuseArithmeticDown, {
  rewrites: {
    "a normalization before a Conv that does not pad": graph(`a = ${norm("x")}\n  y = Conv(a, $w: f32[2,4,3,3])`),
    "a normalization before a Conv in groups": graph(
      `a = ${norm("x")}\n  y = Conv<group=2>(a, $w: f32[6,2,3,3], $c: f32[6])`,
    ),
    "a factor before a ConvTranspose in groups": graph(
      "a = Mul(x, $s: f32[4,1,1])\n  y = ConvTranspose<group=2, strides=[2,2]>(a, $w: f32[4,3,2,2], $c: f32[6])",
    ),
    "a normalization before a Gemm": graph(`a = ${norm("x")}\n  ${GEMM}`, MATRIX),
    "an addend before a Gemm": graph(`a = Sub($t: f32[4], x)\n  ${GEMM}`, MATRIX),
    "a factor before a MatMul": graph(
      "a = Div(x, $s: f32[6] = {1.0, 2.0, 4.0, 3.0, 5.0, 0.5})\n  y = MatMul(a, $w: f32[6,5])",
    ),
    "an addend before a MatMul of matrices": graph("a = Add(x, $t: f32[4])\n  y = MatMul(a, $w: f32[4,5])", MATRIX),
    "an addend that an Add awaits": graph(
      "a = Add(x, $t: f32[6])\n  p = MatMul(a, $w: f32[6,5])\n  y = Add(p, $c: f32[5])",
    ),
    "a normalization before Flatten": graph(
      `a = ${norm("x")}\n  f = Flatten(a)\n  y = Gemm(f, $w: f32[144,3], $c: f32[3])`,
    ),
    "a sign": graph("a = Neg(x)\n  y = Conv<pads=[1,1,1,1]>(a, $w: f32[2,4,3,3], $c: f32[2])"),
    "colours in the last place": graph(
      "a = Sub(x, $t: f32[3])\n  p = Transpose<perm=[0,3,1,2]>(a)\n  y = Conv(p, $w: f32[2,3,3,3])",
      "x: f32[N,6,6,3]",
    ),
    "a factor before an average": graph(
      "a = Mul(x, $s: f32[4,1,1])\n  p = GlobalAveragePool(a)\n  y = Conv(p, $w: f32[2,4,1,1])",
    ),
    "a factor before zeros": graph(
      "a = Mul(x, $s: f32[4,1,1])\n  p = Pad(a, $q: i64[8] = {0, 0, 1, 1, 0, 0, 1, 1})\n  y = Conv(p, $w: f32[2,4,1,1])",
    ),
    "a normalization before the mean of places": graph(
      `a = ${norm("x")}\n  p = ReduceMean<axes=[2,3], keepdims=0>(a)\n  y = Gemm(p, $w: f32[4,3])`,
    ),
  },
  leaves: {
    "a Conv that pads": [
      graph(`a = ${norm("x")}\n  y = Conv<pads=[1,1,1,1]>(a, $w: f32[2,4,3,3])`),
      "the Conv pads, and the border would lack the addend",
    ],
    "a ConvTranspose": [
      graph("a = Add(x, $t: f32[4,1,1])\n  y = ConvTranspose(a, $w: f32[4,3,2,2])"),
      "the ConvTranspose pads, and the border would lack the addend",
    ],
    "zeros around the addend": [
      graph(
        "a = Add(x, $t: f32[4,1,1])\n  p = Pad(a, $q: i64[8] = {0, 0, 1, 1, 0, 0, 1, 1})\n  y = Conv(p, $w: f32[2,4,1,1])",
      ),
      "an addend does not pass Pad",
    ],
    "an activation between": [
      graph(`a = ${norm("x")}\n  r = Relu(a)\n  y = Conv(r, $w: f32[2,4,1,1])`),
      "an addend does not pass Relu",
    ],
    "a factor that differs from place to place": [
      graph("a = Mul(x, $s: f32[6])\n  y = Conv(a, $w: f32[2,4,3,3])"),
      "the constant is not one number per input channel of the Conv",
    ],
    "a factor per row": [
      graph("a = Mul(x, $s: f32[6,1])\n  y = MatMul(a, $w: f32[6,5])"),
      "the constant is not one number per input channel of the MatMul",
    ],
    "an addend before a MatMul of many that stands alone": [
      graph("a = Add(x, $t: f32[6])\n  y = MatMul(a, $w: f32[6,5])"),
      null,
    ],
    "a weight that others read": [
      "(x: f32[N,4], z: f32[N,4]) -> (y, u) { a = Mul(x, $s: f32[4]) y = MatMul(a, $w: f32[4,5]) u = MatMul(z, $w) }",
      "other nodes read the weight",
    ],
    "a transposed input": [graph("a = Mul(x, $s: f32[4])\n  y = Gemm<transA=1>(a, $w: f32[2,3])", "x: f32[2,4]"), null],
    "arithmetic that others read": [
      "(x: f32[N,4]) -> (a, y) { a = Mul(x, $s: f32[4]) y = MatMul(a, $w: f32[4,5]) }",
      null,
    ],
    "a weight that is no constant": [
      "(x: f32[N,4], w: f32[4,5]) -> (y) { a = Mul(x, $s: f32[4]) y = MatMul(a, w) }",
      null,
    ],
    "numbers beyond the type": [
      graph("a = Mul(x, $s: f32[] = {1e38})\n  y = MatMul(a, $w: f32[4,1] = {1e5})", MATRIX),
      "folded weights leave the range of their type",
    ],
  },
});

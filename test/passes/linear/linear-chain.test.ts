import { fuseLinearChain, joinLinearChain } from "../../../src/passes/linear/linear-chain.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4,6,6]"): string => `(${input}) -> (y) {
  ${lines}
}`;
const MATRIX = "x: f32[N,4]";

testRewrite(fuseLinearChain, {
  rewrites: {
    "two Gemm": graph(
      "a = Gemm<transB=1, alpha=0.5>(x, $w: f32[6,4], $wb: f32[6])\n  y = Gemm<beta=2.0>(a, $u: f32[6,3], $ub: f32[3])",
      MATRIX,
    ),
    "two Gemm without bias": graph("a = Gemm(x, $w: f32[4,6])\n  y = Gemm(a, $u: f32[6,3])", MATRIX),
    "two MatMul of many": graph("a = MatMul(x, $w: f32[6,6])\n  y = MatMul(a, $u: f32[6,2])"),
    "a MatMul and a Gemm": graph("a = MatMul(x, $w: f32[4,6])\n  y = Gemm(a, $u: f32[6,3], $ub: f32[3])", MATRIX),
    "a Conv and one of kernel 1": graph(
      "a = Conv<pads=[1,1,1,1], strides=[2,2]>(x, $w: f32[8,4,3,3], $wb: f32[8])\n  y = Conv(a, $u: f32[3,8,1,1], $ub: f32[3])",
    ),
    "strides of both": graph(
      "a = Conv<pads=[1,1,1,1], strides=[2,1]>(x, $w: f32[8,4,3,3], $wb: f32[8])\n  y = Conv<strides=[2,3]>(a, $u: f32[3,8,1,1])",
    ),
    "a Conv of kernel 1 without bias and one that pads": graph(
      "a = Conv(x, $w: f32[8,4,1,1])\n  y = Conv<pads=[1,1,1,1]>(a, $u: f32[3,8,3,3], $ub: f32[3])",
    ),
    "a Conv of kernel 1 with bias and one that does not pad": graph(
      "a = Conv(x, $w: f32[8,4,1,1], $wb: f32[8])\n  y = Conv<dilations=[2,2]>(a, $u: f32[3,8,3,3], $ub: f32[3])",
    ),
    doubles: graph("d = Cast<to=11>(x)\n  a = MatMul(d, $w: f64[4,6])\n  y = MatMul(a, $u: f64[6,2])", MATRIX),
  },
  leaves: {
    "a bottleneck": [graph("a = MatMul(x, $w: f32[6,1])\n  y = MatMul(a, $u: f32[1,6])"), null],
    "a depthwise Conv": [graph("a = Conv<group=4>(x, $w: f32[4,1,3,3])\n  y = Conv(a, $u: f32[3,4,1,1])"), null],
    "a bias that the border would lack": [
      graph("a = Conv(x, $w: f32[8,4,1,1], $wb: f32[8])\n  y = Conv<pads=[1,1,1,1]>(a, $u: f32[3,8,3,3], $ub: f32[3])"),
      "the second Conv pads, and the border would lack the bias of the first",
    ],
    "padding between": [
      graph("a = Conv(x, $w: f32[8,4,1,1], $wb: f32[8])\n  y = Conv<pads=[1,1,1,1]>(a, $u: f32[3,8,1,1], $ub: f32[3])"),
      "the second Conv pads, and the border would lack the bias of the first",
    ],
    "two windows": [graph("a = Conv(x, $w: f32[4,4,3,3])\n  y = Conv(a, $u: f32[4,4,3,3])"), null],
    "a first that another node reads": [
      "(x: f32[N,4]) -> (a, y) { a = MatMul(x, $w: f32[4,6]) y = MatMul(a, $u: f32[6,2]) }",
      null,
    ],
    "weights that other nodes read": [
      "(x: f32[N,4], z: f32[N,4]) -> (y, o) { a = MatMul(x, $w: f32[4,4]) y = MatMul(a, $u: f32[4,4]) b = Relu(z) c = MatMul(b, $w) d = Relu(c) o = MatMul(d, $u) }",
      null,
    ],
    "a transposed input": [
      graph("a = Gemm<transA=1>(x, $w: f32[2,6])\n  y = Gemm(a, $u: f32[6,3])", "x: f32[2,4]"),
      "an input is transposed",
    ],
    "a bias for every element": [
      graph("a = Gemm(x, $w: f32[4,6], $wb: f32[2,6])\n  y = Gemm(a, $u: f32[6,3])", "x: f32[2,4]"),
      "the bias is not one number per channel",
    ],
    "a computed weight": ["(x: f32[N,4], w: f32[4,6]) -> (y) { a = MatMul(x, w) y = MatMul(a, $u: f32[6,2]) }", null],
    "padding that depends on the stride": [
      graph('a = Conv<auto_pad="SAME_UPPER">(x, $w: f32[8,4,3,3])\n  y = Conv<strides=[2,2]>(a, $u: f32[3,8,1,1])'),
      "auto_pad is SAME_UPPER",
    ],
  },
});

testRewrite(joinLinearChain, {
  rewrites: {
    "a bottleneck whose product is half as large again": graph(
      "a = Conv(x, $w: f32[4,8,1,1], $wb: f32[4])\n  y = Conv(a, $u: f32[24,4,1,1], $ub: f32[24])",
      "x: f32[N,8,6,6]",
    ),
    "a narrow Gemm": graph("a = Gemm(x, $w: f32[8,4], $wb: f32[4])\n  y = Gemm(a, $u: f32[4,24])", "x: f32[N,8]"),
  },
  leaves: {
    "a bottleneck that saves much": [
      graph("a = Conv(x, $w: f32[2,8,1,1])\n  y = Conv(a, $u: f32[24,2,1,1])", "x: f32[N,8,6,6]"),
      null,
    ],
    "an activation between": [
      graph("a = Conv(x, $w: f32[4,8,1,1])\n  r = Relu(a)\n  y = Conv(r, $u: f32[24,4,1,1])", "x: f32[N,8,6,6]"),
      null,
    ],
    "a residual that reads what is between": [
      "(x: f32[N,8,6,6]) -> (y, z) { a = Conv(x, $w: f32[4,8,1,1]) y = Conv(a, $u: f32[24,4,1,1]) z = Add(a, a) }",
      null,
    ],
  },
});

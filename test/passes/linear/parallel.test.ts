import { fuseParallelConcat } from "../../../src/passes/linear/parallel-concat.js";
import { fuseParallelSum } from "../../../src/passes/linear/parallel-sum.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4,6,6]"): string => `(${input}) -> (y) {
  ${lines}
}`;
const THREE = "a = Conv<pads=[1,1,1,1]>(x, $w: f32[4,4,3,3], $wb: f32[4])";
const ONE = "b = Conv(x, $u: f32[4,4,1,1], $ub: f32[4])";
const NORM = "BatchNormalization(x, $g: f32[4], $beta: f32[4], $m: f32[4], $v: f32[4] = {0.5, 1.0, 2.0, 3.0})";

testRewrite(fuseParallelSum, {
  rewrites: {
    "a window in a larger one": graph(`${THREE}\n  ${ONE}\n  y = Add(a, b)`),
    "the larger one second": graph(`${THREE}\n  ${ONE}\n  y = Add(b, a)`),
    "three branches, one a normalization": graph(`${THREE}\n  ${ONE}\n  c = ${NORM}\n  d = Add(a, b)\n  y = Add(d, c)`),
    "branches apart in a tree": graph(`${THREE}\n  ${ONE}\n  c = Relu(x)\n  d = Add(c, a)\n  y = Add(b, d)`),
    "branches of a Sum": graph(`${THREE}\n  ${ONE}\n  c = Relu(x)\n  d = Tanh(x)\n  y = Sum(c, a, d, b)`),
    strides: graph(
      "a = Conv<pads=[1,1,1,1], strides=[2,2]>(x, $w: f32[2,4,3,3])\n  b = Conv<strides=[2,2]>(x, $u: f32[2,4,1,1])\n  y = Add(a, b)",
    ),
    "rows and columns in a square": graph(
      `${THREE}\n  b = Conv<pads=[0,1,0,1]>(x, $u: f32[4,4,1,3])\n  c = Conv<pads=[1,0,1,0]>(x, $t: f32[4,4,3,1])\n  d = Add(a, b)\n  y = Add(d, c)`,
    ),
    "a dilated window in a dense one": graph(
      "a = Conv<pads=[2,2,2,2]>(x, $w: f32[2,4,5,5])\n  b = Conv<pads=[2,2,2,2], dilations=[2,2]>(x, $u: f32[2,4,3,3])\n  y = Add(a, b)",
    ),
    "padding on one side": graph(
      "a = Conv<pads=[2,1,0,1]>(x, $w: f32[2,4,3,3])\n  b = Conv(x, $u: f32[2,4,1,1])\n  y = Add(a, b)",
    ),
    "a depthwise Conv and a factor": graph(
      "a = Conv<pads=[1,1,1,1], group=4>(x, $w: f32[4,1,3,3])\n  b = Mul(x, $s: f32[4,1,1])\n  y = Add(a, b)",
    ),
    "finer groups in coarser ones": graph(
      "a = Conv<pads=[1,1,1,1], group=2>(x, $w: f32[8,2,3,3])\n  b = Conv<pads=[1,1,1,1], group=4>(x, $u: f32[8,1,3,3], $ub: f32[8])\n  y = Add(a, b)",
    ),
    "products of matrices": graph(
      "a = Gemm<transB=1, alpha=0.5>(x, $w: f32[3,4], $wb: f32[3])\n  b = MatMul(x, $u: f32[4,3])\n  y = Add(a, b)",
      "x: f32[N,4]",
    ),
    "products of many matrices": graph("a = MatMul(x, $w: f32[6,3])\n  b = MatMul(x, $u: f32[6,3])\n  y = Add(a, b)"),
  },
  leaves: {
    "x itself": [graph(`${THREE}\n  y = Add(a, x)`), null],
    "other inputs": [
      graph(`${THREE}\n  b = Conv(z, $u: f32[4,4,1,1])\n  y = Add(a, b)`, "x: f32[N,4,6,6], z: f32[N,4,6,6]"),
      null,
    ],
    "a window beside the other": [
      graph(
        "a = Conv<pads=[1,0,1,0]>(x, $w: f32[2,4,3,1])\n  b = Conv<pads=[0,1,0,1]>(x, $u: f32[2,4,1,3])\n  y = Add(a, b)",
      ),
      null,
    ],
    "other strides on a row that is one window": [
      graph(
        "a = Conv<strides=[2,2]>(x, $w: f32[2,4,3,3])\n  b = Conv(x, $u: f32[2,4,3,3])\n  y = Add(a, b)",
        "x: f32[N,4,3,3]",
      ),
      null,
    ],
    "a sum that broadcasts": [
      graph("a = Conv(x, $w: f32[2,4,6,6])\n  b = Conv(x, $u: f32[2,4,1,1])\n  y = Add(a, b)"),
      null,
    ],
    "one channel beside many": [
      graph("a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[1,4,1,1])\n  y = Add(a, b)"),
      null,
    ],
    "coarser groups of a smaller window": [
      graph("a = Conv<pads=[1,1,1,1], group=4>(x, $w: f32[4,1,3,3])\n  b = Conv(x, $u: f32[4,4,1,1])\n  y = Add(a, b)"),
      null,
    ],
    "a branch that another node reads": [`(x: f32[N,4,6,6]) -> (y, b) { ${THREE} ${ONE} y = Add(a, b) }`, null],
    "a weight that another node reads": [
      `(x: f32[N,4,6,6], z: f32[N,4,6,6]) -> (y, o) { ${THREE} ${ONE} y = Add(a, b) o = Conv(z, $u) }`,
      null,
    ],
    "padding that depends on the size": [
      graph(`a = Conv<auto_pad="SAME_UPPER">(x, $w: f32[4,4,3,3])\n  ${ONE}\n  y = Add(a, b)`),
      null,
    ],
    "an addend for a product of many": [
      graph("a = MatMul(x, $w: f32[6,6])\n  b = Add(x, $t: f32[6])\n  y = Add(a, b)"),
      null,
    ],
  },
});

testRewrite(fuseParallelConcat, {
  rewrites: {
    "two Conv": graph(
      "a = Conv<pads=[1,1,1,1]>(x, $w: f32[2,4,3,3], $wb: f32[2])\n  b = Conv<pads=[1,1,1,1]>(x, $u: f32[3,4,3,3])\n  y = Concat<axis=1>(a, b)",
    ),
    "two Conv with activations": graph(
      "a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[3,4,1,1], $ub: f32[3])\n  r = LeakyRelu<alpha=0.1>(a)\n  s = LeakyRelu<alpha=0.1>(b)\n  y = Concat<axis=-3>(r, s)",
    ),
    "neighbours among others": graph(
      "a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[3,4,1,1])\n  y = Concat<axis=1>(x, a, b, x)",
    ),
    "products of matrices": graph(
      "a = Gemm(x, $w: f32[4,3], $wb: f32[3])\n  b = Gemm<transB=1>(x, $u: f32[2,4])\n  y = Concat<axis=1>(a, b)",
      "x: f32[N,4]",
    ),
    "products of many matrices": graph(
      "a = MatMul(x, $w: f32[6,3])\n  b = MatMul(x, $u: f32[6,2])\n  y = Concat<axis=-1>(a, b)",
    ),
  },
  leaves: {
    "rows side by side": [
      graph("a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[2,4,1,1])\n  y = Concat<axis=2>(a, b)"),
      null,
    ],
    "other windows": [
      graph(
        "a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv<pads=[1,1,1,1]>(x, $u: f32[2,4,3,3])\n  y = Concat<axis=1>(a, b)",
      ),
      null,
    ],
    "other activations": [
      graph(
        "a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[2,4,1,1])\n  r = LeakyRelu<alpha=0.1>(a)\n  s = LeakyRelu<alpha=0.2>(b)\n  y = Concat<axis=1>(r, s)",
      ),
      null,
    ],
    groups: [
      graph(
        "a = Conv<group=2>(x, $w: f32[2,2,1,1])\n  b = Conv<group=2>(x, $u: f32[2,2,1,1])\n  y = Concat<axis=1>(a, b)",
      ),
      null,
    ],
    "a Conv that another node reads": [
      "(x: f32[N,4,6,6]) -> (y, a) { a = Conv(x, $w: f32[2,4,1,1]) b = Conv(x, $u: f32[2,4,1,1]) y = Concat<axis=1>(a, b) }",
      null,
    ],
    "a product of no outputs": [
      graph("a = Conv(x, $w: f32[0,4,1,1])\n  b = Conv(x, $u: f32[2,4,1,1])\n  y = Concat<axis=1>(a, b)"),
      "a product of no outputs has nothing to join",
    ],
    "strangers between": [
      graph("a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[2,4,1,1])\n  y = Concat<axis=1>(a, x, b)"),
      null,
    ],
    "an activation of all channels": [
      graph(
        "a = Conv(x, $w: f32[2,4,1,1])\n  b = Conv(x, $u: f32[2,4,1,1])\n  r = Softmax<axis=1>(a)\n  s = Softmax<axis=1>(b)\n  y = Concat<axis=1>(r, s)",
      ),
      null,
    ],
  },
});

import { fuseMulAddConv } from "../../../src/passes/fuse/mul-add-conv.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4,6,6]"): string => `(${input}) -> (y) {
  ${lines}
}`;
const PADDED = "y = Conv<pads=[1,1,1,1]>(a, $w: f32[6,4,3,3], $b: f32[6])";
const PLAIN = "y = Conv(a, $w: f32[6,4,3,3], $b: f32[6])";
const FACTORS = "$s: f32[4,1,1] = {0.5, -2.0, 0.25, 3.0}";

testRewrite(fuseMulAddConv, {
  rewrites: {
    "a factor before a Conv that pads": graph(`a = Mul(x, $s: f32[1] = {0.17})\n  ${PADDED}`),
    "a factor per input channel": graph(`a = Mul(${FACTORS}, x)\n  ${PLAIN}`),
    "a divisor": graph(`a = Div(x, $s: f32[] = {6.0})\n  ${PADDED}`),
    "an addend before a Conv that does not pad": graph(`a = Add(x, $t: f32[1,4,1,1])\n  ${PLAIN}`),
    "an addend before a Conv without bias": graph("a = Sub(x, $t: f32[1])\n  y = Conv(a, $w: f32[6,4,3,3])"),
    "a factor and an addend before a Conv that pads": graph(
      `m = Mul(x, ${FACTORS})\n  a = Add(m, $t: f32[4,1,1])\n  ${PADDED}`,
    ),
    "a factor per channel before a Conv in groups": graph(
      `a = Mul(x, ${FACTORS})\n  y = Conv<group=2, pads=[1,1,1,1]>(a, $w: f32[6,2,3,3], $b: f32[6])`,
    ),
    "an addend per channel before a depthwise Conv": graph(
      "a = Add(x, $t: f32[4,1,1])\n  y = Conv<group=4>(a, $w: f32[8,1,3,3], $b: f32[8])",
    ),
    "an addend, and another Conv reads the weight": `(x: f32[N,4,6,6]) -> (y, z) {
      a = Add(x, $t: f32[1])
      y = Conv(a, $w: f32[6,4,3,3])
      z = Conv(x, $w)
    }`,
    "a Conv that states that nothing is padded": graph(
      'a = Add(x, $t: f32[4,1,1])\n  y = Conv<auto_pad="VALID">(a, $w: f32[6,4,3,3])',
    ),
  },
  leaves: {
    "the Conv pads and the addend stands alone": [
      graph(`a = Add(x, $t: f32[4,1,1])\n  ${PADDED}`),
      "the Conv pads, and the border would lack the addend",
    ],
    "the Conv pads by auto_pad": [
      graph('a = Add(x, $t: f32[4,1,1])\n  y = Conv<auto_pad="SAME_UPPER">(a, $w: f32[6,4,3,3])'),
      "the Conv pads, and the border would lack the addend",
    ],
    "a factor is zero": [
      graph(`m = Mul(x, $s: f32[4,1,1] = {1.0, 0.0, 1.0, 1.0})\n  a = Add(m, $t: f32[1] = {1.0})\n  ${PADDED}`),
      "the addend cannot be divided by the factor",
    ],
    "another node reads the product": [
      "(x: f32[N,4,6,6]) -> (y, z) {\n  a = Mul(x, $s: f32[1])\n  y = Conv(a, $w: f32[6,4,3,3])\n  z = Relu(a)\n}",
      null,
    ],
    "the factor is computed": [graph(`a = Mul(x, s)\n  ${PLAIN}`, "x: f32[N,4,6,6], s: f32[1]"), null],
    "the factor differs by position": [
      graph(`a = Mul(x, $s: f32[6,6])\n  ${PLAIN}`),
      "the constant is not one number per channel",
    ],
    "the factors make channels of one": [
      graph(`a = Mul(x, ${FACTORS})\n  ${PLAIN}`, "x: f32[N,1,6,6]"),
      "the constant may widen what it is combined with",
    ],
    "the factors of a sum make channels of one": [
      graph(`m = Mul(x, ${FACTORS})\n  a = Add(m, $t: f32[1])\n  ${PADDED}`, "x: f32[N,1,6,6]"),
      "the constant may widen what it is combined with",
    ],
    "the weight is computed": [
      graph("a = Mul(x, $s: f32[1])\n  y = Conv(a, w)", "x: f32[N,4,6,6], w: f32[6,4,3,3]"),
      "the weight is no constant",
    ],
    "another Conv reads the weight": [
      "(x: f32[N,4,6,6]) -> (y, z) {\n  a = Mul(x, $s: f32[1])\n  y = Conv(a, $w: f32[6,4,3,3])\n  z = Conv(x, $w)\n}",
      "other nodes read the weight",
    ],
  },
});

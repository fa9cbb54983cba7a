import { fuseGemmSum } from "../../../src/passes/linear/gemm-sum.js";
import { testRewrite } from "../../support/test-rewrite.js";

const sum = (one: string, other: string, last = "y = Add(g, h)", outputs = "y"): string =>
  `(a: f32[N,3], b: f32[N,4], c: f32[1,5]) -> (${outputs}) {
    g = Gemm${one}
    h = Gemm${other}
    ${last}
  }`;
const BIASED = "(a, $v: f32[3,5], $p: f32[5])";

testRewrite(fuseGemmSum, {
  rewrites: {
    "two with addends": sum(BIASED, "(b, $w: f32[4,5], $q: f32[5])"),
    "two without": sum("(a, $v: f32[3,5])", "(b, $w: f32[4,5])"),
    "factors of all kinds": sum(
      "<alpha=0.5, beta=2.0, transB=1>(a, $v: f32[5,3], $p: f32[1,5])",
      "<alpha=-3.0, beta=0.25>(b, $w: f32[4,5], $q: f32[1] = {3.0})",
    ),
  },
  leaves: {
    "one with itself": [sum(BIASED, "(b, $w: f32[4,5])", "y = Add(g, g) z = Relu(h)", "y, z"), null],
    "one that others read": [sum(BIASED, "(b, $w: f32[4,5])", "y = Add(g, h) z = Relu(h)", "y, z"), null],
    "an addend of the run": [sum("(a, $v: f32[3,5], c)", "(b, $w: f32[4,5])"), "the bias is no constant"],
    "one that is stretched": [
      `(a: f32[N,3], b: f32[1,4]) -> (y) {
        g = Gemm${BIASED}
        h = Gemm(b, $w: f32[4,5])
        y = Add(g, h)
      }`,
      null,
    ],
  },
});

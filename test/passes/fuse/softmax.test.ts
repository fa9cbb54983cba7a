import { fuseLogSoftmax, fuseSoftmax } from "../../../src/passes/fuse/softmax.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4]"): string => `(${input}) -> (y) {\n${lines}\n}`;
const SHARES = "m = ReduceMax<axes=[-1]>(x) z = Sub(x, m) e = Exp(z) s = ReduceSum(e, $a: i64[1] = {-1})";
const WRITTEN_OUT = "over an axis before the last one, the operators written out are faster";

testRewrite(fuseSoftmax, {
  rewrites: {
    "a share of a sum": graph(`${SHARES} y = Div(e, s)`),
    "axes counted from the front": graph(
      `${SHARES.replace("axes=[-1]", "axes=[1]").replace("{-1}", "{1}")} y = Div(e, s)`,
    ),
    "one without a maximum": graph("e = Exp(x) s = ReduceSum(e, $a: i64[1] = {-1}) y = Div(e, s)"),
    "a product by the Reciprocal": graph(`${SHARES} i = Reciprocal(s) y = Mul(i, e)`),
    "a product by one over the sum": graph(`${SHARES} i = Div($one: f32[1] = {1.0}, s) y = Mul(e, i)`),
    "another difference": graph(
      "h = Abs(x) z = Sub(x, h) e = Exp(z) s = ReduceSum(e, $a: i64[1] = {-1}) y = Div(e, s)",
    ),
    "the power of a LogSoftmax": graph("l = LogSoftmax<axis=0>(x) y = Exp(l)"),
  },
  leaves: {
    "another axis": [
      graph(`${SHARES.replace("axes=[-1]", "axes=[0]").replace("{-1}", "{0}")} y = Div(e, s)`),
      WRITTEN_OUT,
    ],
    "all axes": [graph("e = Exp(x) s = ReduceSum(e) y = Div(e, s)"), null],
    "a sum that loses its axis": [
      graph("e = Exp(x) s = ReduceSum<keepdims=0>(e, $a: i64[1] = {-1}) y = Div(e, s)", "x: f32[4,4]"),
      null,
    ],
    "powers that somebody else reads": [`(x: f32[N,4]) -> (y, e) { ${SHARES} y = Div(e, s) }`, null],
    "the sum of others": [graph(`${SHARES} q = Exp(x) y = Div(q, s)`), null],
    "the sum over the share": [graph(`${SHARES} y = Div(s, e)`), null],
    "opset 12": [graph("e = Exp(x) s = ReduceSum<axes=[-1]>(e) y = Div(e, s)"), null, { opset: 12 }],
    float64: [graph("e = Exp(x) s = ReduceSum(e, $a: i64[1] = {-1}) y = Div(e, s)", "x: f64[N,4]"), "only f32 and f16"],
    "a LogSoftmax that somebody else reads": ["(x: f32[N,4]) -> (y, l) { l = LogSoftmax(x) y = Exp(l) }", null],
  },
});

testRewrite(fuseLogSoftmax, {
  rewrites: {
    "less the logarithm of the sum": graph(`${SHARES} l = Log(s) y = Sub(z, l)`),
    "one without a maximum": graph("e = Exp(x) s = ReduceSum(e, $a: i64[1] = {-1}) l = Log(s) y = Sub(x, l)"),
    "less ReduceLogSumExp": graph("l = ReduceLogSumExp<axes=[-1]>(x) y = Sub(x, l)"),
    "the logarithm of a Softmax": graph("s = Softmax<axis=1>(x) y = Log(s)", "x: f32[N,4,2]"),
    "a maximum over another axis, which stays": graph(
      `${SHARES.replace("axes=[-1]", "axes=[0]")} l = Log(s) y = Sub(z, l)`,
    ),
  },
  leaves: {
    "another axis": [
      graph(`${SHARES.replace("axes=[-1]", "axes=[0]").replace("{-1}", "{0}")} l = Log(s) y = Sub(z, l)`),
      WRITTEN_OUT,
    ],
    "the sum of other powers": [graph(`${SHARES} l = Log(s) y = Sub(x, l)`), null],
    "less ReduceLogSumExp of another": [
      "(x: f32[N,4], z: f32[N,4]) -> (y) { l = ReduceLogSumExp<axes=[-1]>(z) y = Sub(x, l) }",
      null,
    ],
    "ReduceLogSumExp without its axis": [
      graph("l = ReduceLogSumExp<axes=[-1], keepdims=0>(x) y = Sub(x, l)", "x: f32[4,4]"),
      null,
    ],
    "a Softmax that somebody else reads": ["(x: f32[N,4]) -> (y, s) { s = Softmax(x) y = Log(s) }", null],
  },
});

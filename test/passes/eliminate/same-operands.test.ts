import { eliminateSameOperands } from "../../../src/passes/eliminate/same-operands.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, inputs = "x: f32[2,4], i: i64[2,4], c: bool[2,4]"): string =>
  `(${inputs}) -> (y) {\n${lines}\n}`;

testRewrite(eliminateSameOperands, {
  rewrites: {
    "the larger of a tensor and itself": graph("r = Relu(x) m = Max(r, r, r) y = Neg(m)"),
    "a condition and itself": graph("n = Not(c) y = Or(n, n)"),
    "less than itself": graph("l = Less(x, x) y = Or(l, c)"),
    "one or the other of a condition and itself": graph("f = Xor(c, c) y = Cast<to=1>(f)"),
    "integers equal to themselves": graph("e = Equal(i, i) y = And(e, c)"),
    "integers less themselves": graph("d = Sub(i, i) y = Add(d, $one: i64[4] = {1, 2, 3, 4})"),
    "small integers less themselves": graph("n = Cast<to=6>(i) d = Sub(n, n) y = Cast<to=7>(d)"),
  },
  leaves: {
    "another operand": [graph("m = Max(x, x, $one: f32[] = {1.0}) y = Neg(m)"), null],
    "the difference of floats, which can be NaN": [graph("y = Sub(x, x)"), null],
    "floats equal to themselves, which NaN is not": [graph("y = Equal(x, x)"), null],
    "floats that are no less than themselves": [graph("y = GreaterOrEqual(x, x)"), null],
    "a quotient, which can fail": [graph("y = Div(i, i)"), null],
    "what has no constant size": [graph("y = Less(x, x)", "x: f32[N,4]"), "the size of the constant is not known"],
    "a large result": [graph("y = Less(x, x)", "x: f32[512,512]"), "the constant would make the model larger"],
  },
});

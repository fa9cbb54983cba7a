import {
  fuseCelu,
  fuseMish,
  fuseSelu,
  fuseShiftedTanh,
  fuseSigmoid,
  fuseSoftplusThreshold,
  fuseSoftsign,
  fuseTanh,
} from "../../../src/passes/fuse/smooth-activation.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, input = "x: f32[N,4]"): string => `(${input}) -> (y) {\n${lines}\n}`;
const [ONE, TWO] = ["$one: f32[] = {1.0}", "$two: f32[] = {2.0}"];
const DECAY = `n = Neg(x) e = Exp(n) d = Add(e, ${ONE})`;

testRewrite(fuseSigmoid, {
  rewrites: {
    "one over": graph(`${DECAY} y = Div($top: f32[] = {1.0}, d)`),
    "a Reciprocal": graph(`n = Mul(x, $minus: f32[] = {-1.0}) e = Exp(n) d = Add(${ONE}, e) y = Reciprocal(d)`),
    "a power over one more": graph(`e = Exp(x) d = Add(e, ${ONE}) y = Div(e, d)`),
  },
  leaves: {
    "two over": [graph(`${DECAY} y = Div(${TWO}, d)`), null],
    "two more": [graph(`n = Neg(x) e = Exp(n) d = Add(e, ${TWO}) y = Reciprocal(d)`), null],
    "a power that grows": [graph(`e = Exp(x) d = Add(e, ${ONE}) y = Reciprocal(d)`), null],
    "a power that somebody else reads": [`(x: f32[N,4]) -> (y, e) { ${DECAY} y = Reciprocal(d) }`, null],
    "a share that somebody else reads": [
      `(x: f32[N,4]) -> (y, e) { e = Exp(x) d = Add(e, ${ONE}) y = Div(e, d) }`,
      null,
    ],
    "a one that adds an axis": [graph(`${DECAY} y = Div($top: f32[1,1,1] = {1.0}, d)`), null],
  },
});

const TWICE = `t = Mul(x, ${TWO}) s = Sigmoid(t)`;

testRewrite(fuseTanh, {
  rewrites: {
    "twice a sigmoid of twice x, less one": graph(`${TWICE} m = Mul(s, $b: f32[] = {2.0}) y = Sub(m, ${ONE})`),
    "a sum": graph(`${TWICE} m = Mul($b: f32[] = {2.0}, s) y = Add(m, $minus: f32[] = {-1.0})`),
  },
  leaves: {
    "a sigmoid of x": [graph(`s = Sigmoid(x) m = Mul(s, ${TWO}) y = Sub(m, ${ONE})`), null],
    "less two": [graph(`${TWICE} m = Mul(s, $b: f32[] = {2.0}) y = Sub(m, $c: f32[] = {2.0})`), null],
    "one less the sigmoid": [graph(`${TWICE} m = Mul(s, $b: f32[] = {2.0}) y = Sub(${ONE}, m)`), null],
  },
});

const WEIGHTED = "m = MatMul(x, $w: f32[4,3]) t = Tanh(m)";

testRewrite(fuseShiftedTanh, {
  rewrites: {
    "half of it and a half": graph(`${WEIGHTED} h = Mul(t, $half: f32[] = {0.5}) y = Add(h, $half)`),
    "one more, halved and scaled": graph(
      `${WEIGHTED} a = Add(${ONE}, t) d = Div(a, ${TWO}) y = Mul(d, $s: f32[] = {255})`,
    ),
    "one more": graph(`${WEIGHTED} y = Add(t, ${ONE})`),
  },
  leaves: {
    "one less": [graph(`${WEIGHTED} y = Sub(t, ${ONE})`), null],
    "one less it": [graph(`${WEIGHTED} y = Sub(${ONE}, t)`), null],
    "a third more": [graph(`${WEIGHTED} h = Mul(t, $half: f32[] = {0.5}) y = Add(h, $third: f32[] = {0.3})`), null],
    "a one per channel": [graph(`${WEIGHTED} y = Add(t, $ones: f32[3] = {1, 1, 1})`), null],
    "that of something else than weighted sums": [graph(`s = Sin(x) t = Tanh(s) y = Add(t, ${ONE})`), null],
    "one that somebody else reads": [`(x: f32[N,4]) -> (y, t) { ${WEIGHTED} y = Add(t, ${ONE}) }`, null],
    "sums that somebody else reads": [`(x: f32[N,4]) -> (y, m) { ${WEIGHTED} y = Add(t, ${ONE}) }`, null],
    "a weight that somebody else reads": [
      `(x: f32[N,4]) -> (y, z) { ${WEIGHTED} y = Add(t, ${ONE}) n = Neg(x) z = MatMul(n, $w) }`,
      null,
    ],
  },
});

testRewrite(fuseSoftsign, {
  rewrites: { "a quotient": graph(`a = Abs(x) d = Add(${ONE}, a) y = Div(x, d)`) },
  leaves: {
    "two more": [graph(`a = Abs(x) d = Add(a, ${TWO}) y = Div(x, d)`), null],
    "another tensor": [`(x: f32[N,4], z: f32[N,4]) -> (y) { a = Abs(z) d = Add(a, ${ONE}) y = Div(x, d) }`, null],
    "a magnitude that somebody else reads": [
      `(x: f32[N,4]) -> (y, a) { a = Abs(x) d = Add(a, ${ONE}) y = Div(x, d) }`,
      null,
    ],
  },
});

testRewrite(fuseMish, {
  rewrites: { "a product": [graph("s = Softplus(x) t = Tanh(s) y = Mul(t, x)"), { opset: 18 }] },
  leaves: {
    "opset 17": [graph("s = Softplus(x) t = Tanh(s) y = Mul(t, x)"), null],
    "another tensor": [
      "(x: f32[N,4], z: f32[N,4]) -> (y) { s = Softplus(z) t = Tanh(s) y = Mul(t, x) }",
      null,
      { opset: 18 },
    ],
    "a gate that somebody else reads": [
      "(x: f32[N,4]) -> (y, t) { s = Softplus(x) t = Tanh(s) y = Mul(t, x) }",
      null,
      { opset: 18 },
    ],
  },
});

testRewrite(fuseCelu, {
  rewrites: {
    "a quotient and a product": graph(`d = Div(x, ${TWO}) e = Elu(d) y = Mul(e, $b: f32[] = {2.0})`),
    "a product and a quotient": graph(
      `d = Mul(x, $half: f32[] = {0.5}) e = Elu<alpha=1.0>(d) y = Div(e, $b: f32[] = {0.5})`,
    ),
  },
  leaves: {
    "another factor": [graph(`d = Div(x, ${TWO}) e = Elu(d) y = Mul(e, $b: f32[] = {3.0})`), null],
    "another Elu": [graph(`d = Div(x, ${TWO}) e = Elu<alpha=2.0>(d) y = Mul(e, $b: f32[] = {2.0})`), null],
    "a factor below zero": [graph(`d = Div(x, $a: f32[] = {-2.0}) e = Elu(d) y = Mul(e, $b: f32[] = {-2.0})`), null],
  },
});

testRewrite(fuseSelu, {
  rewrites: { "a multiple of Elu": graph(`e = Elu<alpha=1.5>(x) y = Mul(${TWO}, e)`) },
  leaves: {
    "a sum": [graph(`e = Elu(x) y = Add(${TWO}, e)`), null],
    "one number per element": [graph("e = Elu(x) y = Mul(e, $b: f32[4])"), null],
    "an Elu that somebody else reads": [`(x: f32[N,4]) -> (y, e) { e = Elu(x) y = Mul(e, ${TWO}) }`, null],
  },
});

testRewrite(fuseSoftplusThreshold, {
  rewrites: {
    "x above 20": graph("s = Softplus(x) c = Greater(x, $t: f32[] = {20.0}) y = Where(c, x, s)"),
  },
  leaves: {
    "x above 2": [graph("s = Softplus(x) c = Greater(x, $t: f32[] = {2.0}) y = Where(c, x, s)"), null],
    "x below 20": [graph("s = Softplus(x) c = Less(x, $t: f32[] = {20.0}) y = Where(c, x, s)"), null],
    "another tensor": [
      "(x: f32[N,4], z: f32[N,4]) -> (y) { s = Softplus(z) c = Greater(x, $t: f32[] = {20.0}) y = Where(c, x, s) }",
      null,
    ],
  },
});

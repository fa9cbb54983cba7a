import { unrollLoop } from "../../../src/passes/control/unroll-loop.js";
import { testRewrite } from "../../support/test-rewrite.js";

const loop = (body: string, count: string, condition = "$c: bool[] = {1}"): string =>
  `(x: f32[N,3]) -> (y) { y = Loop<body=(i: i64[], k: bool[], s: f32[N,3]) -> ${body}>(${count}, ${condition}, x) }`;

const adding = "(k, t) { f = Cast<to=1>(i) g = Add(s, f) t = Sin(g) }";

testRewrite(unrollLoop, {
  rewrites: {
    "three iterations": loop(adding, "$n: i64[] = {3}"),
    "one iteration, counted by one element": loop(adding, "$n: i64[1] = {1}"),
    "a condition that an Identity hands on": loop("(c, t) { c = Identity(k) t = Sin(s) }", "$n: i64[] = {3}"),
    "no iteration": loop(adding, "$n: i64[] = {0}"),
    "a negative number of iterations": loop(adding, "$n: i64[] = {-2}"),
    "a loop whose condition never holds": loop(adding, "$n: i64[] = {5}", "$c: bool[] = {0}"),
    "a loop that stops after its first iteration, however many it may do": loop(
      "($stop: bool[] = {0}, t) { t = Sin(s) }",
      "$n: i64[] = {9}",
    ),
    "what a loop collects, and a constant condition inside": `(x: f32[2,3]) -> (y, z, w) {
      y, z, w = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> ($on: bool[] = {1}, t, t2, i2) {
        t = Sin(s)
        t2 = Neg(t)
        i2 = Identity(i)
      }>($n: i64[] = {2}, $c: bool[] = {1}, x)
    }`,
    "nothing collected in no iteration": `(x: f32[2,3]) -> (y, z) {
      y, z = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t, r) { t = Identity(s) r = Relu(x) }>($n: i64[] = {0}, $c: bool[] = {1}, x)
    }`,
    "a loop with an If in it": `(x: f32[2,3], d: bool[]) -> (y) {
      y = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t) {
        t = If<then_branch=() -> (a) { a = Add(s, x) }, else_branch=() -> (b) { b = Neg(s) }>(d)
      }>($n: i64[] = {2}, $c: bool[] = {1}, x)
    }`,
    "a loop in a branch": `(x: f32[2,3], d: bool[]) -> (y) {
      y = If<then_branch=() -> (a) {
        a = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t) { t = Sin(s) }>($n: i64[] = {2}, $c: bool[] = {1}, x)
      }, else_branch=() -> (b) { b = Neg(x) }>(d)
    }`,
    "states that change places": `(x: f32[2,3], z: f32[2,3]) -> (y, v) {
      y, v = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, q, p) { }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
    }`,
  },
  leaves: {
    "a number of iterations that is an input": [
      `(x: f32[2,3], n: i64[]) -> (y) {
        y = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t) { t = Sin(s) }>(n, $c: bool[] = {1}, x)
      }`,
      null,
    ],
    "a condition that is an input": [
      `(x: f32[2,3], c: bool[]) -> (y) {
        y = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t) { t = Sin(s) }>($n: i64[] = {2}, c, x)
      }`,
      null,
    ],
    "a condition that the body computes": [
      `(x: f32[2,3]) -> (y) {
        y = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (g, t) { t = Sin(s) m = ReduceMax<keepdims=0>(t) g = Greater(m, $l: f32[] = {0.5}) }>($n: i64[] = {2}, $c: bool[] = {1}, x)
      }`,
      null,
    ],
    "more bytes than a file should grow by": [
      loop(adding, "$n: i64[] = {100}"),
      "100 iterations of about 97 bytes are too many to write out",
    ],
    "random numbers": [
      `(x: f32[2,3]) -> (y) {
        y = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t) { r = RandomNormal<shape=[2,3], seed=1.0>() t = Add(s, r) }>($n: i64[] = {2}, $c: bool[] = {1}, x)
      }`,
      "a node in it may do something else each time",
    ],
    "rows of an unknown shape of which there are none": [
      `(x: f32[2,3], a: i64[1]) -> (y, z) {
        y, z = Loop<body=(i: i64[], k: bool[], s: f32[2,3]) -> (k, t, r) { t = Identity(s) r = Reshape(s, a) }>($n: i64[] = {0}, $c: bool[] = {1}, x)
      }`,
      "it never runs, and the shape of what it collects is not known",
    ],
  },
});

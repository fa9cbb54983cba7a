import { hoistLoopInvariant } from "../../../src/passes/control/hoist-loop-invariant.js";
import { testRewrite } from "../../support/test-rewrite.js";

const loop = (
  nodes: string,
  count = "$n: i64[] = {3}",
  inputs = "",
): string => `(x: f32[3,3], z: f32[3,3]${inputs}) -> (y) {
  y = Loop<body=(i: i64[], k: bool[], s: f32[3,3]) -> (k, t) { ${nodes} }>(${count}, $c: bool[] = {1}, x)
}`;

testRewrite(hoistLoopInvariant, {
  rewrites: {
    "a chain of nodes that do not depend on the iteration": loop(
      "w = Transpose<perm=[1,0]>(z) v = Add(w, $b: f32[3]) t = MatMul(s, v)",
    ),
    "nodes that cannot fail, out of a loop that may not run": loop("w = Tanh(z) t = MatMul(s, w)", "n", ", n: i64[]"),
    "nodes of an inner loop, out of both": `(x: f32[3,3], z: f32[3,3]) -> (y) {
      y = Loop<body=(i: i64[], k: bool[], s: f32[3,3]) -> (k, t) {
        t = Loop<body=(j: i64[], l: bool[], u: f32[3,3]) -> (l, v) { w = Exp(z) v = Add(u, w) }>($m: i64[] = {2}, $d: bool[] = {1}, s)
      }>($n: i64[] = {2}, $c: bool[] = {1}, x)
    }`,
    "nodes of a Scan": `(x: f32[3,3], z: f32[3]) -> (y, r) {
      y, r = Scan<body=(s: f32[3], e: f32[3]) -> (t, o) { w = Tanh(z) t = Add(s, w) o = Mul(e, w) }, num_scan_inputs=1>(z, x)
    }`,
  },
  leaves: {
    "what depends on the state": [loop("w = Add(s, z) t = Tanh(w)"), null],
    "what depends on the number of the iteration": [loop("f = Cast<to=1>(i) w = Mul(z, f) t = Add(s, w)"), null],
    "a node that can fail, in a loop that may not run": [
      loop("w = Add(z, x) t = MatMul(s, w)", "n", ", n: i64[]"),
      null,
    ],
    "a node in a branch of the body": [
      `(x: f32[3,3], z: f32[3,3], d: bool[]) -> (y) {
        y = Loop<body=(i: i64[], k: bool[], s: f32[3,3]) -> (k, t) {
          t = If<then_branch=() -> (a) { w = Tanh(z) a = Add(s, w) }, else_branch=() -> (b) { b = Neg(s) }>(d)
        }>($n: i64[] = {2}, $c: bool[] = {1}, x)
      }`,
      null,
    ],
    "random numbers": [loop("w = RandomNormalLike(z) t = Add(s, w)"), null],
    "an output of the body": [loop("t = Tanh(z)"), null],
  },
});

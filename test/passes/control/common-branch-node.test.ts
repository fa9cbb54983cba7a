import { hoistCommonBranchNode } from "../../../src/passes/control/common-branch-node.js";
import { testRewrite } from "../../support/test-rewrite.js";

const branches = (then: string, otherwise: string, inputs = "x: f32[3,3], d: bool[]"): string => `(${inputs}) -> (y) {
  y = If<then_branch=() -> (t) { ${then} }, else_branch=() -> (e) { ${otherwise} }>(d)
}`;

testRewrite(hoistCommonBranchNode, {
  rewrites: {
    "a chain that both branches begin with": branches(
      "a = Transpose<perm=[1,0]>(x) b = Add(a, $k: f32[3] = {1, 2, 3}) t = MatMul(b, x)",
      "f = Transpose<perm=[1,0]>(x) g = Add(f, $l: f32[3] = {1, 2, 3}) e = Softmax(g)",
    ),
    "a chain that both branches end with": branches(
      "a = MatMul(x, x) b = Transpose<perm=[1,0]>(a) t = ReduceSum<keepdims=0>(b, $k: i64[1] = {0})",
      "f = Sin(x) g = Transpose<perm=[1,0]>(f) e = ReduceSum<keepdims=0>(g, $l: i64[1] = {0})",
    ),
    "ends of different sizes": branches(
      "a = Concat<axis=0>(x, x) t = Unsqueeze(a, $k: i64[1] = {-1})",
      "f = Sin(x) e = Unsqueeze(f, $l: i64[1] = {-1})",
    ),
    "an end that several read": `(x: f32[3,3], d: bool[]) -> (y, z) {
      b = If<then_branch=() -> (t) { a = MatMul(x, x) t = Transpose<perm=[1,0]>(a) }, else_branch=() -> (e) { f = Sin(x) e = Transpose<perm=[1,0]>(f) }>(d)
      y = Exp(b)
      z = Neg(b)
    }`,
  },
  leaves: {
    "other constants": [
      branches("a = Add(x, $k: f32[] = {1}) t = Sin(a)", "f = Add(x, $l: f32[] = {2}) e = Cos(f)"),
      null,
    ],
    "other attributes": [
      branches("a = MatMul(x, x) t = Softmax<axis=0>(a)", "f = Sin(x) e = Softmax<axis=1>(f)"),
      null,
    ],
    "products, and activations behind them": [
      branches("a = MatMul(x, x) t = Relu(a)", "f = MatMul(x, x) g = MatMul(f, x) e = Relu(g)"),
      null,
    ],
    "outputs that only one node stands for": [branches("t = Neg(x)", "f = Sin(x) e = Neg(f)"), null],
    "a Cast from another type": [
      branches("a = Cast<to=7>(x) b = Neg(a) t = Cast<to=1>(b)", "f = Sin(x) e = Cast<to=1>(f)"),
      null,
    ],
    "an end that is read in its branch, too": [
      `(x: f32[3,3], d: bool[]) -> (y, z) {
        y, z = If<then_branch=() -> (t, u) { a = MatMul(x, x) t = Transpose<perm=[1,0]>(a) u = Sin(t) },
                  else_branch=() -> (e, v) { f = Sin(x) e = Transpose<perm=[1,0]>(f) v = Cos(e) }>(d)
      }`,
      null,
    ],
    "random numbers": [branches("a = RandomNormalLike(x) t = Sin(a)", "f = RandomNormalLike(x) e = Cos(f)"), null],
    "a node of one branch": [branches("a = Sin(x) t = Exp(a)", "f = Cos(x) e = Log(f)"), null],
  },
});

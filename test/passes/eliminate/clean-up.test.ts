import { eliminateCommonSubexpression } from "../../../src/passes/eliminate/common-subexpression.js";
import { eliminateDeadCode } from "../../../src/passes/eliminate/dead-code.js";
import { eliminateDuplicateConstant } from "../../../src/passes/eliminate/duplicate-constant.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateDeadCode, {
  rewrites: {
    "a chain that no output needs": `(x: f32[2,3]) -> (y) {
      a = Exp(x)
      b = Add(a, $c: f32[3])
      y = Relu(x)
    }`,
    "a dead node in a body": `(x: f32[2], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { dead = Exp(x) t = Neg(x) }, else_branch=() -> (e) { e = Abs(x) }>(c)
    }`,
    "a random node that nobody reads": `(x: f32[2]) -> (y) {
      r = RandomNormalLike(x)
      y = Relu(x)
    }`,
  },
  leaves: {
    "a node that only a body reads": [
      `(x: f32[2], c: bool[]) -> (y) {
        a = Exp(x)
        y = If<then_branch=() -> (t) { t = Neg(a) }, else_branch=() -> (e) { e = Abs(x) }>(c)
      }`,
      null,
    ],
    "an operator that it does not know": [
      `(x: f32[2]) -> (y) {
        a = com.example::Log(x)
        y = Relu(x)
      }`,
      null,
    ],
  },
});

testRewrite(eliminateCommonSubexpression, {
  rewrites: {
    "two equal nodes": `(x: f32[2,3]) -> (y) {
      a = Transpose<perm=[1,0]>(x)
      b = Transpose<perm=[1,0]>(x)
      y = Add(a, b)
    }`,
    "sums with swapped operands": `(x: f32[2], z: f32[2]) -> (y) {
      a = Add(x, z)
      b = Add(z, x)
      y = Mul(a, b)
    }`,
    "one number in two shapes": `(x: f32[N,3]) -> (y) {
      a = Add(x, $p: f32[] = {3.0})
      b = Add($q: f32[1,1] = {3.0}, x)
      y = Mul(a, b)
    }`,
    "equal nodes of which one is an output": `(x: f32[2]) -> (y, b) {
      a = Exp(x)
      b = Exp(x)
      y = Neg(a)
    }`,
  },
  leaves: {
    "sums of three in another order, which round otherwise": [
      "(x: f32[2], y: f32[2], z: f32[2]) -> (a, b) { a = Sum(x, y, z) b = Sum(z, y, x) }",
      null,
    ],
    "one number in two shapes of which one widens": [
      `(x: f32[3]) -> (y, z) {
        y = Add(x, $p: f32[] = {3.0})
        z = Add(x, $q: f32[1,1] = {3.0})
      }`,
      null,
    ],
    "two numbers": [
      `(x: f32[N,3]) -> (y) {
        a = Add(x, $p: f32[] = {0.0})
        b = Add(x, $q: f32[1] = {-0.0})
        y = Div(a, b)
      }`,
      null,
    ],
    "differences with swapped operands": [
      `(x: f32[2], z: f32[2]) -> (y) {
        a = Sub(x, z)
        b = Sub(z, x)
        y = Mul(a, b)
      }`,
      null,
    ],
    "nodes with other attributes": [
      `(x: f32[2,3]) -> (a, b) {
        a = Softmax<axis=0>(x)
        b = Softmax<axis=1>(x)
      }`,
      null,
    ],
    "a Split into two and one into three": [
      `(x: f32[6]) -> (a, d) {
        a, b, c = Split(x)
        d, e = Split(x)
      }`,
      null,
    ],
    "random nodes": [
      `(x: f32[2]) -> (y) {
        a = RandomNormalLike(x)
        b = RandomNormalLike(x)
        y = Add(a, b)
      }`,
      null,
    ],
    "equal nodes of different bodies": [
      `(x: f32[2], c: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Exp(x) }, else_branch=() -> (e) { e = Exp(x) }>(c)
      }`,
      null,
    ],
    "equal nodes that are both outputs": [
      `(x: f32[2]) -> (a, b) {
        a = Exp(x)
        b = Exp(x)
      }`,
      null,
    ],
  },
});

const halves = Array<number>(400).fill(0.5).join(", ");

testRewrite(eliminateDuplicateConstant, {
  rewrites: {
    "constants with the same contents": `(x: f32[2]) -> (y) {
      a = Add(x, $p: f32[2] = {1.5, 2.5})
      y = Mul(a, $q: f32[2] = {1.5, 2.5})
    }`,
    "large constants of two branches": `(x: f32[2,20], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { t = MatMul(x, $p: f32[20,20] = {${halves}}) },
             else_branch=() -> (e) { a = MatMul(x, $q: f32[20,20] = {${halves}}) e = Neg(a) }>(c)
    }`,
    "a large constant of a branch and of the graph around it": `(x: f32[2,20], c: bool[]) -> (y) {
      b = MatMul(x, $p: f32[20,20] = {${halves}})
      y = If<then_branch=() -> (t) { t = MatMul(b, $q: f32[20,20] = {${halves}}) }, else_branch=() -> (e) { e = Neg(b) }>(c)
    }`,
  },
  leaves: {
    "small constants of two branches": [
      `(x: f32[2], c: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Add(x, $p: f32[2] = {1.5, 2.5}) },
               else_branch=() -> (e) { e = Mul(x, $q: f32[2] = {1.5, 2.5}) }>(c)
      }`,
      null,
    ],
    "a large constant that is what a branch gives": [
      `(x: f32[20,20], c: bool[]) -> (y) {
        y = If<then_branch=() -> ($p: f32[20,20] = {${halves}}) { },
               else_branch=() -> (e) { e = Mul(x, $q: f32[20,20] = {${halves}}) }>(c)
      }`,
      null,
    ],
    "the same bytes in another shape": [
      `(x: f32[2,2]) -> (y) {
        a = Add(x, $p: f32[2] = {1.5, 2.5})
        y = Mul(a, $q: f32[1,2] = {1.5, 2.5})
      }`,
      null,
    ],
    "the same bytes of another type": [
      `(x: f32[2], z: i32[2]) -> (a, b) {
        a = Add(x, $p: f32[2] = {0.0})
        b = Add(z, $q: i32[2] = {0})
      }`,
      null,
    ],
    "a zero and a negative zero": [
      `(x: f32[2]) -> (a, b) {
        a = Add(x, $p: f32[] = {0.0})
        b = Add(x, $q: f32[] = {-0.0})
      }`,
      null,
    ],
  },
});

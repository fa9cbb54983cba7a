import { foldKnownCondition } from "../../../src/passes/control/known-condition.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(foldKnownCondition, {
  rewrites: {
    "a condition that is asked again inside its branches": `(x: f32[N,3], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) {
        t = If<then_branch=() -> (a) { a = Relu(x) }, else_branch=() -> (b) { b = Exp(x) }>(c)
      }, else_branch=() -> (e) {
        n = Not(c)
        e = If<then_branch=() -> (a) { a = Neg(x) }, else_branch=() -> (b) { b = Abs(x) }>(n)
      }>(c)
    }`,
    "an integer that the condition compares with a constant": `(x: f32[N,3], sr: i64[]) -> (y) {
      q = Equal($k: i64[] = {4}, sr)
      y = If<then_branch=() -> (t) { f = Cast<to=1>(sr) t = Mul(x, f) }, else_branch=() -> (e) { g = Cast<to=1>(sr) e = Sub(x, g) }>(q)
    }`,
    "both sides of an And that holds": `(x: f32[N,3], c: bool[], d: bool[1]) -> (y) {
      both = And(c, d)
      y = If<then_branch=() -> (t) { f = Cast<to=1>(d) g = Cast<to=1>(c) h = Mul(f, g) t = Mul(x, h) },
             else_branch=() -> (e) { e = Neg(x) }>(both)
    }`,
    "the sides of an Or that does not, and what a Not says": `(x: f32[N,3], c: bool[], d: bool[]) -> (y) {
      n = Not(d)
      any = Or(c, n)
      y = If<then_branch=() -> (t) { t = Neg(x) }, else_branch=() -> (e) { f = Cast<to=1>(d) e = Mul(x, f) }>(any)
    }`,
  },
  leaves: {
    "the sides of an And that does not hold": [
      `(x: f32[N,3], c: bool[], d: bool[]) -> (y) {
        both = And(c, d)
        y = If<then_branch=() -> (t) { t = Neg(x) }, else_branch=() -> (e) { f = Cast<to=1>(d) e = Mul(x, f) }>(both)
      }`,
      null,
    ],
    "a float that equals a constant": [
      `(x: f32[N,3], s: f32[]) -> (y) {
        q = Equal(s, $k: f32[] = {0})
        y = If<then_branch=() -> (t) { t = Div(x, s) }, else_branch=() -> (e) { e = Neg(x) }>(q)
      }`,
      null,
    ],
    "an integer that differs from a constant": [
      `(x: f32[N,3], s: i64[]) -> (y) {
        q = Equal(s, $k: i64[] = {2})
        y = If<then_branch=() -> (t) { t = Neg(x) }, else_branch=() -> (e) { f = Cast<to=1>(s) e = Mul(x, f) }>(q)
      }`,
      null,
    ],
    "readers outside the branch, and in the other If": [
      `(x: f32[N,3], c: bool[]) -> (y, z) {
        y = If<then_branch=() -> (t) { t = Neg(x) }, else_branch=() -> (e) { e = Exp(x) }>(c)
        f = Cast<to=1>(c)
        z = Mul(x, f)
      }`,
      null,
    ],
  },
});

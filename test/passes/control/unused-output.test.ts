import { eliminateUnusedOutput } from "../../../src/passes/control/unused-output.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateUnusedOutput, {
  rewrites: {
    "an If of which one result is read": `(x: f32[N,3], c: bool[]) -> (y) {
      a, b = If<then_branch=() -> (t, u) { t = Relu(x) u = Neg(x) }, else_branch=() -> (e, f) { e = Exp(x) f = Abs(x) }>(c)
      y = Sin(b)
    }`,
    "a state of a Loop that is handed on unchanged": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, p, r) { r = Add(q, p) }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      y = Sub(s, a)
    }`,
    "states that an Identity hands on": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, o, r) {
        j = Identity(p)
        o = Identity(j)
        r = Add(q, p)
      }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      y = Sub(s, a)
    }`,
    "a state that is public and unchanged": `(x: f32[2,3], z: f32[2,3]) -> (a, s) {
      a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, p, r) { r = Add(q, p) }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
    }`,
    "a state and rows that nobody reads": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      a, s, rows, more = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, o, r, r2, o2) {
        o = Neg(p)
        r = Relu(q)
        r2 = Exp(q)
        o2 = Sin(p)
      }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      y = Add(s, rows)
    }`,
    "a Loop whose only result is what went in": `(x: f32[2,3], z: f32[2,3]) -> (y) {
      a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, p, r) { r = Add(q, p) }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      y = Sub(x, a)
    }`,
  },
  leaves: {
    "a state that another one depends on": [
      `(x: f32[2,3], z: f32[2,3]) -> (s) {
        a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, o, r) { o = Neg(p) r = Add(q, p) }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      }`,
      null,
    ],
    "a state that the condition depends on": [
      `(x: f32[], z: f32[2,3]) -> (s) {
        a, s = Loop<body=(i: i64[], k: bool[], p: f32[], q: f32[2,3]) -> (g, o, r) { o = Mul(p, $h: f32[] = {0.5}) g = Greater(o, $l: f32[] = {0.1}) r = Neg(q) }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      }`,
      null,
    ],
    "a state that is read inside a body of the body": [
      `(x: f32[2,3], z: f32[2,3], d: bool[]) -> (s) {
        a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, o, r) {
          o = Neg(p)
          r = If<then_branch=() -> (t) { t = Add(q, p) }, else_branch=() -> (e) { e = Neg(q) }>(d)
        }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      }`,
      null,
    ],
    "two states that change places": [
      `(x: f32[2,3], z: f32[2,3]) -> (s) {
        a, s = Loop<body=(i: i64[], k: bool[], p: f32[2,3], q: f32[2,3]) -> (k, q, p) { }>($n: i64[] = {3}, $c: bool[] = {1}, x, z)
      }`,
      null,
    ],
  },
});

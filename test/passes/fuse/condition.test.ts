import { fuseCondition } from "../../../src/passes/fuse/condition.js";
import { testRewrite } from "../../support/test-rewrite.js";

const TWO = "x: f32[N,4], z: f32[N,4], c: bool[N,4]";

testRewrite(fuseCondition, {
  rewrites: {
    "a Not before a Where": `(${TWO}) -> (y) {
      n = Not(c)
      y = Where(n, x, z)
    }`,
    "a Where between a value and itself": `(${TWO}) -> (y) {
      a = Add(x, z)
      b = Where(c, a, a)
      y = Neg(b)
    }`,
    "a boolean compared with zero": `(${TWO}) -> (y) {
      n = Cast<to=7>(c)
      y = Equal(n, $zero: i64[] = {0})
    }`,
    "a boolean compared with one": `(${TWO}) -> (y) {
      n = Cast<to=1>(c)
      e = Equal($one: f32[1] = {1.0}, n)
      y = Where(e, x, z)
    }`,
    "a comparison of integers turned around": `(i: i64[N,4], j: i64[4]) -> (y) {
      l = Less(i, j)
      y = Not(l)
    }`,
    "And with true": `(${TWO}) -> (y) {
      n = And($t: bool[4] = {1, 1, 1, 1}, c)
      y = Where(n, x, z)
    }`,
    "less or equal": `(${TWO}) -> (y) {
      l = Less(x, z)
      e = Equal(z, x)
      y = Or(l, e)
    }`,
    "equal or greater": `(i: i64[N,4], j: i64[4]) -> (y) {
      g = Greater(i, j)
      e = Equal(i, j)
      y = Or(e, g)
    }`,
    "a choice that is made": `(${TWO}) -> (y) {
      w = Where($t: bool[4] = {1, 1, 1, 1}, x, $zero: f32[] = {0.0})
      y = Neg(w)
    }`,
    "the other choice": `(${TWO}) -> (y) {
      w = Where($f: bool[] = {0}, $zero: f32[] = {0.0}, x)
      y = Neg(w)
    }`,
    "Or with true": `(c: bool[2,2]) -> (y) {
      n = Or(c, $t: bool[2,2] = {1, 1, 1, 1})
      y = Not(n)
    }`,
    "Xor with false": `(${TWO}) -> (y) {
      n = Xor($f: bool[4] = {0, 0, 0, 0}, c)
      y = Not(n)
    }`,
    "Or with false": `(${TWO}) -> (y) {
      n = Or(c, $f: bool[] = {0})
      y = Where(n, x, z)
    }`,
  },
  leaves: {
    "a choice that differs": [`(${TWO}) -> (y) { w = Where($t: bool[4] = {1, 1, 0, 1}, x, z) y = Neg(w) }`, null],
    "a choice that widens": [
      `(x: f32[1,4], z: f32[N,4]) -> (y) { w = Where($t: bool[4] = {1, 1, 1, 1}, x, z) y = Neg(w) }`,
      null,
    ],
    "Or with a true that is widened": [`(c: bool[2,2]) -> (y) { n = Or(c, $t: bool[2] = {1, 1}) y = Not(n) }`, null],
    "Xor with true": [`(c: bool[2,2]) -> (y) { n = Xor(c, $t: bool[2,2] = {1, 1, 1, 1}) y = Not(n) }`, null],
    "less, or equal to something else": [
      `(${TWO}) -> (y) {
        l = Less(x, z)
        e = Equal(x, $two: f32[] = {2.0})
        y = Or(l, e)
      }`,
      null,
    ],
    "two sides that are the same": [
      `(${TWO}) -> (y) {
        l = Less(x, z)
        e = Equal(x, x)
        y = Or(l, e)
      }`,
      null,
    ],
    "a comparison that others read": [
      `(${TWO}) -> (y, l) {
        l = Less(x, z)
        e = Equal(x, z)
        y = Or(l, e)
      }`,
      null,
    ],
    "less than itself, or equal": [
      `(${TWO}) -> (y) {
        l = Less(x, x)
        e = Equal(x, z)
        y = Or(l, e)
      }`,
      null,
    ],
    "a Not that others read": [
      `(${TWO}) -> (y, n) {
        n = Not(c)
        y = Where(n, x, z)
      }`,
      null,
    ],
    "a condition that widens": [
      `(x: f32[1,4], c: bool[N,4]) -> (y) {
        y = Where(c, x, x)
      }`,
      null,
    ],
    "a boolean compared with two": [
      `(${TWO}) -> (y) {
        n = Cast<to=7>(c)
        y = Equal(n, $two: i64[] = {2})
      }`,
      null,
    ],
    "a number made another number": [
      `(x: f32[N,4]) -> (y) {
        n = Cast<to=7>(x)
        y = Equal(n, $zero: i64[] = {0})
      }`,
      null,
    ],
    "a comparison of floats, which may not be numbers": [
      `(${TWO}) -> (y) {
        l = Less(x, z)
        y = Not(l)
      }`,
      null,
    ],
    "And with false": [
      `(${TWO}) -> (y) {
        y = And(c, $t: bool[4] = {1, 1, 0, 1})
      }`,
      null,
    ],
    "And with more than it widens": [
      `(c: bool[4]) -> (y) {
        y = And(c, $t: bool[2,4] = {1, 1, 1, 1, 1, 1, 1, 1})
      }`,
      null,
    ],
  },
});

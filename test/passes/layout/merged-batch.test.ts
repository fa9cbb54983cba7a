import { eliminateMergedBatch } from "../../../src/passes/layout/merged-batch.js";
import { testRewrite } from "../../support/test-rewrite.js";

const merged = (between: string): string => `(q: f32[N,2,T,4], k: f32[N,2,4,S], v: f32[N,2,S,4], m: f32[T,1]) -> (y) {
  s = Shape<start=0, end=1>(q)
  n = Mul(s, $two: i64[1] = {2})
  t = Concat<axis=0>(n, $minus: i64[1] = {-1}, $four: i64[1] = {4})
  d = Concat<axis=0>(n, $four, $minus)
  a = Reshape(q, t)
  b = Reshape(k, d)
  c = Reshape(v, t)
  p = MatMul(a, b)
  ${between}
  r = MatMul(w, c)
  o = Concat<axis=0>(s, $two, $minus, $four)
  y = Reshape(r, o)
}`;

testRewrite(eliminateMergedBatch, {
  rewrites: {
    "one product": `(a: f32[6,T,4], b: f32[2,3,4,S]) -> (y) {
      x = Reshape(a, $t: i64[4] = {2, 3, -1, 4})
      z = Relu(x)
      p = Reshape(z, $s: i64[3] = {6, -1, 4})
      q = Reshape(b, $u: i64[3] = {6, 4, -1})
      r = MatMul(p, q)
      f = Shape<start=2, end=3>(x)
      o = Concat<axis=0>($w: i64[2] = {2, 3}, f, $m: i64[1] = {-1})
      y = Reshape(r, o)
    }`,
    "attention without a mask": merged("w = Softmax<axis=2>(p)"),
    "arithmetic between": merged(`e = Mul(p, $half: f32[] = {0.5})
      f = Add(m, e)
      w = Softmax(f)`),
    "a matrix that is transposed": `(a: f32[2,3,5,4], b: f32[2,3,6,4]) -> (y) {
      p = Reshape(a, $s: i64[3] = {6, -1, 4})
      q = Reshape(b, $s)
      t = Transpose<perm=[0,2,1]>(q)
      r = MatMul(p, t)
      y = Reshape(r, $o: i64[4] = {2, 3, 5, 6})
    }`,
  },
  leaves: {
    "other leading axes": [
      `(a: f32[2,3,5,4], b: f32[3,2,4,6]) -> (y) {
        p = Reshape(a, $s: i64[3] = {6, 5, 4})
        q = Reshape(b, $t: i64[3] = {6, 4, 6})
        r = MatMul(p, q)
        y = Reshape(r, $o: i64[4] = {2, 3, 5, 6})
      }`,
      null,
    ],
    "axes taken apart in another way": [
      `(a: f32[2,3,5,4], b: f32[2,3,4,6]) -> (y) {
        p = Reshape(a, $s: i64[3] = {6, 5, 4})
        q = Reshape(b, $t: i64[3] = {6, 4, 6})
        r = MatMul(p, q)
        y = Reshape(r, $o: i64[4] = {3, 2, 5, 6})
      }`,
      null,
    ],
    "a Softmax over the merged axis": [merged("w = Softmax<axis=0>(p)"), null],
    "an addend with the merged axis": [
      `(a: f32[2,3,5,4], b: f32[2,3,4,6], c: f32[6,5,6]) -> (y) {
        p = Reshape(a, $s: i64[3] = {6, 5, 4})
        q = Reshape(b, $t: i64[3] = {6, 4, 6})
        r = MatMul(p, q)
        e = Add(r, c)
        y = Reshape(e, $o: i64[4] = {2, 3, 5, 6})
      }`,
      null,
    ],
    "a product that others read": [
      `(a: f32[2,3,5,4], b: f32[2,3,4,6]) -> (y, r) {
        p = Reshape(a, $s: i64[3] = {6, 5, 4})
        q = Reshape(b, $t: i64[3] = {6, 4, 6})
        r = MatMul(p, q)
        y = Reshape(r, $o: i64[4] = {2, 3, 5, 6})
      }`,
      null,
    ],
    "no product": [
      `(a: f32[2,3,5,4]) -> (y) {
        p = Reshape(a, $s: i64[3] = {6, 5, 4})
        r = Softmax(p)
        y = Reshape(r, $o: i64[4] = {2, 3, 5, 4})
      }`,
      null,
    ],
    "rows that are merged, too": [
      `(a: f32[2,3,5,4], b: f32[2,3,4,6]) -> (y) {
        p = Reshape(a, $s: i64[3] = {2, 15, 4})
        q = Reshape(b, $t: i64[3] = {2, 4, 18})
        r = MatMul(p, q)
        y = Reshape(r, $o: i64[4] = {2, 3, 5, 18})
      }`,
      null,
    ],
  },
});

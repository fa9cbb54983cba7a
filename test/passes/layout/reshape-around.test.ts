import { fuseReshapeAround } from "../../../src/passes/layout/reshape-around.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseReshapeAround, {
  rewrites: {
    "heads that were one axis with the batch": `(x: f32[7,2,12]) -> (y) {
      a = Reshape(x, $s: i64[3] = {7, 6, 4})
      b = Transpose<perm=[1,0,2]>(a)
      y = Reshape(b, $t: i64[4] = {2, 3, 7, 4})
    }`,
    "sizes that only the run can tell": `(x: f32[T,2,12]) -> (y) {
      a = Reshape(x, $s: i64[3] = {0, 6, 4})
      b = Transpose<perm=[1,2,0]>(a)
      y = Reshape(b, $t: i64[4] = {2, 3, 4, -1})
    }`,
    "an axis of three": `(x: f32[5,24]) -> (y) {
      a = Reshape(x, $s: i64[3] = {5, 2, 12})
      b = Transpose<perm=[2,1,0]>(a)
      y = Reshape(b, $t: i64[5] = {3, 2, 2, 2, 5})
    }`,
  },
  leaves: {
    "two axes that are taken apart": [
      `(x: f32[7,2,12]) -> (y) {
        a = Reshape(x, $s: i64[3] = {7, 6, 4})
        b = Transpose<perm=[1,0,2]>(a)
        y = Reshape(b, $t: i64[5] = {2, 3, 7, 2, 2})
      }`,
      null,
    ],
    "axes that are mixed": [
      `(x: f32[8,2,12]) -> (y) {
        a = Reshape(x, $s: i64[3] = {8, 6, 4})
        b = Transpose<perm=[1,0,2]>(a)
        y = Reshape(b, $t: i64[4] = {2, 4, 6, 4})
      }`,
      null,
    ],
    "axes that become one": [
      `(x: f32[7,24]) -> (y) {
        a = Reshape(x, $s: i64[3] = {7, 6, 4})
        b = Transpose<perm=[1,0,2]>(a)
        y = Reshape(b, $t: i64[2] = {42, 4})
      }`,
      null,
    ],
    "no Reshape before": [
      `(x: f32[7,6,4]) -> (y) {
        b = Transpose<perm=[1,0,2]>(x)
        y = Reshape(b, $t: i64[4] = {2, 3, 7, 4})
      }`,
      null,
    ],
    "a Transpose that others read": [
      `(x: f32[7,2,12]) -> (y, b) {
        a = Reshape(x, $s: i64[3] = {7, 6, 4})
        b = Transpose<perm=[1,0,2]>(a)
        y = Reshape(b, $t: i64[4] = {2, 3, 7, 4})
      }`,
      null,
    ],
    "more unknown sizes than a Reshape can be told": [
      `(x: f32[1,T,S,2]) -> (y) {
        s = Shape<start=1, end=4>(x)
        a = Reshape(x, s)
        b = Transpose<perm=[2,0,1]>(a)
        n = Shape<start=1, end=3>(x)
        m = Concat<axis=0>($u: i64[2] = {2, 1}, n)
        y = Reshape(b, m)
      }`,
      null,
    ],
  },
});

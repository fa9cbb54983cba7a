import { fuseRepeat } from "../../../src/passes/layout/repeat.js";
import { testRewrite } from "../../support/test-rewrite.js";

const maps = `(x: f32[N,5,3,4]) -> (y) {
  c = Transpose<perm=[0,2,3,1]>(x)`;

/** Rows, then columns, of maps whose channels are last. */
const inSteps = (rows: string, columns: string, from = maps): string => `${from}
  a = Unsqueeze(c, $two: i64[1] = {2})
  b = Tile(a, $r: i64[5] = ${rows})
  d = Reshape(b, $s: i64[4] = {-1, 6, 4, 5})
  e = Unsqueeze(d, $three: i64[1] = {3})
  f = Tile(e, $q: i64[5] = ${columns})
  y = Reshape(f, $t: i64[4] = {-1, 6, 12, 5})
}`;

const rows = "{1, 1, 2, 1, 1}";
const columns = "{1, 1, 1, 3, 1}";

testRewrite(fuseRepeat, {
  rewrites: {
    "rows, then columns, of maps whose channels are last": inSteps(rows, columns),
    "maps whose channels are first, through a Transpose in between": `(x: f32[N,5,3,4]) -> (y) {
      a = Unsqueeze(x, $three: i64[1] = {3})
      b = Tile(a, $r: i64[5] = {1, 1, 1, 2, 1})
      c = Transpose<perm=[0,2,3,4,1]>(b)
      d = Reshape(c, $s: i64[4] = {0, 6, 4, 5})
      e = Unsqueeze(d, $axis: i64[1] = {3})
      f = Tile(e, $q: i64[5] = {1, 1, 1, 2, 1})
      y = Reshape(f, $t: i64[4] = {0, 6, 8, 5})
    }`,
    "columns before rows, and axes counted from the end": `(x: f32[2,5,3,4]) -> (y) {
      a = Unsqueeze(x, $i: i64[1] = {-1})
      b = Tile(a, $r: i64[5] = {1, 1, 1, 1, 2})
      c = Reshape(b, $s: i64[4] = {2, 5, 3, 8})
      d = Unsqueeze(c, $j: i64[1] = {-2})
      e = Tile(d, $q: i64[5] = {1, 1, 1, 4, 1})
      y = Reshape(e, $t: i64[4] = {2, 5, 12, 8})
    }`,
    "both at once, of sizes that nobody knows": `(x: f32[N,5,h,w]) -> (y) {
      a = Unsqueeze(x, $i: i64[2] = {3, 5})
      b = Tile(a, $r: i64[6] = {1, 1, 1, 2, 1, 3})
      z = Shape(x)
      t = Mul(z, $k: i64[4] = {1, 1, 2, 3})
      y = Reshape(b, t)
    }`,
    "both at once by Expand": `(x: f32[2,5,3,4]) -> (y) {
      a = Unsqueeze(x, $i: i64[2] = {3, 5})
      b = Expand(a, $r: i64[6] = {1, 5, 3, 2, 1, 2})
      y = Reshape(b, $t: i64[4] = {2, 5, 6, 8})
    }`,
    "steps that are both transposed": `(x: f32[2,5,3,4]) -> (y) {
      a = Unsqueeze(x, $i: i64[1] = {3})
      b = Tile(a, $r: i64[5] = {1, 1, 1, 2, 1})
      c = Transpose<perm=[0,2,3,4,1]>(b)
      d = Reshape(c, $s: i64[4] = {2, 6, 4, 5})
      e = Unsqueeze(d, $j: i64[1] = {3})
      f = Tile(e, $q: i64[5] = {1, 1, 1, 3, 1})
      g = Transpose<perm=[0,4,2,3,1]>(f)
      y = Reshape(g, $t: i64[4] = {2, 5, 12, 6})
    }`,
    "rows and columns of samples that were repeated before": `(x: f32[2,5,3,4]) -> (y) {
      a = Unsqueeze(x, $i: i64[1] = {1})
      b = Tile(a, $r: i64[5] = {1, 2, 1, 1, 1})
      c = Reshape(b, $s: i64[4] = {4, 5, 3, 4})
      d = Unsqueeze(c, $j: i64[2] = {3, 5})
      e = Tile(d, $q: i64[6] = {1, 1, 1, 2, 1, 2})
      y = Reshape(e, $t: i64[4] = {4, 5, 6, 8})
    }`,
    "channels behind their rows, which are transposed at once": `(x: f32[N,3,5,4]) -> (y) {
      a = Unsqueeze(x, $i: i64[2] = {2, 5})
      b = Tile(a, $r: i64[6] = {1, 1, 2, 1, 1, 2})
      c = Reshape(b, $t: i64[4] = {-1, 6, 5, 8})
      y = Transpose<perm=[0,2,1,3]>(c)
    }`,
  },
  leaves: {
    "rows alone": [
      `(x: f32[N,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[1] = {3})
        b = Tile(a, $r: i64[5] = {1, 1, 1, 2, 1})
        y = Reshape(b, $t: i64[4] = {-1, 5, 6, 4})
      }`,
      null,
    ],
    "keys for several heads": [
      `(x: f32[N,2,s,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[1] = {2})
        b = Tile(a, $r: i64[5] = {1, 1, 3, 1, 1})
        z = Shape(x)
        t = Mul(z, $k: i64[4] = {1, 3, 1, 1})
        y = Reshape(b, t)
      }`,
      null,
    ],
    "whole copies": [
      `(x: f32[2,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[2] = {2, 4})
        b = Tile(a, $r: i64[6] = {1, 1, 2, 1, 2, 1})
        y = Reshape(b, $t: i64[4] = {2, 5, 6, 8})
      }`,
      null,
    ],
    "an axis that was there and is copied": [inSteps("{1, 2, 2, 1, 1}", columns), null],
    "rows that are cut otherwise": [
      `(x: f32[2,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[2] = {3, 5})
        b = Tile(a, $r: i64[6] = {1, 1, 1, 2, 1, 2})
        y = Reshape(b, $t: i64[4] = {2, 5, 8, 6})
      }`,
      null,
    ],
    "samples that are repeated": [
      `(x: f32[2,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[2] = {1, 4})
        b = Tile(a, $r: i64[6] = {1, 2, 1, 1, 2, 1})
        y = Reshape(b, $t: i64[4] = {4, 5, 6, 4})
      }`,
      null,
    ],
    "a sample that Expand repeats, too": [
      `(x: f32[1,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[2] = {3, 5})
        b = Expand(a, $r: i64[6] = {2, 5, 3, 2, 4, 2})
        y = Reshape(b, $t: i64[4] = {2, 5, 6, 8})
      }`,
      null,
    ],
    "no copy at all": [
      `(x: f32[2,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[2] = {3, 5})
        b = Tile(a, $r: i64[6] = {1, 1, 1, 0, 1, 2})
        y = Reshape(b, $t: i64[4] = {2, 5, 0, 8})
      }`,
      null,
    ],
    "copies that others read": [
      `(x: f32[2,5,3,4]) -> (y, b) {
        a = Unsqueeze(x, $i: i64[2] = {3, 5})
        b = Tile(a, $r: i64[6] = {1, 1, 1, 2, 1, 2})
        y = Reshape(b, $t: i64[4] = {2, 5, 6, 8})
      }`,
      null,
    ],
    "whole numbers": [
      `(x: i64[2,5,3,4]) -> (y) {
        a = Unsqueeze(x, $i: i64[2] = {3, 5})
        b = Tile(a, $r: i64[6] = {1, 1, 1, 2, 1, 2})
        y = Reshape(b, $t: i64[4] = {2, 5, 6, 8})
      }`,
      null,
    ],
    "maps whose channels are last on both sides": [
      inSteps(rows, columns, "(x: f32[N,3,4,5]) -> (y) {\n  c = Relu(x)"),
      "maps whose channels are not first",
    ],
  },
});

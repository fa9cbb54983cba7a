import { fuseGatherPart } from "../../../src/passes/layout/gather-part.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseGatherPart, {
  rewrites: {
    "queries, keys and values": `(x: f32[T,B,12]) -> (q, k, v) {
      r = Reshape(x, $s: i64[4] = {0, 0, 3, 4})
      q = Gather<axis=2>(r, $i: i64[] = {0})
      k = Gather<axis=2>(r, $j: i64[] = {1})
      v = Gather<axis=-2>(r, $l: i64[] = {-1})
    }`,
    "one part of two": `(x: f32[N,6]) -> (y) {
      r = Reshape(x, $s: i64[3] = {-1, 2, 3})
      y = Gather<axis=1>(r, $j: i64[] = {1})
    }`,
  },
  leaves: {
    "another axis": [
      `(x: f32[N,6]) -> (y) {
        r = Reshape(x, $s: i64[3] = {-1, 2, 3})
        y = Gather<axis=2>(r, $j: i64[] = {1})
      }`,
      null,
    ],
    "a Reshape with another reader": [
      `(x: f32[N,6]) -> (y, z) {
        r = Reshape(x, $s: i64[3] = {-1, 2, 3})
        y = Gather<axis=1>(r, $j: i64[] = {1})
        z = Neg(r)
      }`,
      null,
    ],
    "a place that is not constant": [
      `(x: f32[N,6], b: bool) -> (y) {
        r = Reshape(x, $s: i64[3] = {-1, 2, 3})
        j = Cast<to=7>(b)
        y = Gather<axis=1>(r, j)
      }`,
      null,
    ],
    "several places": [
      `(x: f32[N,6]) -> (y) {
        r = Reshape(x, $s: i64[3] = {-1, 2, 3})
        y = Gather<axis=1>(r, $j: i64[1] = {1})
      }`,
      null,
    ],
    "axes in front that change": [
      `(x: f32[2,3,6]) -> (y) {
        r = Reshape(x, $s: i64[4] = {3, 2, 2, 3})
        y = Gather<axis=2>(r, $j: i64[] = {1})
      }`,
      null,
    ],
    "a part of unknown size": [
      `(x: f32[N,M]) -> (y) {
        r = Reshape(x, $s: i64[3] = {0, 2, -1})
        y = Gather<axis=1>(r, $j: i64[] = {1})
      }`,
      null,
    ],
  },
});

import { fuseGatherUnsqueeze } from "../../../src/passes/layout/gather-unsqueeze.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseGatherUnsqueeze, {
  rewrites: {
    "a row of the first axis": `(x: f32[2,N,4]) -> (y) {
      a = Gather(x, $i: i64[] = {1})
      y = Unsqueeze(a, $axis: i64[1] = {0})
    }`,
    "a row counted from the end, of the last axis": `(x: f32[2,3,4]) -> (y) {
      a = Gather<axis=-1>(x, $i: i64[] = {-2})
      y = Unsqueeze(a, $axis: i64[1] = {-1})
    }`,
    "axes as an attribute": [
      `(x: f32[2,3]) -> (y) {
        a = Gather<axis=1>(x, $i: i64[] = {2})
        y = Unsqueeze<axes=[1]>(a)
      }`,
      { opset: 12 },
    ],
  },
  leaves: {
    "another axis": [
      `(x: f32[2,3,4]) -> (y) {
        a = Gather(x, $i: i64[] = {1})
        y = Unsqueeze(a, $axis: i64[1] = {1})
      }`,
      null,
    ],
    "several axes": [
      `(x: f32[2,3,4]) -> (y) {
        a = Gather(x, $i: i64[] = {1})
        y = Unsqueeze(a, $axis: i64[2] = {0, 1})
      }`,
      null,
    ],
    "an axis of unknown size": [
      `(x: f32[N,3,4]) -> (y) {
        a = Gather(x, $i: i64[] = {1})
        y = Unsqueeze(a, $axis: i64[1] = {0})
      }`,
      null,
    ],
    "a vector of indices": [
      `(x: f32[2,3]) -> (y) {
        a = Gather(x, $i: i64[1] = {1})
        y = Unsqueeze(a, $axis: i64[1] = {0})
      }`,
      null,
    ],
    "an index that is computed": [
      `(x: f32[2,3], i: i64[]) -> (y) {
        a = Gather(x, i)
        y = Unsqueeze(a, $axis: i64[1] = {0})
      }`,
      null,
    ],
    "a row that others read": [
      `(x: f32[2,3]) -> (y, a) {
        a = Gather(x, $i: i64[] = {1})
        y = Unsqueeze(a, $axis: i64[1] = {0})
      }`,
      null,
    ],
  },
});

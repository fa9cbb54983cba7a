import { fuseMovedAxis } from "../../../src/passes/layout/moved-axis.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(fuseMovedAxis, {
  rewrites: {
    "an axis that moves to the end": `(x: f32[1,N,4]) -> (y) {
      a = Squeeze(x, $i: i64[1] = {0})
      y = Unsqueeze(a, $j: i64[1] = {-1})
    }`,
    "several axes, all sizes known": `(x: f32[1,3,1,4]) -> (y) {
      a = Squeeze(x, $i: i64[2] = {0, 2})
      y = Unsqueeze(a, $j: i64[2] = {1, 3})
    }`,
  },
  leaves: {
    "an axis that may not be 1": [
      `(x: f32[3,4,N]) -> (y) {
        a = Squeeze(x, $i: i64[1] = {2})
        y = Unsqueeze(a, $j: i64[1] = {0})
      }`,
      null,
    ],
    "two sizes that only the run can tell": [
      `(x: f32[1,N,M]) -> (y) {
        a = Squeeze(x, $i: i64[1] = {0})
        y = Unsqueeze(a, $j: i64[1] = {1})
      }`,
      null,
    ],
    "a squeezed tensor that others read": [
      `(x: f32[1,N,4]) -> (y, a) {
        a = Squeeze(x, $i: i64[1] = {0})
        y = Unsqueeze(a, $j: i64[1] = {-1})
      }`,
      null,
    ],
    "all axes of 1, whichever they are": [
      `(x: f32[1,N,4]) -> (y) {
        a = Squeeze(x)
        y = Unsqueeze(a, $j: i64[1] = {-1})
      }`,
      null,
    ],
    "an empty tensor": [
      `(x: f32[1,0,4]) -> (y) {
        a = Squeeze(x, $i: i64[1] = {0})
        y = Unsqueeze(a, $j: i64[1] = {-1})
      }`,
      null,
    ],
  },
});

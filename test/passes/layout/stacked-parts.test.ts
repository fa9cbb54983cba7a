import { fuseStackedParts } from "../../../src/passes/layout/stacked-parts.js";
import { testRewrite } from "../../support/test-rewrite.js";

const stack = (shape: string, from: number, to: string, places = [0, 1]): string =>
  `(x: f32[${shape}]) -> (y) {
    ${places.map((place, i) => `g${i} = Gather<axis=${from}>(x, $p${i}: i64 = {${place}})`).join("\n")}
    ${places.map((_, i) => `u${i} = Unsqueeze(g${i}, $axes${i === 0 ? `: i64[1] = {${to}}` : "0"})`.replace("$axes: ", "$axes0: ")).join("\n")}
    y = Concat<axis=${to}>(${places.map((_, i) => `u${i}`).join()})
  }`;

testRewrite(fuseStackedParts, {
  rewrites: {
    "the last axis, stacked in front": stack("N,3,2", 2, "0"),
    "an axis in the middle, stacked at the end": stack("N,2,3,5", 1, "-1"),
    "the axis where it was": stack("N,2,3", 1, "1"),
    "some of them": stack("N,3,5", 2, "1", [1, 2, 3]),
    "in another order": stack("N,3,2", 2, "0", [1, 0]),
    "some that stay where they are": stack("N,3,5", -1, "-1", [3, 4]),
    "one of them twice": stack("N,3,5", 2, "2", [0, 2, 2]),
    "axes that are attributes": [
      `(x: f32[N,3,2]) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=2>(x, $p1: i64 = {1})
        e = Unsqueeze<axes=[0]>(a)
        f = Unsqueeze<axes=[0]>(b)
        y = Concat<axis=0>(e, f)
      }`,
      { opset: 11 },
    ],
    "rows of a Split": `(x: f32[N,3,2]) -> (y) {
      a, b = Split<axis=2>(x, $sizes: i64[2] = {1,1})
      c = Squeeze(a, $last: i64[1] = {2})
      d = Squeeze(b, $last)
      e = Unsqueeze(c, $front: i64[1] = {0})
      f = Unsqueeze(d, $front)
      y = Concat<axis=0>(e, f)
    }`,
    "parts that others read, too": `(x: f32[N,3,2]) -> (y, z) {
      a = Gather<axis=2>(x, $p0: i64 = {0})
      b = Gather<axis=2>(x, $p1: i64 = {1})
      e = Unsqueeze(a, $front: i64[1] = {1})
      f = Unsqueeze(b, $front)
      y = Concat<axis=1>(e, f)
      z = Relu(a)
    }`,
  },
  leaves: {
    "parts of two tensors": [
      `(x: f32[N,3,2], z: f32[N,3,2]) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=2>(z, $p1: i64 = {1})
        e = Unsqueeze(a, $front: i64[1] = {0})
        f = Unsqueeze(b, $front)
        y = Concat<axis=0>(e, f)
      }`,
      null,
    ],
    "parts along two axes": [
      `(x: f32[N,2,2]) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=1>(x, $p1: i64 = {1})
        e = Unsqueeze(a, $front: i64[1] = {0})
        f = Unsqueeze(b, $front)
        y = Concat<axis=0>(e, f)
      }`,
      null,
    ],
    "parts that are joined along an axis that they had": [
      `(x: f32[N,3,2]) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=2>(x, $p1: i64 = {1})
        e = Unsqueeze(a, $front: i64[1] = {0})
        f = Unsqueeze(b, $front)
        y = Concat<axis=1>(e, f)
      }`,
      null,
    ],
    "a place that is computed": [
      `(x: f32[N,3,2], p: i64) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=2>(x, p)
        e = Unsqueeze(a, $front: i64[1] = {0})
        f = Unsqueeze(b, $front)
        y = Concat<axis=0>(e, f)
      }`,
      null,
    ],
    "axes that are more than one": [
      `(x: f32[N,3,2]) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=2>(x, $p1: i64 = {1})
        e = Unsqueeze(a, $front: i64[2] = {0,1})
        f = Unsqueeze(b, $front)
        y = Concat<axis=0>(e, f)
      }`,
      null,
    ],
    "a part that is repeated in between": [
      `(x: f32[4,3,2]) -> (y) {
        a = Gather<axis=2>(x, $p0: i64 = {0})
        b = Gather<axis=2>(x, $p1: i64 = {1})
        e = Unsqueeze(a, $front: i64[1] = {0})
        f = Expand(b, $s: i64[3] = {2,4,3})
        y = Concat<axis=0>(e, f)
      }`,
      null,
    ],
  },
});

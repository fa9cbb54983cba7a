import { eliminateNoOpResize, fuseResizeAxes, fuseResizeScales } from "../../../src/passes/layout/resize.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(eliminateNoOpResize, {
  rewrites: {
    "scales of one": `(x: f32[N,3,4,5]) -> (y) {
      r = Resize<mode="linear">(x, _, $s: f32[4] = {1, 1, 1, 1})
      y = Neg(r)
    }`,
    "the size that is there": `(x: f32[2,3,4,5]) -> (y) {
      r = Resize<mode="cubic", coordinate_transformation_mode="align_corners">(x, _, _, $s: i64[4] = {2, 3, 4, 5})
      y = Neg(r)
    }`,
    "the size that is computed to be there": `(x: f32[N,3,h,w]) -> (y) {
      a = Relu(x)
      s = Shape(x)
      r = Resize<mode="nearest">(a, _, _, s)
      y = Neg(r)
    }`,
  },
  leaves: {
    "a scale that is not one": [
      `(x: f32[N,3,4,5]) -> (y) { y = Resize<mode="linear">(x, _, $s: f32[4] = {1, 1, 1, 2}) }`,
      null,
    ],
    "another size": [`(x: f32[2,3,4,5]) -> (y) { y = Resize(x, _, _, $s: i64[4] = {2, 3, 4, 6}) }`, null],
    "a crop": [
      `(x: f32[2,3,4,5]) -> (y) {
        y = Resize<coordinate_transformation_mode="tf_crop_and_resize", mode="linear">(x, $roi: f32[8] = {0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75}, _, $s: i64[4] = {2, 3, 4, 5})
      }`,
      null,
    ],
  },
});

const sized = (part: string, options = ""): string => `(x: f32[N,3,4,5], z: f32[N,7,h,w]) -> (y) {
  n = Shape<start=0, end=2>(x)
  s = Shape<start=2, end=4>(z)
  t = Concat<axis=0>(${part})
  y = Resize<mode="linear"${options}>(x, _, _, t)
}`;

testRewrite(fuseResizeScales, {
  rewrites: {
    "a plane of known size": sized("n, $p: i64[2] = {8, 10}"),
    "one that shrinks": sized("n, $p: i64[2] = {3, 2}", ', coordinate_transformation_mode="align_corners"'),
    "one of a ratio that is no whole number": sized(
      "n, $p: i64[2] = {7, 9}",
      ', coordinate_transformation_mode="asymmetric"',
    ),
    "channels too": `(x: f32[N,3,4,5]) -> (y) {
      n = Shape<start=0, end=1>(x)
      t = Concat<axis=0>(n, $s: i64[3] = {6, 4, 10})
      y = Resize<mode="nearest", nearest_mode="floor">(x, _, _, t)
    }`,
  },
  leaves: {
    "a plane that is not known": [sized("n, s"), null],
    "sizes that are constant": [`(x: f32[2,3,4,5]) -> (y) { y = Resize(x, _, _, $s: i64[4] = {2, 3, 8, 10}) }`, null],
    "sizes of a kept ratio": [
      sized("n, $p: i64[2] = {8, 10}", ', keep_aspect_ratio_policy="not_larger"'),
      null,
      { opset: 18 },
    ],
    scales: [`(x: f32[N,3,4,5]) -> (y) { y = Resize(x, _, $s: f32[4] = {1, 1, 2, 2}) }`, null],
  },
});

testRewrite(fuseResizeAxes, {
  rewrites: {
    "the plane of another tensor": [sized("n, s"), { opset: 18 }],
    "one of two axes": [sized("n, $four: i64[1] = {4}, $nine: i64[1] = {9}"), { opset: 18 }],
  },
  leaves: {
    "channels that change": [sized("$k: i64[2] = {2, 6}, s"), null, { opset: 18 }],
    "sizes of a kept ratio": [sized("n, s", ', keep_aspect_ratio_policy="not_larger"'), null, { opset: 18 }],
    "sizes that come in one": [
      `(x: f32[N,3,4,5], z: f32[N,3,h,w]) -> (y) {
        t = Shape(z)
        y = Resize<mode="linear">(x, _, _, t)
      }`,
      null,
      { opset: 18 },
    ],
  },
});

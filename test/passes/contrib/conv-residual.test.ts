import { fuseConvResidual } from "../../../src/passes/contrib/conv-residual.js";
import { testRewrite } from "../../support/test-rewrite.js";

const conv = (rest: string, inputs = ", z: f32[N,3,9]"): string => `(x: f32[N,3,9]${inputs}) -> (y) {
  c = Conv<kernel_shape=[3], pads=[1,1]>(x, $w: f32[3,3,3], $b: f32[3])
  ${rest}
}`;

testRewrite(fuseConvResidual, {
  rewrites: {
    "Conv and Add": conv("y = Add(c, z)"),
    "the residual first, which is what the Conv reads": conv("y = Add(x, c)", ""),
    "a Conv without bias, along three axes": `(x: f32[N,2,4,4,4], z: f32[N,2,4,4,4]) -> (y) {
      c = Conv<kernel_shape=[1,1,1]>(x, $w: f32[2,2,1,1,1])
      y = Add(c, z)
    }`,
    "one of two Convs": `(x: f32[N,3,9]) -> (y) {
      c = Conv(x, $w: f32[3,3,1])
      d = Conv(x, $v: f32[3,3,1])
      y = Add(c, d)
    }`,
  },
  leaves: {
    "a Conv along two axes": [
      `(x: f32[N,3,9,9], z: f32[N,3,9,9]) -> (y) {
        c = Conv(x, $w: f32[3,3,1,1])
        y = Add(c, z)
      }`,
      "the runtime is quicker with a Conv along two axes and an Add",
    ],
    "a number per channel": [
      conv("y = Add(c, z)", ", z: f32[3,1]"),
      "the addend may differ in shape from the result of the Conv",
    ],
    "an addend that may be wider": [
      conv("y = Add(c, z)", ", z: f32[M,3,9]"),
      "the addend may differ in shape from the result of the Conv",
    ],
    "a Conv that others read": [conv("y = Add(c, z)\n  t = Relu(c)").replace("-> (y)", "-> (y, t)"), null],
    "a Conv twice": [conv("y = Add(c, c)"), null],
    "no Conv": ["(x: f32[N,3], z: f32[N,3]) -> (y) { y = Add(x, z) }", null],
    float16: [
      "(x: f16[N,3,9]) -> (y) { c = Conv(x, $w: f16[3,3,1])\n y = Add(c, x) }",
      "FusedConv computes in f32 only",
    ],
  },
});

import { liftGroupedConv } from "../../../src/passes/layout/lift-grouped-conv.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(liftGroupedConv, {
  rewrites: {
    "a depthwise convolution":
      "(x: f32[N,4,12]) -> (y) { y = Conv<group=4, pads=[3,1]>(x, $w: f32[4,1,5], $b: f32[4]) }",
    "groups with strides and dilations":
      "(x: f32[N,4,20]) -> (y) { y = Conv<group=2, kernel_shape=[5], strides=[2], dilations=[3]>(x, $w: f32[6,2,5]) }",
    "padding that follows from the size":
      '(x: f32[N,4,12]) -> (y) { y = Conv<group=4, auto_pad="SAME_LOWER", strides=[2]>(x, $w: f32[4,1,6]) }',
    "a length of any size": "(x: f32[2,4,L]) -> (y) { y = Conv<group=4, pads=[4,4]>(x, $w: f32[4,1,5]) }",
  },
  leaves: {
    "one group": ["(x: f32[N,4,12]) -> (y) { y = Conv(x, $w: f32[4,4,5]) }", null],
    "a short kernel": ["(x: f32[N,4,12]) -> (y) { y = Conv<group=4>(x, $w: f32[4,1,3]) }", null],
    "a plane": ["(x: f32[N,4,12,12]) -> (y) { y = Conv<group=4>(x, $w: f32[4,1,5,5]) }", null],
    "weights that are computed": ["(x: f32[N,4,12], w: f32[4,1,5]) -> (y) { y = Conv<group=4>(x, w) }", null],
    "half precision": ["(x: f16[N,4,12]) -> (y) { y = Conv<group=4>(x, $w: f16[4,1,5]) }", null],
    "what runs elsewhere": [
      "(x: f32[N,4,12]) -> (y) { y = Conv<group=4>(x, $w: f32[4,1,5]) }",
      "NVIDIA TensorRT 11: its kernels for groups are those of planes",
      { target: "tensorrt" },
    ],
  },
});

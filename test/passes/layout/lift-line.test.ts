import { liftLine } from "../../../src/passes/layout/lift-line.js";
import { testRewrite } from "../../support/test-rewrite.js";

testRewrite(liftLine, {
  rewrites: {
    "a depthwise convolution":
      "(x: f32[N,12,12]) -> (y) { y = Conv<group=12, pads=[3,1]>(x, $w: f32[12,1,5], $b: f32[12]) }",
    "groups of whole blocks, with strides and dilations":
      "(x: f32[N,32,20]) -> (y) { y = Conv<group=2, kernel_shape=[5], strides=[2], dilations=[3]>(x, $w: f32[64,16,5]) }",
    "one group of whole blocks": "(x: f32[N,16,9]) -> (y) { y = Conv<pads=[1,1]>(x, $w: f32[32,16,3]) }",
    "padding that follows from the size":
      '(x: f32[N,16,12]) -> (y) { y = Conv<auto_pad="SAME_LOWER", strides=[2]>(x, $w: f32[16,16,6]) }',
    "a line of any length": "(x: f32[2,16,L]) -> (y) { y = Conv<pads=[4,4]>(x, $w: f32[16,16,5]) }",
    "axes that are an attribute": ["(x: f32[N,16,9]) -> (y) { y = Conv(x, $w: f32[16,16,3]) }", { opset: 11 }],
    "weights that are widened when the model is loaded": `(x: f32[N,16,9]) -> (y) {
        c = Cast<to=1>($q: i8[16,16,3])
        w = Mul(c, $s: f32[16,1,1])
        y = Conv(x, w)
      }`,
    "what reads a plane of one row already": `(x: f32[N,16,1,9]) -> (y) {
        l = Squeeze(x, $a: i64[1] = {2})
        y = Conv(l, $w: f32[16,16,3])
      }`,
    "pools of a plane of one row": `(x: f32[N,4,1,20]) -> (m, a, g, h) {
        l = Squeeze(x, $axis: i64[1] = {-2})
        m = MaxPool<kernel_shape=[3], strides=[2], pads=[1,0], ceil_mode=1>(l)
        a = AveragePool<kernel_shape=[3], pads=[1,1], count_include_pad=1>(l)
        g = GlobalAveragePool(l)
        h = GlobalMaxPool(l)
      }`,
  },
  leaves: {
    "channels that fill no block": ["(x: f32[N,12,12]) -> (y) { y = Conv(x, $w: f32[16,12,5]) }", null],
    "outputs that fill no block": ["(x: f32[N,16,12]) -> (y) { y = Conv(x, $w: f32[20,16,5]) }", null],
    "groups that fill no block": ["(x: f32[N,16,12]) -> (y) { y = Conv<group=2>(x, $w: f32[32,8,5]) }", null],
    "channels each on its own that fill no vector": [
      "(x: f32[N,14,12]) -> (y) { y = Conv<group=14>(x, $w: f32[14,1,5]) }",
      null,
    ],
    "outputs of a group that fill no block": [
      "(x: f32[N,32,12]) -> (y) { y = Conv<group=2>(x, $w: f32[16,16,5]) }",
      null,
    ],
    "few channels each on its own": ["(x: f32[N,8,12]) -> (y) { y = Conv<group=8>(x, $w: f32[8,1,5]) }", null],
    "several outputs of each channel": ["(x: f32[N,16,12]) -> (y) { y = Conv<group=16>(x, $w: f32[32,1,5]) }", null],
    "a plane": ["(x: f32[N,16,12,12]) -> (y) { y = Conv(x, $w: f32[16,16,5,5]) }", null],
    "weights that are computed": ["(x: f32[N,16,12], w: f32[16,16,5]) -> (y) { y = Conv(x, w) }", null],
    "weights of a static integer": [
      `(x: f32[N,16,9]) -> (y) {
        w = DequantizeLinear<axis=0>($q: i8[16,16,3], $s: f32[16], $z: i8[16])
        y = Conv(x, w)
      }`,
      null,
    ],
    "weights that others read": [
      "(x: f32[N,16,12]) -> (y, z) { y = Conv(x, $w: f32[16,16,5])\n z = Conv<pads=[2,2]>(x, w) }",
      null,
    ],
    "a pool of half precision": [
      "(x: f16[N,4,1,20]) -> (y) { l = Squeeze(x, $a: i64[1] = {2}) y = GlobalAveragePool(l) }",
      null,
    ],
    "half precision": ["(x: f16[N,16,12]) -> (y) { y = Conv(x, $w: f16[16,16,5]) }", null],
    "a pool of a line": ["(x: f32[N,16,12]) -> (y) { y = MaxPool<kernel_shape=[3]>(x) }", null],
    "a pool of a plane of several rows that are one axis": [
      "(x: f32[N,4,3,20]) -> (y) { l = Reshape(x, $s: i64[3] = {0, 4, 60})\n y = MaxPool<kernel_shape=[3]>(l) }",
      null,
    ],
    "places of the largest": [
      "(x: f32[N,4,1,20]) -> (y, i) { l = Squeeze(x, $a: i64[1] = {2})\n y, i = MaxPool<kernel_shape=[3]>(l) }",
      null,
    ],
    "what runs elsewhere": [
      "(x: f32[N,16,12]) -> (y) { y = Conv(x, $w: f32[16,16,5]) }",
      "NVIDIA TensorRT 11: its kernels for channels side by side are those of planes",
      { target: "tensorrt" },
    ],
  },
});

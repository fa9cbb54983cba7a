import { inlineChannelMultiplier } from "../../../src/passes/fuse/inline-channel-multiplier.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** 8 channels, of which two are made each, and a dense Conv that reads them. */
const between = (
  steps: string,
  read = "d",
  weight = "$k: f32[16,1,3,3], $c: f32[16]",
): string => `(x: f32[N,8,9,9]) -> (y) {
  d = Conv<group=8, kernel_shape=[3,3], pads=[1,1,1,1]>(x, ${weight})
  ${steps}
  y = Conv(${read}, $v: f32[5,16,1,1], $b: f32[5])
}`;

testRewrite(inlineChannelMultiplier, {
  rewrites: {
    "two of each channel": between(""),
    "four of each, without a bias": `(x: f32[2,4,9,9]) -> (y) {
      d = Conv<group=4, strides=[2,2]>(x, $k: f32[16,1,3,3])
      y = Conv(d, $v: f32[5,16,3,3])
    }`,
    "activations and pools between": between(
      "r = Clip(d, $low: f32 = {-0.2}, $high: f32 = {0.3})\n p = MaxPool<kernel_shape=[2,2]>(r)\n g = Sigmoid(p)",
      "g",
    ),
    "another Conv of each channel": between(
      "r = Relu(d)\n e = Conv<group=16, kernel_shape=[1,3]>(r, $own: f32[16,1,1,3], $f: f32[16])",
      "e",
    ),
    "a line": `(x: f32[N,8,20]) -> (y) {
      d = Conv<group=8>(x, $k: f32[24,1,3], $c: f32[24])
      r = Elu(d)
      y = Conv(r, $v: f32[5,24,1])
    }`,
    "what is read twice in front": `(x: f32[N,8,9,9]) -> (y, z) {
      a = Relu(x)
      d = Conv<group=8>(a, $k: f32[16,1,3,3])
      y = Conv(d, $v: f32[5,16,1,1])
      z = Neg(a)
    }`,
  },
  leaves: {
    "one of each": [between("", "d", "$k: f32[16,1,3,3]").replace("group=8", "group=16").replace("N,8", "N,16"), null],
    "groups of two": [between("", "d", "$k: f32[16,2,3,3]").replace("N,8", "N,16"), null],
    "what others read, too": [between("z = Neg(d)").replace("-> (y)", "-> (y, z)"), null],
    "what is read twice by the same": [between("r = Mul(d, d)", "r"), null],
    "numbers for each channel": [between("r = Mul(d, $m: f32[16,1,1])", "r"), null],
    "channels that are moved": [between("r = Transpose<perm=[0,1,3,2]>(d)", "r"), null],
    "a Conv in groups behind it": [
      between("").replace("Conv(d, $v: f32[5,16", "Conv<group=2>(d, $v: f32[4,8").replace("f32[5]", "f32[4]"),
      null,
    ],
    "a pool that says where": [
      between("r, i = MaxPool<kernel_shape=[2,2]>(d)", "r").replace("-> (y)", "-> (y, i)"),
      null,
    ],
    "a volume": [
      "(x: f32[N,8,4,4,4]) -> (y) {\n d = Conv<group=8>(x, $k: f32[16,1,3,3,3])\n y = Conv(d, $v: f32[5,16,1,1,1])\n}",
      null,
    ],
    "an odd number of channels": [
      "(x: f32[N,7,9,9]) -> (y) {\n d = Conv<group=7>(x, $k: f32[14,1,3,3])\n y = Conv(d, $v: f32[5,14,1,1])\n}",
      null,
    ],
    "weights that are computed": [
      `(x: f32[N,8,9,9], k: f32[16,1,3,3]) -> (y) {
        d = Conv<group=8>(x, k)
        y = Conv(d, $v: f32[5,16,1,1])
      }`,
      null,
    ],
    "what runs elsewhere": [
      between(""),
      "NVIDIA TensorRT 11: its kernel for a Conv in groups gathers each window",
      { target: "tensorrt" },
    ],
  },
});

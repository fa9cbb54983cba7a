import { fuseCrop } from "../../../src/passes/fuse/crop.js";
import { testRewrite } from "../../support/test-rewrite.js";

const cropped = (attributes: string, weight: string, bounds: string, op = "Conv", input = "f32[N,2,L]"): string =>
  `(x: ${input}) -> (y) {
    c = ${op}<${attributes}>(x, $w: f32[${weight}])
    y = Slice(c, ${bounds})
  }`;
const at = (starts: string, ends: string, axes: string): string => {
  const n = starts.split(",").length;
  return `$s: i64[${n}] = {${starts}}, $e: i64[${n}] = {${ends}}, $a: i64[${n}] = {${axes}}`;
};

testRewrite(fuseCrop, {
  rewrites: {
    "a causal Conv": cropped("pads=[2,2]", "3,2,3", at("0", "-2", "2")),
    "a causal Conv with dilation": cropped("pads=[4,4], dilations=[2]", "3,2,3", at("0", "-4", "-1")),
    "a Conv that is cut at both ends": cropped("pads=[3,3]", "3,2,3", at("2", "-2", "2")),
    "a Conv with a stride": cropped("pads=[4,4], strides=[2]", "3,2,3", at("1", "9223372036854775807", "2")),
    "two axes of a Conv": cropped("pads=[2,1,2,1]", "3,2,3,2", at("0,0", "-2,-1", "2,3"), "Conv", "f32[N,2,H,W]"),
    "a size that is known": cropped("pads=[2,2]", "3,2,3", at("0", "5", "2"), "Conv", "f32[N,2,5]"),
    "a whole axis beside": cropped("pads=[2,2]", "3,2,3", at("0,0", "3,-2", "1,2")),
    "a ConvTranspose": cropped("strides=[2]", "2,3,4", at("1", "-1", "2"), "ConvTranspose"),
    "a ConvTranspose with more at its end": cropped(
      "strides=[2], output_padding=[1], pads=[1,0]",
      "2,3,4",
      at("0", "-2", "2"),
      "ConvTranspose",
    ),
  },
  leaves: {
    "more than the padding": [
      cropped("pads=[1,1]", "3,2,3", at("0", "-2", "2")),
      "more is cut off than the padding has made",
    ],
    "what would leave nothing of one element": [
      cropped("pads=[2,2]", "3,2,3", at("1", "-2", "2")),
      "of a small input nothing is left",
    ],
    "a ConvTranspose of which nothing may be left": [
      cropped("", "2,3,3", at("1", "-2", "2"), "ConvTranspose"),
      "of a small input nothing is left",
    ],
    "channels that are cut": [cropped("pads=[2,2]", "3,2,3", at("0", "2", "1")), "the batch or channel axis is cut"],
    "the batch": [cropped("pads=[2,2]", "3,2,3", at("0", "-1", "0")), "the batch or channel axis is cut"],
    "every second element": [
      cropped("pads=[2,2]", "3,2,3", `${at("0", "-2", "2")}, $p: i64[1] = {2}`),
      "the Slice takes only some of the elements",
    ],
    "an end that is counted from the front": [
      cropped("pads=[2,2]", "3,2,3", at("0", "3", "2")),
      "how much is cut off depends on the size",
    ],
    "bounds of the run": [
      `(x: f32[N,2,L], e: i64[1]) -> (y) {
        c = Conv<pads=[2,2]>(x, $w: f32[3,2,3])
        y = Slice(c, $s: i64[1] = {0}, e, $a: i64[1] = {2})
      }`,
      "the bounds are computed at run time",
    ],
    "padding that follows from the size": [
      cropped('auto_pad="SAME_UPPER"', "3,2,3", at("0", "-1", "2")),
      "auto_pad is SAME_UPPER",
    ],
    "a ConvTranspose of a given size": [
      cropped("strides=[2], output_shape=[8]", "2,3,4", at("1", "-1", "2"), "ConvTranspose", "f32[N,2,4]"),
      "the padding follows from the size of the output",
    ],
    "a Conv that others read": [
      `(x: f32[N,2,L]) -> (y, z) {
        c = Conv<pads=[2,2]>(x, $w: f32[3,2,3])
        y = Slice(c, ${at("0", "-2", "2")})
        z = Relu(c)
      }`,
      null,
    ],
  },
});

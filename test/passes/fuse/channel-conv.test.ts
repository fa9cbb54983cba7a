import { fuseChannelConv } from "../../../src/passes/fuse/channel-conv.js";
import { testRewrite } from "../../support/test-rewrite.js";

const IMAGE = "x: f32[N,12,4,5]";
const graph = (lines: string, input = IMAGE): string => `(${input}) -> (y) {\n${lines}\n}`;
const CONV = "$w: f32[2,12,3,3]";
const NORM =
  "n = BatchNormalization(x, $g: f32[12], $b: f32[12], $m: f32[12], $v: f32[12] = {0.5, 1, 1.5, 2, 2.5, 3, 1, 2, 3, 4, 5, 6})";
const AFFINE = "p = Mul(x, $s: f32[12,1,1]) n = Add(p, $t: f32[1,12,1,1])";

testRewrite(fuseChannelConv, {
  rewrites: {
    "a normalization in front of a Conv": graph(`${NORM} y = Conv<pads=[1,1,1,1]>(n, ${CONV})`),
    "one of another epsilon, through an activation": graph(
      `${NORM.replace("Normalization(", "Normalization<epsilon=0.5>(")} r = Relu(n) y = Conv<pads=[1,1,1,1]>(r, ${CONV})`,
    ),
    "factor and addend": graph(`${AFFINE} r = Relu(n) y = Conv(r, ${CONV})`),
    "factor and subtrahend": graph(`${AFFINE.replace("Add", "Sub")} y = MaxPool<kernel_shape=[2,2]>(n)`),
    "what is subtracted from": graph(
      "p = Mul($s: f32[1], x) n = Sub($t: f32[12,1,1], p) r = Clip(n, $l: f32[] = {0.0}) y = GlobalAveragePool(r)",
    ),
    "one number for all": graph(`p = Mul(x, $s: f32[]) n = Add(p, $t: f32[1,1,1]) y = Conv(n, ${CONV})`),
    "an addend alone": graph(`n = Add($t: f32[12,1,1], x) y = Conv(n, ${CONV})`),
    "a subtrahend alone, through an activation": graph(
      `n = Sub(x, $t: f32[1,12,1,1]) r = Relu(n) y = Conv(r, ${CONV})`,
    ),
    "what x alone is subtracted from": graph(`n = Sub($t: f32[12,1,1], x) r = Relu(n) y = Conv(r, ${CONV})`),
    "an addend to a product that others read": `(${IMAGE}) -> (y, p) { ${AFFINE} y = Conv(n, ${CONV}) }`,
    "what others read too": `(${IMAGE}) -> (y, n) { ${NORM} y = Conv(n, ${CONV}) }`,
  },
  leaves: {
    "what no Conv reads": [graph(`${NORM} y = Softmax(n)`), null],
    "what a Conv has for weights": [
      graph("p = Mul(x, $s: f32[1]) n = Add(p, $t: f32[1]) y = Conv(z, n)", "x: f32[2,12,3,3], z: f32[N,12,5,5]"),
      null,
    ],
    "channels that fill no vector": [
      graph(
        "p = Mul(x, $s: f32[14,1,1]) n = Add(p, $t: f32[14,1,1]) y = Conv(n, $w: f32[2,14,3,3])",
        "x: f32[N,14,4,5]",
      ),
      null,
    ],
    "few channels": [
      graph("p = Mul(x, $s: f32[8,1,1]) n = Add(p, $t: f32[8,1,1]) y = Conv(n, $w: f32[2,8,3,3])", "x: f32[N,8,4,5]"),
      null,
    ],
    "a factor alone": [graph(`p = Mul(x, $s: f32[12,1,1]) y = Conv(p, ${CONV})`), null],
    "an addend of places": [graph(`p = Mul(x, $s: f32[12,1,1]) n = Add(p, $t: f32[4,5]) y = Conv(n, ${CONV})`), null],
    "an addend alone of places": [graph(`n = Add(x, $t: f32[4,5]) y = Conv(n, ${CONV})`), null],
    "one number alone": [graph(`n = Add(x, $t: f32[1]) y = Conv(n, ${CONV})`), null],
    "a factor of places": [graph(`p = Mul(x, $s: f32[5]) n = Add(p, $t: f32[12,1,1]) y = Conv(n, ${CONV})`), null],
    "a line": [
      graph("p = Mul(x, $s: f32[12,1]) n = Add(p, $t: f32[12,1]) y = Conv(n, $w: f32[2,12,3])", "x: f32[N,12,7]"),
      null,
    ],
    "statistics that are computed": [
      graph(
        `n = BatchNormalization(x, g, $b: f32[12], $m: f32[12], $v: f32[12] = {1,1,1,1,1,1,1,1,1,1,1,1}) y = Conv(n, ${CONV})`,
        `${IMAGE}, g: f32[12]`,
      ),
      "statistics are no float constants, one number per channel",
    ],
    "what runs elsewhere": [
      graph(`${AFFINE} y = Conv(n, ${CONV})`),
      "NVIDIA TensorRT 11: its kernels for channels side by side are those of Conv",
      { target: "tensorrt" },
    ],
  },
});

import { describe, expect, it } from "vitest";
import { splitFourierConv } from "../../../../src/passes/linear/fourier/split-fourier-conv.js";
import { trigonometricRows, windowOf } from "../../../../src/passes/linear/fourier/trigonometric-rows.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const LENGTH = 128;

/** Window times cosines or sines of bins 0, 1, 2 and so on, as an exporter stores them. */
function wave(of: "cos" | "sin", bins: number, { sign = 1, length = LENGTH, power = 1 } = {}): number[] {
  return Array.from({ length: bins * length }, (_, at) => {
    const [bin, n] = [Math.floor(at / length), at % length];
    const window = (0.54 - 0.46 * Math.cos((2 * Math.PI * n) / length)) ** power;
    return Math.fround(sign * window * Math[of]((2 * Math.PI * bin * n) / length));
  });
}

interface Form {
  readonly shape?: string;
  readonly dims?: string;
  readonly attributes?: string;
  /** Those of the second Conv, where they are others. */
  readonly other?: string;
}

const pair = (cosines: number[], sines: number[], form: Form = {}): string => {
  const { shape = "1,1,4000", dims = `${cosines.length / LENGTH},1,${LENGTH}`, attributes = "strides=[16]" } = form;
  return `(x: f32[${shape}]) -> (a, b) {
  a = Conv<${attributes}>(x, $c: f32[${dims}] = {${cosines.join()}})
  b = Conv<${form.other ?? attributes}>(x, $s: f32[${dims}] = {${sines.join()}})
}`;
};
const one = (rows: number[], attributes = "strides=[16]", shape = "1,1,4000"): string =>
  `(x: f32[${shape}]) -> (y) {
    y = Conv<${attributes}>(x, $w: f32[${rows.length / LENGTH},1,${LENGTH}] = {${rows.join()}})
  }`;
const changed = (rows: number[], at: number, by: number): number[] => rows.with(at, rows[at]! + by);

const [cos, sin] = [wave("cos", 65), wave("sin", 65)];
const forwards = wave("sin", 65, { sign: -1 });

testRewrite(splitFourierConv, {
  rewrites: {
    "real and imaginary parts beside each other": pair(cos, forwards),
    "imaginary parts of the other sign": pair(cos, sin),
    "imaginary parts first": pair(sin, cos),
    "both in one": one([...cos, ...forwards]),
    "both in one, of the other sign": one([...cos, ...sin]),
    "a batch that is not known": pair(cos, sin, { shape: "N,1,4000" }),
    "a signal in a plane": pair(cos, sin, {
      shape: "1,1,1,4000",
      dims: `65,1,1,${LENGTH}`,
      attributes: "strides=[1,16]",
    }),
    "fewer bins than there are": pair(wave("cos", 40), wave("sin", 40)),
    "all bins": pair(wave("cos", LENGTH), wave("sin", LENGTH)),
    "another length": `(x: f32[1,1,4000]) -> (y) {
      y = Conv<strides=[20]>(x, $w: f32[102,1,100] = {${[...wave("cos", 51, { length: 100 }), ...wave("sin", 51, { length: 100 })].join()}})
    }`,
    "a bias of zeros": `(x: f32[1,1,4000]) -> (y) {
      y = Conv<strides=[16]>(x, $w: f32[130,1,128] = {${[...cos, ...sin].join()}}, $b: f32[130] = {${new Array(130).fill(0).join()}})
    }`,
    "a signal of which others read more": `(x: f32[1,1,4000], z: f32[1,1,4000]) -> (a, b, c) {
      y = Add(x, z)
      c = Conv<strides=[16]>(y, $o: f32[65,1,128])
      a = Conv<strides=[16]>(y, $k: f32[65,1,128] = {${cos.join()}})
      r = Relu(a)
      b = Conv<strides=[16]>(y, $s: f32[65,1,128] = {${sin.join()}})
    }`.replace("(a, b, c)", "(r, b, c)"),
  },
  leaves: {
    "real parts alone": [one(cos), null],
    "a weight that is off": [pair(changed(cos, 700, 1e-4), sin), null],
    "a weight of the other that is off": [pair(cos, changed(sin, 700, 1e-4)), null],
    "a weight where all sines are 0": [pair(cos, changed(sin, LENGTH / 2, 1e-4)), null],
    "windows that differ": [pair(cos, wave("sin", 65, { power: 2 })), null],
    "steps that differ": [pair(cos, sin, { other: "strides=[32]" }), null],
    "steps that no factor divides": [pair(cos, sin, { attributes: "strides=[17]" }), null],
    padding: [pair(cos, sin, { attributes: "strides=[16], pads=[8,8]" }), null],
    "padding that is not told": [pair(cos, sin, { attributes: 'strides=[16], auto_pad="SAME_UPPER"' }), null],
    dilation: [pair(cos, sin, { attributes: "strides=[16], dilations=[2]" }), null],
    "a bias": [
      `(x: f32[1,1,4000]) -> (y) {
        y = Conv<strides=[16]>(x, $w: f32[130,1,128] = {${[...cos, ...sin].join()}}, $b: f32[130])
      }`,
      null,
    ],
    "a signal of several rows": [
      pair(cos, sin, { shape: "1,1,3,4000", dims: `65,1,1,${LENGTH}`, attributes: "strides=[1,16]" }),
      null,
    ],
    "few frames": [pair(cos, sin, { shape: "1,1,300" }), null],
    "weights that are anything": ["(x: f32[1,1,4000]) -> (y) { y = Conv<strides=[16]>(x, $w: f32[130,1,128]) }", null],
    "what runs elsewhere": [
      pair(cos, sin),
      "NVIDIA TensorRT 11: its kernel for Conv takes as long as it has weights",
      { target: "tensorrt" },
    ],
  },
});

describe("trigonometricRows", () => {
  it("finds the window, and which way imaginary parts turn", () => {
    const found = trigonometricRows(cos, sin, LENGTH);
    expect(found!.sign).toBe(-1);
    expect(trigonometricRows(cos, forwards, LENGTH)!.sign).toBe(1);
    for (const [n, value] of found!.window.entries())
      expect(value).toBeCloseTo(0.54 - 0.46 * Math.cos((2 * Math.PI * n) / LENGTH), 6);
  });

  it("finds none in zeros, nor in what is not finite", () => {
    expect(windowOf(new Float32Array(65 * LENGTH), LENGTH, "cosine")).toBeNull();
    expect(windowOf(changed(cos, 70, Number.NaN), LENGTH, "cosine")).toBeNull();
    expect(windowOf(changed(cos, 70, Number.POSITIVE_INFINITY), LENGTH, "cosine")).toBeNull();
  });
});

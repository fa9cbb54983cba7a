import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../../../src/ir/index.js";
import { inlineDft } from "../../../../src/passes/linear/fourier/inline-dft.js";
import { annotateTypes, runPasses } from "../../../../src/rewrite/index.js";
import { describeModel } from "../../../support/ask-runtime.js";
import { runModel } from "../../../support/run-model.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const UNKNOWN = "sizes beside the axis are not known";
const LONG = "the runtime's own transform is faster for this length";

const dft = (shape: string, attributes = "", length = ""): string =>
  `(x: f32[${shape}]) -> (y) { y = DFT${attributes && `<${attributes}>`}(x${length && `, $n: i64 = {${length}}`}) }`;
/** With the axis as an input. */
const later = (shape: string, attributes: string, axis: string, length = "_"): string =>
  `(x: f32[${shape}]) -> (y) { y = DFT${attributes && `<${attributes}>`}(x, ${length}, $a: i64 = {${axis}}) }`;

testRewrite(inlineDft, {
  rewrites: {
    "real places": dft("N,4,8,1", "axis=2"),
    "real places to half of the bins": dft("N,4,8,1", "axis=2, onesided=1"),
    "complex places": dft("N,4,8,2", "axis=2"),
    "the axis that it has when none is given": dft("3,8,2"),
    "an axis counted from the end": dft("N,8,4,2", "axis=-3"),
    "an axis with others behind it": dft("N,8,4,3,2", "axis=1"),
    "an axis with one of unknown size behind it": dft("8,N,2", "axis=0"),
    "real places with axes behind": dft("N,8,4,1", "axis=1, onesided=1"),
    "the way back": dft("N,4,8,2", "axis=2, inverse=1"),
    "the way back along an axis further in front": dft("N,8,4,2", "axis=1, inverse=1"),
    "the way back to real places": dft("N,4,5,2", "axis=2, inverse=1, onesided=1"),
    "the way back to real places, an odd number": dft("N,16,3,2", "axis=2, inverse=1, onesided=1", "5"),
    "the way back to real places, further in front": dft("N,5,4,2", "axis=1, inverse=1, onesided=1"),
    "the way back from real bins": dft("N,16,8,1", "axis=2, inverse=1"),
    "fewer places than there are": dft("N,16,10,2", "axis=2", "8"),
    "more places than there are": dft("N,16,5,1", "axis=2, onesided=1", "8"),
    "one place": dft("N,64,1,2", "axis=2"),
    "two places": dft("N,64,2,1", "axis=2, onesided=1"),
    "an axis that is an input": [later("N,8,4,2", "", "1"), { opset: 20 }],
    "an axis that is an input, from the end": [later("N,4,8,2", "inverse=1", "-2"), { opset: 20 }],
    "no axis, which is another one by then": [dft("N,4,8,2"), { opset: 20 }],
    "two axes, there and back": `(x: f32[N,3,8,4,1]) -> (y) {
      a = DFT<axis=3, onesided=1>(x)
      b = DFT<axis=2>(a)
      c = Sigmoid(b)
      d = DFT<axis=2, inverse=1>(c)
      y = DFT<axis=3, inverse=1, onesided=1>(d)
    }`,
    "factors in front and behind": `(x: f32[N,16,8,2]) -> (y) {
      a = Div(x, $d: f32 = {2.5})
      b = DFT<axis=2>(a)
      y = Mul($m: f32 = {-0.5}, b)
    }`,
    "a quotient behind": `(x: f32[N,16,8,2]) -> (y) {
      b = DFT<axis=2>(x)
      c = Div(b, $d: f32[1] = {2.5})
      y = Relu(c)
    }`,
    "a factor that others read, too": `(x: f32[N,16,8,2]) -> (y, a) {
      a = Mul(x, $d: f32 = {2.5})
      y = DFT<axis=2>(a)
    }`,
    "a spectrum that is scaled for some": `(x: f32[N,16,8,2]) -> (y, z) {
      b = DFT<axis=2>(x)
      y = Mul(b, $d: f32 = {2.5})
      z = Relu(b)
    }`,
    "a large factor": "(x: f32[N,16,8,2]) -> (y) { a = Mul(x, $k: f32 = {512}) y = DFT<axis=2>(a) }",
    "a sum in front": "(x: f32[N,16,8,2]) -> (y) { a = Add(x, $k: f32 = {2.5}) y = DFT<axis=2>(a) }",
    "one over the places": "(x: f32[N,16,8,2]) -> (y) { a = Div($k: f32 = {1}, x) y = DFT<axis=2>(a) }",
    "a factor that adds an axis": "(x: f32[8,4,2]) -> (y) { a = Mul(x, $k: f32[1,1,1,1] = {3}) y = DFT<axis=2>(a) }",
    "a quotient that others read, too": `(x: f32[N,16,8,2]) -> (y, z) {
      b = DFT<axis=2>(x)
      c = Div(b, $d: f32[1] = {2.5})
      y = Relu(c)
      z = Neg(c)
    }`,
    "zeros along another axis": `(x: f32[2,16,4,1]) -> (y) {
      z = Expand($zero: f32 = {0}, $s: i64[4] = {2,16,4,1})
      c = Concat<axis=2>(x, z)
      y = DFT<axis=2>(c)
    }`,
    "two steps, several sizes that are not known": dft("N,M,40,256,1", "axis=3, onesided=1"),
    "two steps back, several sizes that are not known": dft("N,M,40,129,2", "axis=3, inverse=1, onesided=1"),
    "one over the spectrum": `(x: f32[N,16,8,2]) -> (y) {
      b = DFT<axis=2>(x)
      c = Abs(b)
      d = Add(c, $e: f32 = {1})
      y = Div($one: f32 = {1}, d)
    }`,
    "a factor for each": `(x: f32[N,16,8,2]) -> (y) {
      b = DFT<axis=2>(x)
      y = Mul(b, $d: f32[2] = {2.5, 1.5})
    }`,
    "factors that are too large to meet": `(x: f32[N,16,8,2]) -> (y) {
      a = Mul(x, $d: f32 = {1e-20})
      b = DFT<axis=2>(a)
      y = Mul(b, $e: f32 = {1e20})
    }`,
    "an imaginary part of zeros": `(x: f32[N,16,8,1]) -> (y) {
      c = Concat<axis=-1>(x, $zeros: f32[2,16,8,1] = {${new Array(256).fill(0).join()}})
      y = DFT<axis=2>(c)
    }`.replaceAll("N,", "2,"),
    "an imaginary part of zeros that are made": `(x: f32[N,16,8,1]) -> (y) {
      s = Shape(x)
      z = ConstantOfShape(s)
      c = Concat<axis=3>(x, z)
      y = DFT<axis=2, inverse=1>(c)
    }`,
    "a real part of zeros": `(x: f32[1,16,8,1]) -> (y) {
      z = Expand($zero: f32 = {0}, $shape: i64[4] = {1,16,8,1})
      c = Concat<axis=3>(z, x)
      y = DFT<axis=2>(c)
    }`,
    "an imaginary part of zeros, back to real places": `(x: f32[1,16,5,1]) -> (y) {
      z = Expand($zero: f32 = {0}, $shape: i64[4] = {1,16,5,1})
      c = Concat<axis=3>(x, z)
      y = DFT<axis=2, inverse=1, onesided=1>(c)
    }`,
    "long transforms in two steps": dft("1,40,256,1", "axis=2, onesided=1"),
    "two steps, further in front": dft("1,3,256,20,1", "axis=2, onesided=1"),
    "two steps of complex places": dft("40,512,2", "axis=1"),
    "two steps of complex places, further in front": dft("3,128,50,2", "axis=1"),
    "two steps, back": dft("40,256,2", "axis=1, inverse=1"),
    "two steps, back to real places": dft("1,40,257,2", "axis=2, inverse=1, onesided=1"),
    "two steps, back to real places, further in front": dft("2,257,30,2", "axis=1, inverse=1, onesided=1"),
    "long transforms that are cut off": dft("1,64,300,1", "axis=2, onesided=1", "256"),
    "two steps of a batch that is not known": dft("N,40,256,1", "axis=2"),
    "two steps and factors": `(x: f32[40,257,2]) -> (y) {
      a = Mul(x, $s: f32 = {3})
      b = DFT<axis=1, inverse=1, onesided=1>(a)
      y = Div(b, $t: f32 = {0.7})
    }`,
    "two steps and factors, forwards": `(x: f32[40,256,2]) -> (y) {
      a = Mul(x, $s: f32 = {3})
      b = DFT<axis=1>(a)
      y = Div(b, $t: f32 = {0.7})
    }`,
  },
  leaves: {
    "what is long, where sizes that steps would need are not known": [dft("N,M,4096,1", "axis=2, onesided=1"), LONG],
    "few rows, however many parts they have": [dft("10,128,2", "axis=1"), LONG],
    "one-sided spectra of complex places": [dft("N,16,8,2", "axis=2, onesided=1"), null],
    "real bins, back to real places": [dft("N,16,5,1", "axis=2, inverse=1, onesided=1"), null],
    "three parts": [dft("N,16,8,3", "axis=2"), null],
    "no places": [dft("4,0,2", "axis=1", "8"), null],
    "stacks of unknown size in front of what is open": [dft("N,8,M,2", "axis=1"), UNKNOWN],
    "an axis of unknown size": [dft("4,N,2"), null],
    "two sizes behind that are not known": [dft("8,N,M,2", "axis=0"), UNKNOWN],
    "stacks that may be none": [dft("4,N,8,3,2", "axis=2"), UNKNOWN],
    "a length that is computed": ["(x: f32[N,8,2], n: i64) -> (y) { y = DFT<axis=1>(x, n) }", null],
    "an axis that is computed": ["(x: f32[N,8,2], a: i64) -> (y) { y = DFT(x, _, a) }", null, { opset: 20 }],
    "bins that are not as many as the length has": [dft("N,16,8,2", "axis=2, inverse=1, onesided=1", "10"), null],
    "very long transforms": [dft("1,64,65536,1", "axis=2, onesided=1"), LONG],
    "a single row of many places": [dft("N,512,1", "axis=1, onesided=1"), LONG],
    "double precision": ["(x: f64[N,16,8,2]) -> (y) { y = DFT<axis=2>(x) }", null],
  },
});

describe("inline-dft", () => {
  it("does not see what is beyond the length", async () => {
    const model = parseModel(dft("1,16,8,2", "axis=2", "4"));
    await annotateTypes(model, describeModel);
    expect((await runPasses(model, [inlineDft], { check: true }))[0]!.applied).toBe(1);
    const values = Array.from({ length: 256 }, (_, i) => (Math.floor(i / 2) % 8 < 4 ? 1 : Number.NaN));
    const { y } = await runModel(model, { x: Tensor.f32([1, 16, 8, 2], values) });
    expect([...y!.toF32()!.subarray(0, 8)]).toEqual([4, 4, 0, 0, 0, 0, 0, 0].map((value) => expect.closeTo(value, 6)));
  });
});

import { inlinePower } from "../../../src/passes/fuse/inline-power.js";
import { testRewrite } from "../../support/test-rewrite.js";

const power = (exponent: number): string => `(x: f32[N,5]) -> (y) { a = Abs(x) y = Pow(a, $e: f32[] = {${exponent}}) }`;

testRewrite(inlinePower, {
  rewrites: {
    "a square": "(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {2.0}) }",
    ...Object.fromEntries(
      [0.25, 0.5, 0.75, 1.25, 1.5, 1.75, 2.5, 3.75, -0.25, -0.5, -0.75, -1.5].map((e) => [`a power of ${e}`, power(e)]),
    ),
    ...Object.fromEntries(
      [4, -1, -2, -3, -4].map((e) => [
        `a power of ${e} of any number`,
        `(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[1] = {${e}}) }`,
      ]),
    ),
    "an exponent that is an integer": "(x: f32[N,5]) -> (y) { y = Pow(x, $e: i64[] = {4}) }",
    "one of elements from far below to far above":
      "(x: f32[N,6]) -> (y) { a = Mul(x, $s: f32[6] = {1e-38, 1e-20, 1e-3, 10, 1e9, 1e18}) b = Abs(a) y = Pow(b, $e: f32[] = {0.75}) }",
    "a local response written out": `(x: f32[N,6,5,5]) -> (y) {
        s = Mul(x, x)
        u = Unsqueeze(s, $a: i64[1] = {1})
        p = AveragePool<kernel_shape=[5,1,1], pads=[2,0,0,2,0,0], count_include_pad=1>(u)
        q = Squeeze(p, a)
        m = Mul(q, $alpha: f32[] = {0.5})
        b = Add(m, $one: f32[] = {1.0})
        d = Pow(b, $beta: f32[] = {0.75})
        y = Div(x, d)
      }`,
    "what is padded with zeros": `(x: f32[N,6]) -> (y) {
        a = Abs(x)
        b = Pad(a, $pads: i64[4] = {0, 1, 0, 2})
        y = Pow(b, $e: f32[] = {0.5})
      }`,
    "a floor above zero": "(x: f32[N,5]) -> (y) { a = Clip(x, $least: f32[] = {0.001}) y = Pow(a, $e: f32[] = {0.5}) }",
  },
  leaves: {
    "a square that is averaged": [
      "(x: f32[N,5]) -> (y) { p = Pow(x, $e: f32[] = {2.0}) y = ReduceMean<axes=[1]>(p) }",
      null,
    ],
    "a square that is averaged, and read elsewhere too": [
      "(x: f32[N,5]) -> (y, z) { p = Pow(x, $e: f32[] = {2.0}) y = ReduceMean<axes=[1]>(p) z = Relu(p) }",
      null,
    ],
    "a cube": ["(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {3.0}) }", null],
    "a power of nothing": ["(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {0.0}) }", null],
    "a power of five": ["(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {5.0}) }", null],
    "a third": ["(x: f32[N,5]) -> (y) { a = Abs(x) y = Pow(a, $e: f32[] = {0.3333}) }", null],
    "a root of what may be below zero": ["(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {0.5}) }", null],
    "a root of what may be -0": ["(x: f32[N,5]) -> (y) { a = Relu(x) y = Pow(a, $e: f32[] = {-0.5}) }", null],
    "a root beside what may be below zero": [
      "(x: f32[N,5], z: f32[N,5]) -> (y) { a = Abs(x) b = Add(a, z) y = Pow(b, $e: f32[] = {0.5}) }",
      null,
    ],
    "a root of the largest of what may be nothing": [
      "(x: f32[N,5]) -> (y) { a = Abs(x) b = ReduceMax<axes=[1], keepdims=0>(a) y = Pow(b, $e: f32[] = {0.5}) }",
      null,
    ],
    "a root of what is padded with less than zero": [
      `(x: f32[N,6]) -> (y) {
        a = Abs(x)
        b = Pad(a, $pads: i64[4] = {0, 1, 0, 2}, $fill: f32[] = {-1.0})
        y = Pow(b, $e: f32[] = {0.5})
      }`,
      null,
    ],
    "a root without a floor": [
      "(x: f32[N,5]) -> (y) { a = Clip(x, _, $most: f32[] = {3.0}) y = Pow(a, $e: f32[] = {0.5}) }",
      null,
    ],
    "a root below a ceiling of less": [
      "(x: f32[N,5]) -> (y) { a = Clip(x, $least: f32[] = {0.5}, $most: f32[] = {-0.0}) y = Pow(a, $e: f32[] = {-0.5}) }",
      null,
    ],
    "a root of a cube": ["(x: f32[N,5]) -> (y) { a = Pow(x, $k: f32[] = {3.0}) y = Pow(a, $e: f32[] = {0.5}) }", null],
    "a root of a difference": [
      "(x: f32[N,5]) -> (y) { a = Abs(x) b = Exp(x) c = Sub(a, b) y = Pow(c, $e: f32[] = {0.5}) }",
      null,
    ],
    "a root beside -0": [
      "(x: f32[N,5]) -> (y) { a = Abs(x) b = Mul(a, $z: f32[] = {-0.0}) y = Pow(b, $e: f32[] = {-0.5}) }",
      null,
    ],
    "a first power": ["(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {1.0}) }", null],
    "a root above a floor of zero": [
      "(x: f32[N,5]) -> (y) { a = Clip(x, $least: f32[] = {0.0}) y = Pow(a, $e: f32[] = {0.5}) }",
      null,
    ],
    "a root of a product with a negative": [
      "(x: f32[N,5]) -> (y) { a = Abs(x) b = Mul(a, $s: f32[] = {-1.0}) y = Pow(b, $e: f32[] = {0.5}) }",
      null,
    ],
    "exponents of their own": ["(x: f32[N,2]) -> (y) { y = Pow(x, $e: f32[2] = {4.0, -1.0}) }", null],
    "an exponent that widens": ["(x: f32[N]) -> (y) { y = Pow(x, $e: f32[1,1] = {4.0}) }", null],
    "half precision": ["(x: f16[N,5]) -> (y) { y = Pow(x, $e: f16[] = {4.0}) }", null],
    "whole numbers": ["(x: i32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {4.0}) }", null],
    "what runs elsewhere": [
      "(x: f32[N,5]) -> (y) { y = Pow(x, $e: f32[] = {4.0}) }",
      "NVIDIA TensorRT 11: its kernel for powers takes one element after the other",
      { target: "tensorrt" },
    ],
  },
});

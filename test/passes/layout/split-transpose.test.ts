import { describe, expect, it } from "vitest";
import { splitTranspose } from "../../../src/passes/layout/split-transpose.js";
import { cheapestSteps } from "../../../src/passes/layout/transpose-steps.js";
import { testRewrite } from "../../support/test-rewrite.js";

const transpose = (shape: string, perm: string): string => `(x: ${shape}) -> (y) { y = Transpose<perm=[${perm}]>(x) }`;
/** Queries, keys and values of the second axis; keys are transposed once more. */
const heads = (kept: string, keys: string, more = ""): string => `(x: f32[N,16,9,3,2,32]) -> (y, z) {
  t = Transpose<perm=[${kept}]>(x)
  q, k, v = Split<axis=0>(t)
  q1 = Squeeze(q, $a: i64[1] = {0})
  k1 = Squeeze(k, $a)
  v1 = Squeeze(v, $a)
  s = Mul(k1, $f: f32 = {0.5})
  k2 = Transpose<perm=[${keys}]>(s)${more}
  y = MatMul(q1, k2)
  z = Neg(v1)
}`;

testRewrite(splitTranspose, {
  rewrites: {
    "rows that go where they belong, and are exchanged there": transpose("f32[N,3,4,16,49]", "1,0,2,4,3"),
    "what becomes the last axis, and moves as rows then": transpose("f32[N,96,8,2,8,2]", "0,3,5,2,4,1"),
    "an axis of two halves that stay together": transpose("f32[N,49,3,4,16]", "2,0,3,4,1"),
    "a batch that is known": transpose("f32[2,49,3,4,16]", "2,0,3,4,1"),
    "axes the other way round": transpose("f32[20,16,24]", "2,1,0"),
    "axes of one element between those that stay together": transpose("f32[1,49,1,96]", "2,0,3,1"),
    "other numbers": transpose("i64[3,40,16,12]", "2,0,3,1"),
    "what a Reshape makes": `(x: f32[N,64,96]) -> (y) {
      a = Reshape(x, $s: i64[5] = {0,64,3,2,16})
      y = Transpose<perm=[2,0,3,4,1]>(a)
    }`,
    "parts that are transposed again": heads("3,0,4,2,1,5", "0,1,2,4,3"),
  },
  leaves: {
    "rows that stay rows": [transpose("f32[N,49,3,4,16]", "2,0,3,1,4"), null],
    "one axis that moves": [transpose("f32[N,64,7,7]", "0,2,3,1"), null],
    "one axis that moves to the front": [transpose("f32[20,16,24]", "2,0,1"), null],
    "few elements": [transpose("f32[2,3,4,5,6]", "1,0,2,4,3"), null],
    "short rows all over": [transpose("f32[64,2,2,2,2,2,2,2,2]", "0,8,7,6,5,4,3,2,1"), null],
    "two sizes that are not known": [transpose("f32[N,3,4,L,49]", "1,0,2,4,3"), null],
    nothing: [transpose("f32[0,3,400,16,49]", "1,0,2,4,3"), null],
    "parts whose Transposes make a fast one": [heads("3,0,2,4,1,5", "0,1,2,4,3"), null],
    "parts of which one is put back": [
      heads("3,0,4,2,1,5", "0,1,2,4,3", "\n  p = Transpose<perm=[0,3,2,1,4]>(q1)\n  w = Relu(p)"),
      null,
    ],
    "strings, which are copied one by one": [transpose("string[20,16,24]", "2,1,0"), null],
    "two of which the runtime makes one that takes less": [
      `(x: f32[4,80,64,6]) -> (a, b, c, d) {
        t = Transpose<perm=[2,3,1,0]>(x)
        p, q, r, s = Split<axis=3>(t)
        e = Squeeze(s, $axes: i64[1] = {3})
        d = Transpose<perm=[2,1,0]>(e)
        a = Relu(p)
        b = Relu(q)
        c = Relu(r)
      }`,
      null,
    ],
    "what nothing is known of": ["(x: f32) -> (y) { y = Transpose<perm=[1,0,2,4,3]>(x) }", null],
    "what runs elsewhere": [
      transpose("f32[N,3,4,16,49]", "1,0,2,4,3"),
      "NVIDIA TensorRT 11: its kernel for Transpose looks up elements one by one where several axes change their places",
      { target: "tensorrt" },
    ],
  },
});

describe("cheapestSteps", () => {
  const permutations = (axes: readonly number[]): number[][] =>
    axes.length < 2
      ? [[...axes]]
      : axes.flatMap((axis) => permutations(axes.filter((each) => each !== axis)).map((rest) => [axis, ...rest]));
  /** Of numbers that are their own places: what is where in the end. */
  const moved = (values: readonly number[], dims: readonly number[], perm: readonly number[]): number[] => {
    const strides = dims.map((_, axis) => dims.slice(axis + 1).reduce((all, dim) => all * dim, 1));
    let places = [0];
    for (const axis of perm)
      places = places.flatMap((place) => Array.from({ length: dims[axis]! }, (_, i) => place + i * strides[axis]!));
    return places.map((place) => values[place]!);
  };

  it("comes to the same for every order of up to five axes", () => {
    for (const dims of [
      [3, 5, 2],
      [2, 3, 4, 5],
      [4, 1, 3, 2, 5],
      [1, 6, 2, 1, 3],
    ]) {
      const all = Array.from({ length: dims.reduce((product, dim) => product * dim, 1) }, (_, i) => i);
      for (const perm of permutations([...dims.keys()])) {
        const { steps } = cheapestSteps({ dims, perm, bytes: 4 });
        const made = steps.reduce((values, step) => moved(values, step.dims as number[], step.perm), all);
        expect(made).toEqual(moved(all, dims, perm));
      }
    }
  });
});

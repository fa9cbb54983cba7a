import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { fuseResidualSum } from "../../../src/passes/fuse/residual-sum.js";
import { annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { requireTarget } from "../../../src/target/find-target.js";
import { describeModel } from "../../support/ask-runtime.js";
import { testRewrite } from "../../support/test-rewrite.js";

const X = "x: f32[N,S,4], r: f32[N,S,4]";
const AFFINE = "$g: f32[4], $b: f32[4]";

testRewrite(fuseResidualSum, {
  rewrites: {
    "a residual that a normalization alone reads": `(${X}) -> (y) {
      a = Add(x, r)
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "a bias and a residual, normalized": `(${X}) -> (y) {
      h = Add($c: f32[4], x)
      a = Add(r, h)
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "a bias and a residual that the next one reads too": `(${X}) -> (y, a) {
      h = Add(x, $c: f32[4])
      a = Add(h, r)
      y = LayerNormalization(a, ${AFFINE})
    }`,
    "two tensors with a bias each, the first bias only": `(${X}) -> (y) {
      h = Add(x, $c: f32[4])
      k = Add(r, $d: f32[4])
      y = Add(h, k)
    }`,
    "a sum of one input with itself, biased": `(${X}) -> (y) {
      h = Add(x, $c: f32[4])
      y = Add(h, x)
    }`,
  },
  leaves: {
    "a residual that others read": [`(${X}) -> (y, a) { a = Add(x, r)\n y = LayerNormalization(a, ${AFFINE}) }`, null],
    "a residual that RMSNormalization reads": [
      `(${X}) -> (y) { a = Add(x, r)\n y = RMSNormalization(a, $g: f32[4]) }`,
      null,
      { opset: 23 },
    ],
    "a sum as the scale of a normalization": [
      "(x: f32[2,3,4], r: f32[2,3,4], z: f32[2,3,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(z, a) }",
      null,
    ],
    "two axes, whose MatMul takes the bias in": [
      `(x: f32[N,4], r: f32[N,4]) -> (y) {
        h = Add(x, $c: f32[4])
        a = Add(h, r)
        y = LayerNormalization(a, ${AFFINE})
      }`,
      null,
    ],
    "positions, the same in each sample": [
      `(x: f32[N,3,4]) -> (y) { a = Add($p: f32[1,3,4], x)\n y = LayerNormalization(a, ${AFFINE}) }`,
      null,
    ],
    "a residual that may be stretched": [
      `(x: f32[N,S,4], r: f32[M,S,4]) -> (y) { a = Add(x, r)\n y = LayerNormalization(a, ${AFFINE}) }`,
      null,
    ],
    "a biased tensor that another reads": [
      "(x: f32[N,3,4], r: f32[N,3,4]) -> (y, h) { h = Add(x, $c: f32[4])\n y = Add(h, r) }",
      null,
    ],
    "an addend that is computed": [
      "(x: f32[N,3,4], r: f32[N,3,4], c: f32[4]) -> (y) { h = Add(x, c)\n y = Add(h, r) }",
      null,
    ],
    float16: ["(x: f16[N,3,4], r: f16[N,3,4]) -> (y) { h = Add(x, $c: f16[4])\n y = Add(h, r) }", null],
    integers: ["(x: i64[N,3,4], r: i64[N,3,4]) -> (y) { h = Add(x, $c: i64[4] = {1, 2, 3, 4})\n y = Add(h, r) }", null],
  },
});

describe("for other targets", () => {
  it.each([
    ["ort-cpu", 1],
    ["ort-cpu-avx2", 1],
    ["ort-web", 0],
    ["tensorrt", 0],
  ])("%s: %i", async (name, applied) => {
    const model = parseModel(`(${X}) -> (y) {\n a = Add(x, r)\n y = LayerNormalization(a, ${AFFINE}) }`);
    await annotateTypes(model, describeModel);
    const [report] = await runPasses(model, [fuseResidualSum], { target: requireTarget(name) });
    expect(report!.applied).toBe(applied);
  });
});

import { describe, expect, it } from "vitest";
import { nodesWithin, parseModel } from "../../../src/ir/index.js";
import { fuseGroupNorm } from "../../../src/passes/fuse/group-norm.js";
import { fuseNormalizationAffine } from "../../../src/passes/fuse/normalization-affine.js";
import { annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { requireTarget } from "../../../src/target/find-target.js";
import { describeModel } from "../../support/ask-runtime.js";
import { testRewrite } from "../../support/test-rewrite.js";

const PLAIN = "$s: f32[2] = {1, 1}, $b: f32[2] = {0, 0}";

/** Six channels in two groups. */
const groups = (
  given: { x?: string; split?: string; attributes?: string; norm?: string; back?: string } = {},
): string =>
  `(x: ${given.x ?? "f32[N,6,4,5]"}) -> (y) {
    r = Reshape${given.attributes ?? ""}(x, ${given.split ?? "$t: i64[3] = {0, 2, -1}"})
    n = InstanceNormalization<epsilon=0.01>(r, ${given.norm ?? PLAIN})
    ${
      given.back ??
      `k = Shape(x)
    y = Reshape(n, k)`
    }
  }`;

const openvino = { opset: 21, target: "openvino" };

testRewrite(fuseGroupNorm, {
  rewrites: {
    "groups of channels": [groups(), openvino],
    "open sides": [groups({ x: "f32[N,6,H,W]" }), openvino],
    "a sequence, without an epsilon": [
      `(x: f32[N,6,S]) -> (y) {
        r = Reshape(x, $t: i64[3] = {0, 2, -1})
        n = InstanceNormalization(r, ${PLAIN})
        k = Shape(x)
        y = Reshape(n, k)
      }`,
      openvino,
    ],
    "a factor and an addend for each group": [groups({ norm: "$s: f32[2] = {2, 3}, $b: f32[2] = {-1, 1}" }), openvino],
    "members apart": [groups({ split: "$t: i64[5] = {0, 2, 3, 4, 5}" }), openvino],
    "a batch of a known size": [
      groups({
        x: "f32[3,6,4,5]",
        split: "$t: i64[3] = {-1, 2, 60}",
        back: "y = Reshape(n, $k: i64[4] = {3, 6, 4, 5})",
      }),
      openvino,
    ],
  },
  leaves: {
    "what ONNX Runtime would write out again": [
      groups(),
      "ONNX Runtime: its CPU provider has no kernel for GroupNormalization and writes it out into some twenty nodes",
      { opset: 21 },
    ],
    "it for ONNX Runtime on the CPU by name": [
      groups(),
      "ONNX Runtime: its CPU provider has no kernel for GroupNormalization and writes it out into some twenty nodes",
      { opset: 21, target: "ort-cpu" },
    ],
    "another shape behind it": [groups({ back: "y = Reshape(n, $k: i64[4] = {0, 6, 5, 4})" }), null, openvino],
    "samples that end up in one group": [
      groups({
        x: "f32[2,6,4,5]",
        split: "$t: i64[3] = {1, 2, -1}",
        back: "y = Reshape(n, $k: i64[4] = {2, 6, 4, 5})",
      }),
      null,
      openvino,
    ],
    "a zero that means none": [
      groups({ attributes: "<allowzero=1>", split: "$t: i64[3] = {0, 2, 60}" }),
      null,
      openvino,
    ],
    "groups that are no channels": [
      groups({ x: "f32[N,3,4,5]", norm: PLAIN, back: "k = Shape(x)\n y = Reshape(n, k)" }),
      "3 channels do not make 2 groups of one size",
      openvino,
    ],
    "channels that are not known": [groups({ x: "f32[N,C,4,5]" }), "the number of channels is not known", openvino],
    "a normalized tensor that is read": [
      `(x: f32[N,6,4,5]) -> (y, n) {
        r = Reshape(x, $t: i64[3] = {0, 2, -1})
        n = InstanceNormalization(r, ${PLAIN})
        k = Shape(x)
        y = Reshape(n, k)
      }`,
      null,
      openvino,
    ],
    "factors that are computed": [
      `(x: f32[N,6,4,5], s: f32[2]) -> (y) {
        r = Reshape(x, $t: i64[3] = {0, 2, -1})
        n = InstanceNormalization(r, s, $b: f32[2])
        k = Shape(x)
        y = Reshape(n, k)
      }`,
      null,
      openvino,
    ],
    "half precision": [groups({ x: "f16[N,6,4,5]", norm: "$s: f16[2] = {1, 1}, $b: f16[2] = {0, 0}" }), null, openvino],
  },
});

describe("what comes behind", () => {
  const affine = groups({
    back: `k = Shape(x)
      g = Reshape(n, k)
      m = Mul(g, $w: f32[6,1,1] = {1, 2, 3, 4, 5, 6})
      y = Add($a: f32[1,6,1,1] = {6, 5, 4, 3, 2, 1}, m)`,
  });

  it.each([
    ["openvino", ["GroupNormalization"]],
    ["ort-cpu", ["Reshape", "InstanceNormalization", "Shape", "Reshape", "Mul", "Add"]],
  ])("goes into it for %s", async (name, operators) => {
    const model = parseModel(affine, { opset: 21 });
    await annotateTypes(model, describeModel);
    await runPasses(model, [fuseGroupNorm, fuseNormalizationAffine], { target: requireTarget(name) });
    expect([...nodesWithin(model.graph)].map(({ op }) => op)).toEqual(operators);
  });
});

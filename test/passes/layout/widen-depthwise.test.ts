import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../../src/ir/index.js";
import { inlinePRelu } from "../../../src/passes/fuse/inline-prelu.js";
import { widenDepthwise } from "../../../src/passes/layout/widen-depthwise.js";
import { annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { describeModel } from "../../support/ask-runtime.js";
import { runModel } from "../../support/run-model.js";
import { testRewrite } from "../../support/test-rewrite.js";

/** Points, 14 channels by themselves, points. */
const inverted = (behind = "r = Relu(d)", inFront = "e = Relu(a)", more = "", outputs = "y"): string =>
  `(x: f32[N,8,9,9]) -> (${outputs}) {
    a = Conv(x, $w: f32[14,8,1,1], $b: f32[14])
    ${inFront}
    d = Conv<group=14, kernel_shape=[3,3], pads=[1,1,1,1]>(e, $k: f32[14,1,3,3], $c: f32[14])
    ${behind}
    y = Conv(r, $v: f32[5,14,1,1], $f: f32[5])
    ${more}
  }`;

testRewrite(widenDepthwise, {
  rewrites: {
    "channels between points": inverted(),
    "Convs without a bias": inverted().replace(", $c: f32[14]", "").replace(", $b: f32[14]", ""),
    "other activations": inverted("r = PRelu(d, $s: f32[14,1,1])", "h = HardSwish(a)\n e = Max(h, $low: f32 = {-0.1})"),
    "numbers for each channel": inverted("q = Mul(d, $m: f32[14,1,1])\n r = Sub($n: f32[1,14,1,1], q)"),
    "the less of two": inverted("r = Min(d, e)"),
    "for the processor at hand, by name": [inverted(), { target: "ort-cpu" }],
    "a sum with what goes in, and a pool": inverted("s = Add(d, e)\n r = MaxPool<kernel_shape=[2,2]>(s)"),
    "two in a row": inverted("q = Relu(d)\n r = Conv<group=14>(q, $k2: f32[14,1,3,3])"),
    "windows that are dense": inverted().replace("Conv(r, $v: f32[5,14,1,1]", "Conv(r, $v: f32[5,14,3,3]"),
    "several that read it": inverted("r = Relu(d)", "e = Relu(a)", "z = Conv(e, $u: f32[3,14,1,1])", "y, z"),
    "weights that both read": inverted("r = Conv<group=14>(d, $k)"),
    "a body": `(x: f32[N,8,9,9], go: bool) -> (y) {
      y = If<then_branch = () -> (t) {
        a = Conv(x, $w: f32[14,8,1,1])
        d = Conv<group=14>(a, $k: f32[14,1,3,3])
        t = Conv(d, $v: f32[5,14,1,1])
      }, else_branch = () -> (u) { u = Conv(x, $z: f32[5,8,3,3]) }>(go)
    }`,
  },
  leaves: {
    "channels by fours": [inverted().replaceAll("14", "12"), null],
    "few channels": [inverted().replaceAll("14", "7"), null],
    "a line": [
      inverted()
        .replaceAll("9,9", "9")
        .replaceAll("1,1]", "1]")
        .replaceAll("3,3]", "3]")
        .replace("pads=[1,1,1]", "pads=[1,1]"),
      null,
    ],
    "what the model gives": [inverted("r = Relu(d)", "e = Relu(a)", "", "y, r"), null],
    "what the model is given": [
      "(x: f32[N,14,9,9]) -> (y) {\n d = Conv<group=14>(x, $k: f32[14,1,3,3])\n y = Conv(d, $v: f32[5,14,1,1])\n}",
      null,
    ],
    "channels that are moved": [inverted("r = Transpose<perm=[0,1,3,2]>(d)"), null],
    "channels that are cut in two": [
      inverted("p, q = Split<axis=1>(d, $l: i64[2] = {7, 7})\n r = Concat<axis=1>(q, p)"),
      null,
    ],
    "half precision": [inverted().replaceAll("f32", "f16"), null],
    "weights that come of integers": [
      `(x: f32[N,8,9,9]) -> (y) {
        a = Conv(x, $w: f32[14,8,1,1])
        k = DequantizeLinear<axis=0>($i: i8[14,1,3,3], $s: f32[14], $z: i8[14] = {0,0,0,0,0,0,0,0,0,0,0,0,0,0})
        d = Conv<group=14>(a, k)
        y = Conv(d, $v: f32[5,14,1,1])
      }`,
      null,
    ],
    "weights that are computed": [
      inverted().replace("(x: f32[N,8,9,9])", "(x: f32[N,8,9,9], k: f32[14,1,3,3])").replace("$k: f32[14,1,3,3]", "k"),
      null,
    ],
    "what a runtime without such kernels takes": [
      inverted(),
      "OpenVINO 2026.4: its kernels take channels by fours",
      { target: "openvino" },
    ],
  },
});

describe("widenDepthwise", () => {
  it("gives an activation slopes that its quicker form takes", async () => {
    const slopes = new Array(14).fill(0.25).join(", ");
    const model = parseModel(inverted(`r = PRelu(d, $s: f32[14,1,1] = {${slopes}})`));
    await annotateTypes(model, describeModel);
    await runPasses(model, [widenDepthwise, inlinePRelu]);
    const ops = [...model.graph.nodes()].map(({ op }) => op);
    expect(ops).toContain("Max");
    expect(ops).not.toContain("Min");
  });

  it("makes no NaN of an infinity that an activation bounds", async () => {
    const text = inverted("r = Sigmoid(d)").replace("a = Conv(x,", "l = Log(x)\n a = Conv(l,");
    const [original, model] = [parseModel(text), parseModel(text)];
    await annotateTypes(model, describeModel);
    const [report] = await runPasses(model, [widenDepthwise]);
    expect(report!.applied).toBe(1);
    // The logarithm of one of them is infinite.
    const x = Tensor.f32([1, 8, 9, 9], new Float32Array(8 * 81).fill(1).fill(0, 40, 41));
    const [y, made] = [await runModel(original, { x }), await runModel(model, { x })].map(({ y }) => y!.f32());
    expect([...y!, ...made!].every(Number.isFinite)).toBe(true);
  });
});

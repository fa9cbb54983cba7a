import { describe, expect, it } from "vitest";
import { check } from "../../src/ir/index.js";
import { errorOf, opsOf, quantizeText, relativeError } from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

const image = (mean: string, behind = "y = Gemm(m, $v: f32[4,3])"): string => `(x: f32[N,4,6,6]) -> (y) {
  a = Conv(x, $w: f32[4,4,1,1], $b: f32[4])
  r = Relu(a)
  m = ReduceMean<${mean}>(r)
  ${behind}
}`;

describe("poolMeans", () => {
  it.each([
    ["the mean of each channel", image("axes=[2,3], keepdims=0"), ["GlobalAveragePool", "Squeeze"], 4],
    ["axes from the back, in any order", image("axes=[-1,2], keepdims=0"), ["GlobalAveragePool", "Squeeze"], 4],
    ["axes that stay as ones", image("axes=[2,3]", "y = Conv(m, $v: f32[3,4,1,1])"), ["GlobalAveragePool"], 4],
  ])("writes %s as a pool between integers", async (_, text, pools, behind) => {
    const { float, model, feeds } = await quantizeText(text);
    const ops = opsOf(model);
    expect(ops).not.toContain("ReduceMean");
    expect(ops.filter((op) => pools.includes(op))).toEqual(pools);
    expect(ops.filter((op) => op === "QuantizeLinear")).toHaveLength(behind);
    check(model.graph);
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("keeps the node's name and the value's label, and gives what is between the range of both", async () => {
    const { plan, model } = await quantizeText(image("axes=[2,3], keepdims=0"));
    const [pool, squeeze] = ["GlobalAveragePool", "Squeeze"].map(
      (op) => [...model.graph.nodes()].find((n) => n.is(op))!,
    );
    expect(plan.nodes.map(({ node }) => node.name)).toContain(pool!.name);
    expect(squeeze!.output.label).toBe("m");
    const scales = [pool!, squeeze!]
      .map(({ output }) => output.uses[0]!)
      .map((use) => {
        const quantize = use.kind === "input" ? use.node : null;
        return quantize!.inputs.slice(1).map((value) => value!.constant!.bytes());
      });
    expect(scales[0]).toEqual(scales[1]);
  });

  it.each([
    ["a mean of one axis", image("axes=[2], keepdims=0", "f = Flatten(m)\n y = Gemm(f, $v: f32[24,3])")],
    ["a mean over channels", image("axes=[1,2], keepdims=0", "y = Gemm(m, $v: f32[6,3])")],
    [
      "a mean of everything",
      image("axes=[1,2,3], keepdims=0", "u = Unsqueeze(m, $ax: i64[1] = {1})\n y = Gemm(u, $v: f32[1,3])"),
    ],
    ["a mean in front of a Relu", image("axes=[2,3], keepdims=0", "s = Relu(m)\n y = Gemm(s, $v: f32[4,3])")],
    [
      "a mean of three axes",
      `(x: f32[2,4,6]) -> (y) {
      a = Conv(x, $w: f32[4,4,1])
      m = ReduceMean<axes=[2], keepdims=0>(a)
      y = Gemm(m, $v: f32[4,3])
    }`,
    ],
  ])("leaves %s in float", async (_, text) => {
    const { model } = await quantizeText(text);
    expect(opsOf(model)).toContain("ReduceMean");
    expect(opsOf(model)).not.toContain("GlobalAveragePool");
  });
});

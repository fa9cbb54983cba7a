import { describe, expect, it } from "vitest";
import type { Model } from "../../src/ir/index.js";
import { integerTargetNamed } from "../../src/target/integer-kernels.js";
import {
  errorOf,
  opsOf,
  optimizedByRuntime,
  quantizeText,
  relativeError,
  safeTarget,
} from "../support/quantize-text.js";
import { runModel } from "../support/run-model.js";

const stem = (pool: string, between = "r = Relu(a)"): string => `(x: f32[1,3,16,16]) -> (y) {
  a = Conv(x, $w: f32[16,3,3,3], $b: f32[16])
  ${between}
  p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(${pool})
  d = Conv(p, $v: f32[16,16,1,1])
  c = Relu(d)
  y = Conv(c, $u: f32[16,16,1,1])
}`;
/** Of 16 channels, the last of them another. */
const slopes = (last: number): string => `$s: f32[16,1,1] = {${[...new Array(15).fill(0.25), last].join(", ")}}`;
const keepFloat = new Map([["Conv:a", "asked for"]]);

const poolsOf = ({ graph }: Model) => [...graph.nodes()].filter(({ op }) => op.includes("MaxPool"));
const readByPools = (model: Model) => poolsOf(model).map(({ inputs: [value] }) => value!.producer?.op ?? "an input");

describe("activationsBehindPools", () => {
  it("has the runtime pool floats, where it would move the QuantizeLinear in front", async () => {
    const { float, model, feeds } = await quantizeText(stem("r"), { keepFloat });
    expect(opsOf(model).slice(0, 4)).toEqual(["Conv", "MaxPool", "Relu", "QuantizeLinear"]);
    expect(readByPools(await optimizedByRuntime(model))).not.toContain("QuantizeLinear");
    expect(relativeError(await runModel(float, feeds), await runModel(model, feeds))).toBeLessThan(0.03);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each([
    ["Clip(a, $low: f32[] = {0}, $high: f32[] = {6})", "Clip"],
    ["LeakyRelu<alpha=0.2>(a)", "LeakyRelu"],
    [`PRelu(a, ${slopes(0.25)})`, "PRelu"],
    ["Elu(a)", "Elu"],
    ["Sigmoid(a)", "Sigmoid"],
    ["Tanh(a)", "Tanh"],
  ])("does so with %s, numbers and all", async (activation, op) => {
    const { float, model, feeds } = await quantizeText(stem("r", `r = ${activation}`), { keepFloat });
    expect(opsOf(model).slice(0, 4)).toEqual(["Conv", "MaxPool", op, "QuantizeLinear"]);
    expect(readByPools(await optimizedByRuntime(model))).not.toContain("QuantizeLinear");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it.each([
    ["falls", "LeakyRelu<alpha=-0.2>(a)"],
    ["falls somewhere", `PRelu(a, ${slopes(-0.25)})`],
    ["is another in each column", "PRelu(a, $s: f32[16,14,14])"],
    ["is no activation", "Abs(a)"],
  ])("leaves what %s", async (_, activation) => {
    const { model } = await quantizeText(stem("r", `r = ${activation}`), { keepFloat });
    expect(poolsOf(model)[0]!.inputs[0]!.label).toBe("r");
  });

  it("leaves labels where they were: what is called p is still behind the Relu", async () => {
    const { model } = await quantizeText(stem("r"), { keepFloat });
    const [pool] = poolsOf(model);
    expect(pool!.output.label).toBe("p/pooled");
    const relu = pool!.output.uses[0]!;
    expect(relu.kind === "input" && relu.node.output.label).toBe("p");
    expect(relu.kind === "input" && relu.node.displayName).toContain("r");
  });

  it.each([
    ["a pool between integers", stem("r"), {}, safeTarget],
    ["a pool without a Relu in front", stem("a", ""), { keepFloat }, safeTarget],
    [
      "a Relu that others read",
      stem("r", "r = Relu(a)\n q = Conv(r, $t: f32[16,16,14,14])").replace("-> (y)", "-> (y, q)"),
      { keepFloat: new Map([...keepFloat, ["Conv:q", "asked for"]]) },
      safeTarget,
    ],
    ["a runtime that moves nothing", stem("r"), { keepFloat }, integerTargetNamed("tensorrt", safeTarget)],
  ])("leaves %s", async (_, text, options, target) => {
    const { model } = await quantizeText(text, options, target);
    for (const { inputs } of [...model.graph.nodes()].filter(({ op }) => op === "Relu")) {
      expect(inputs[0]!.producer?.op).not.toBe("MaxPool");
    }
  });
});

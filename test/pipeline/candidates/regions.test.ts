import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { besideFloats, bordersOf, regionsOf, regionTimes } from "../../../src/pipeline/candidates/regions.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";

const model = parseModel(`(x: f32[1,4,8,8]) -> (y) {
  a = Conv(x, $w: f32[4,4,1,1])
  r = Relu(a)
  b = Conv(r, $v: f32[4,4,1,1])
  s = Add(b, r)
  h = Erf(s)
  y = Conv(h, $u: f32[4,4,1,1])
}`);
makeNamesUnique(model);
const all = new Set(["Conv:a", "Conv:b", "Add:s", "Conv:y"]);
const time = (name: string, op: string, ms: number) => ({ name, op, ms });

describe("regionsOf", () => {
  it("puts what has no weights with the last of those that feed it", () => {
    expect(regionsOf(model, all)).toEqual([
      { name: "Conv:a", nodes: ["Conv:a"] },
      { name: "Conv:b", nodes: ["Conv:b", "Add:s"] },
      { name: "Conv:y", nodes: ["Conv:y"] },
    ]);
  });

  it("lets a neighbour that something is converted for be one by itself", () => {
    const gated = parseModel(`(x: f32[1,4,8,8], g: f32[1,4,8,8]) -> (y) {
      a = Conv(x, $w: f32[4,4,1,1])
      t = Tanh(g)
      m = Mul(a, t)
      p = MaxPool<kernel_shape=[2,2]>(m)
      s = Add(p, p)
      y = Conv(s, $u: f32[4,4,1,1])
    }`);
    makeNamesUnique(gated);
    const integers = new Set(["Conv:a", "Mul:m", "MaxPool:p", "Add:s", "Conv:y"]);
    expect(regionsOf(gated, integers).map(({ nodes }) => nodes)).toEqual([
      ["Conv:a"],
      ["Mul:m", "MaxPool:p", "Add:s"],
      ["Conv:y"],
    ]);
    expect(besideFloats(gated, integers).map(({ name }) => name)).toEqual(["Mul:m"]);
    // The Conv reads its input as integers, whoever makes it.
    expect(besideFloats(model, all)).toEqual([]);
  });

  it("leaves out what is float", () => {
    expect(regionsOf(model, new Set(["Conv:y"]))).toEqual([{ name: "Conv:y", nodes: ["Conv:y"] }]);
    expect(regionsOf(model, new Set())).toEqual([]);
  });
});

describe("bordersOf", () => {
  it("lists tensors between regions and around them, none behind an activation that a kernel absorbs", () => {
    const ends = bordersOf(model, regionsOf(model, all)).map(({ maker, readers, ...border }) => ({
      ...border,
      nodes: `${maker?.name ?? null} -> ${readers.map(({ name }) => name).join(", ")}`,
    }));
    expect(ends).toEqual([
      { value: "x", from: null, to: "Conv:a", nodes: "null -> Conv:a" },
      { value: "r", from: "Conv:a", to: "Conv:b", nodes: "Conv:a -> Conv:b, Add:s" },
      { value: "s", from: "Conv:b", to: null, nodes: "Add:s -> Erf:h" },
      { value: "h", from: null, to: "Conv:y", nodes: "Erf:h -> Conv:y" },
    ]);
  });
});

describe("regionTimes", () => {
  const regions = regionsOf(model, all);

  it("finds kernels by the names of nodes and of what they make, whatever the runtime put behind them", () => {
    const before = [
      time("r_nchwc", "Conv", 5),
      time("Conv:b", "Conv", 3),
      time("Add:s", "Add", 1),
      time("Erf:h", "Erf", 9),
    ];
    const after = [time("Conv:a_token_3", "QLinearConv", 2), time("Conv:b_token_9", "QLinearConv", 1)];
    const times = regionTimes(model, regions, before, after);
    expect(times.get("Conv:a")).toEqual({ beforeMs: 5, kernelMs: 2, conversionMs: 0 });
    expect(times.get("Conv:b")).toEqual({ beforeMs: 4, kernelMs: 1, conversionMs: 0 });
    expect(times.get("Conv:y")).toEqual({ beforeMs: 0, kernelMs: 0, conversionMs: 0 });
  });

  it("counts conversions apart: those of the file by their tensor, those of the runtime by what stands beside them", () => {
    const after = [
      time("x/QuantizeLinear", "QuantizeLinear", 1),
      time("Transpose", "Transpose", 2),
      time("Conv:a_token_3", "QLinearConv", 10),
      time("s/DequantizeLinear", "DequantizeLinear", 4),
      time("Erf:h", "Erf", 100),
      time("h/QuantizeLinear", "QuantizeLinear", 8),
    ];
    const times = regionTimes(model, regions, [], after);
    expect(times.get("Conv:a")).toEqual({ beforeMs: 0, kernelMs: 10, conversionMs: 3 });
    expect(times.get("Conv:b")!.conversionMs).toBe(4);
    expect(times.get("Conv:y")!.conversionMs).toBe(8);
  });

  it("finds what puts integers in another order by what it is written behind", () => {
    const moves = ["Transpose_last", "Shape", "Mul", "Div", "Reshape_apart", "Transpose_together", "Reshape_together"];
    const copies = ["Concat_along", "Unsqueeze_rows", "Concat_down", "Slice", "Transpose_back"];
    const after = [
      ...moves.map((op) => time(`b/${op}`, op.split("_")[0]!, 1)),
      ...copies.map((op) => time(`Add:s/${op}_token_7`, op.split("_")[0]!, 1)),
    ];
    const times = regionTimes(model, regions, [], after);
    expect(times.get("Conv:b")).toEqual({ beforeMs: 0, kernelMs: 12, conversionMs: 0 });
  });

  it("leaves to nobody what it does not know", () => {
    const times = regionTimes(
      model,
      regions,
      [],
      [time("Attention_12", "Attention", 7), time("Transpose:q", "Softmax", 7)],
    );
    expect([...times.values()].every(({ kernelMs, conversionMs }) => kernelMs + conversionMs === 0)).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { check, type Model, Tensor } from "../../../src/ir/index.js";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import { applyRecipe } from "../../../src/quantization/apply-recipe.js";
import type { ChannelRanges } from "../../../src/quantization/equalize/channel-scales.js";
import { tapChannels } from "../../../src/quantization/equalize/channel-taps.js";
import { Equalizer, scalableValues } from "../../../src/quantization/equalize/equalize.js";
import { activationsOf } from "../../../src/quantization/insert-qdq.js";
import { planStatic } from "../../../src/quantization/plan-static.js";
import { staticRecipe } from "../../../src/quantization/recipe.js";
import { tapValues } from "../../../src/rewrite/tap-model.js";
import { errorOf, prepared, relativeError, safeTarget } from "../../support/quantize-text.js";
import { type Feeds, runModel, seededFeeds } from "../../support/run-model.js";

const placement = { neighbours: true, depthwise: true };
const planOf = (model: Model) => planStatic(model, safeTarget, placement);

/** Multiplies rows or columns of a constant by powers of two that differ by channel. */
function skew(model: Model, label: string, axis: number, by: (channel: number) => number): void {
  const value = model.graph.constants.find((each) => each.label === label)!;
  const { dims } = value.constant!;
  const inner = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
  const values = value.constant!.f32().map((x, i) => x * by(Math.floor(i / inner) % dims[axis]!));
  model.graph.replaceUses(value, model.graph.addConstant(`${label} skewed`, Tensor.f32(dims, values)));
}

const wild = (channel: number): number => 2 ** ((channel * 5) % 7);
const dead = (channel: number): number => (channel % 3 === 0 ? 0 : wild(channel));

async function rangesOf(make: () => Promise<Model>, feeds: Feeds): Promise<ReadonlyMap<string, ChannelRanges>> {
  const model = await make();
  const taps = tapChannels(model, scalableValues(model, planOf(model)));
  check(model.graph);
  const results = await runModel(model, feeds);
  return taps.ranges(
    new Map(Object.entries(results).map(([name, tensor]) => [name, Float64Array.from(tensor.f32())])),
    1,
  );
}

function equalize(model: Model, ranges: ReadonlyMap<string, ChannelRanges>) {
  const equalizer = new Equalizer(model, planOf(model), new Set(ranges.keys()), safeTarget);
  const groups = equalizer.choose(ranges);
  equalizer.apply();
  return { groups };
}

/** The model as text with constants skewed, before and after: whether it computes the same, and its error as integers. */
async function equalized(text: string, ...skewed: readonly (readonly [string, number, (channel: number) => number])[]) {
  const make = async (opset = 17) => {
    const model = await prepared(text, opset);
    for (const [label, axis, by] of skewed) skew(model, label, axis, by);
    return model;
  };
  const [before, after] = [await make(), await make()];
  const feeds = seededFeeds(before);
  const ranges = await rangesOf(make, feeds);
  expect(await rangesOf(() => make(18), feeds)).toEqual(ranges);
  const report = equalize(after, ranges);
  check(after.graph);
  const same = relativeError(await runModel(before, feeds), await runModel(after, feeds));
  const errors = [];
  for (const [float, integers] of [
    [before, await make()],
    [after, await make()],
  ] as const) {
    if (float === after) equalize(integers, ranges);
    errors.push(await integerError(integers, before, feeds));
  }
  return {
    report,
    same,
    gainDb: 20 * Math.log10(errors[0]! / errors[1]!),
    tensors: report.groups.flatMap((g) => g.tensors),
  };
}

async function integerError(model: Model, float: Model, feeds: Feeds): Promise<number> {
  const values = activationsOf(planOf(model));
  const outputs = model.graph.outputs.map(({ name }) => name);
  const names = tapValues(model, values);
  const results = { ...feeds, ...(await runModel(model, feeds)) };
  for (const { name } of model.graph.outputs) if (!outputs.includes(name)) model.graph.removeOutput(name);
  const taps = new Map(
    [...names].map(([label, name]) => {
      const tap = newTap(label);
      observeTensor(tap, results[name]!.f32());
      return [label, tap] as const;
    }),
  );
  applyRecipe(model, staticRecipe({ placement, method: "minmax" }), { target: safeTarget, taps, keepFloat: new Map() });
  return errorOf(float, model, feeds);
}

const convs = `(x: f32[1,3,8,8]) -> (y) {
  a = Conv(x, $w: f32[16,3,3,3], $b: f32[16])
  r = Relu(a)
  y = Conv(r, $v: f32[8,16,1,1])
}`;

describe("equalize", () => {
  it("makes channels of different widths equally wide, through Relu, and computes the same", async () => {
    const { same, gainDb, tensors } = await equalized(
      convs,
      ["w", 0, wild],
      ["b", 0, wild],
      ["v", 1, (c) => 1 / wild(c)],
    );
    expect(tensors).toEqual(["r"]);
    expect(same).toBeLessThan(1e-6);
    expect(gainDb).toBeGreaterThan(6);
  });

  it("touches no weight before it is told to apply what it chose", async () => {
    const make = async () => {
      const model = await prepared(convs, 17);
      skew(model, "w", 0, wild);
      return model;
    };
    const model = await make();
    const ranges = await rangesOf(make, seededFeeds(model));
    const weights = () => model.graph.constants.map(({ constant }) => constant!.f32());
    const before = weights();
    const equalizer = new Equalizer(model, planOf(model), new Set(ranges.keys()), safeTarget);
    expect(equalizer.choose(ranges)).not.toEqual([]);
    expect(weights()).toEqual(before);
    equalizer.apply();
    expect(weights()).not.toEqual(before);
  });

  it("leaves alone what is even already", async () => {
    const { report } = await equalized(
      "(x: f32[1,4]) -> (y) { a = MatMul(x, $w: f32[4,1])\n y = MatMul(a, $v: f32[1,4]) }",
    );
    expect(report.groups).toEqual([]);
  });

  it("scales no channel without bounds that is silent or that nobody weighs", async () => {
    const { same, gainDb } = await equalized(
      convs,
      ["w", 0, dead],
      ["b", 0, dead],
      ["v", 1, (c) => (c % 4 ? 1 / wild(c) : 0)],
    );
    expect(same).toBeLessThan(1e-6);
    expect(gainDb).toBeGreaterThan(3);
  });

  it("gives both sides of a sum one scale", async () => {
    const { same, gainDb, tensors } = await equalized(
      `(x: f32[1,3,8,8]) -> (y) {
        a = Conv(x, $w: f32[16,3,1,1])
        c = Conv(a, $t: f32[16,16,1,1])
        s = Add(a, c)
        r = Relu(s)
        p = MaxPool<kernel_shape=[2,2]>(r)
        g = GlobalAveragePool(p)
        f = Flatten(g)
        y = Gemm<transB=1>(f, $v: f32[10,16], $k: f32[10])
      }`,
      ["w", 0, wild],
      ["t", 0, wild],
      ["t", 1, (c) => 1 / wild(c)],
      ["v", 1, (c) => 1 / wild(c)],
    );
    expect(tensors).toEqual(expect.arrayContaining(["a", "c", "r"]));
    expect(same).toBeLessThan(1e-6);
    expect(gainDb).toBeGreaterThan(5);
  });

  it("reads grouped and depthwise convolutions right", async () => {
    const { same, gainDb } = await equalized(
      `(x: f32[1,4,8,8]) -> (y) {
        a = Conv<group=2>(x, $w: f32[16,2,3,3])
        r = Relu(a)
        d = Conv<group=16>(r, $u: f32[16,1,3,3])
        e = Relu(d)
        y = Conv<group=4>(e, $v: f32[8,4,1,1])
      }`,
      ["w", 0, wild],
      ["u", 0, (c) => wild(c + 1) / wild(c)],
      ["v", 0, (c) => c + 1],
    );
    expect(same).toBeLessThan(1e-6);
    expect(gainDb).toBeGreaterThan(1);
  });

  it("scales nothing that a product adds as it is", async () => {
    const { same, tensors } = await equalized(
      `(x: f32[4,16]) -> (y, z) {
        h = Gemm(x, $w: f32[16,16], $b: f32[16])
        r = Relu(h)
        y = Gemm(r, $v: f32[16,16], h)
        o = MatMul(r, $t: f32[16,16])
        z = Gemm(o, $u: f32[16,16], $k: f32[16])
      }`,
      ["w", 1, wild],
      ["t", 1, wild],
    );
    expect(tensors).toEqual(["o"]);
    expect(same).toBeLessThan(1e-6);
  });

  it("keeps apart what a gate of more channels makes of one", async () => {
    const { same } = await equalized(
      `(x: f32[1,8,6,6], g: f32[1,8,1,1]) -> (y, z) {
        m = Conv(x, $w: f32[1,8,1,1], $b: f32[1])
        k = Conv(x, $v: f32[7,8,1,1], $d: f32[7])
        c = Concat<axis=1>(m, k)
        z = Conv(c, $u: f32[4,8,1,1], $e: f32[4])
        o = Mul(m, g)
        y = Conv(o, $t: f32[4,8,1,1], $f: f32[4])
      }`,
      ["v", 0, wild],
      ["u", 1, wild],
    );
    expect(same).toBeLessThan(1e-6);
  });

  it("follows channels through Concat and Flatten", async () => {
    const { same, tensors } = await equalized(
      `(x: f32[1,3,4,4]) -> (y) {
        a = Conv(x, $w: f32[4,3,1,1])
        b = Conv(x, $u: f32[2,3,1,1])
        c = Concat<axis=1>(a, b)
        f = Flatten(c)
        y = MatMul(f, $v: f32[96,5])
      }`,
      ["w", 0, wild],
      ["u", 0, (c) => 100 * wild(c)],
    );
    expect(tensors).toEqual(expect.arrayContaining(["a", "b", "c"]));
    expect(same).toBeLessThan(1e-6);
  });

  it("scales the gain of a normalization, and a bias that is added behind a MatMul", async () => {
    const { same, tensors } = await equalized(
      `(x: f32[4,8]) -> (y) {
        n = LayerNormalization(x, $g: f32[8], $h: f32[8])
        a = MatMul(n, $w: f32[8,16])
        s = Add(a, $b: f32[16])
        r = Relu(s)
        y = MatMul(r, $v: f32[16,4])
      }`,
      ["g", 0, wild],
      ["w", 1, wild],
      ["b", 0, wild],
    );
    expect(tensors).toEqual(expect.arrayContaining(["n", "r"]));
    expect(same).toBeLessThan(1e-6);
  });
});

describe("channels that minding operators read stay as they are", () => {
  it.each([
    ["an output of the graph", "r = Relu(a)\n z = MatMul(r, $v: f32[16,4])\n y = Add(r, $o: f32[1])"],
    ["Clip", "r = Clip(a, $lo: f32[], $hi: f32[])\n y = MatMul(r, $v: f32[16,4])"],
    ["Sigmoid beside the product", "q = Sigmoid(a)\n m = MatMul(a, $v: f32[16,16])\n y = Mul(q, m)"],
    ["a number for all channels", "r = Add(a, $o: f32[])\n y = MatMul(r, $v: f32[16,4])"],
    [
      "a sum with something unknown",
      "t = Sigmoid(x)\n c = Concat<axis=1>(t, t)\n r = Add(a, c)\n y = MatMul(r, $v: f32[16,4])",
    ],
    ["a Softmax", "r = Softmax(a)\n y = MatMul(r, $v: f32[16,4])"],
    ["a product of two activations", "t = Transpose(a)\n y = MatMul(a, t)"],
    ["weights behind a Transpose", "t = Transpose($v: f32[4,16])\n y = MatMul(a, t)"],
  ])("%s", async (_, rest) => {
    const text = `(x: f32[4,8]) -> (y) {\n a = MatMul(x, $w: f32[8,16])\n ${rest} }`;
    const model = await prepared(text);
    const found = [...scalableValues(model, planOf(model)).keys()].map(({ label }) => label);
    expect(found.filter((label) => label !== "m")).toEqual([]);
  });

  it("weights that two nodes read", async () => {
    const model = await prepared(
      "(x: f32[4,8]) -> (y) { a = MatMul(x, $w: f32[8,8])\n b = MatMul(a, w)\n y = MatMul(b, $v: f32[8,4]) }",
    );
    expect([...scalableValues(model, planOf(model)).keys()]).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { randomDataset } from "../../src/dataset/random.js";
import type { DType } from "../../src/ir/index.js";
import { contentsOf, faultOf, input, numbersOf, samplesOf } from "../support/dataset.js";

const text = [input("input_ids", "i64", ["batch", "seq"]), input("attention_mask", "i64", ["batch", "seq"])];
const image = [input("x", "f32", [1, 3, 8, 8])];

describe("randomDataset", () => {
  it("gives the same values for the same seed, and others for another", async () => {
    const [a, b, c] = await Promise.all([7, 7, 8].map((seed) => samplesOf(randomDataset(image, { seed, count: 2 }))));
    expect(contentsOf(a!)).toEqual(contentsOf(b!));
    expect(a![0]!.feeds.get("x")!.f32()).not.toEqual(c![0]!.feeds.get("x")!.f32());
    expect(a![0]!.feeds.get("x")!.f32()).not.toEqual(a![1]!.feeds.get("x")!.f32());
  });

  it("gives a sample by index as in one pass", async () => {
    const dataset = randomDataset(text, { seed: 1, count: 5 });
    const all = await samplesOf(dataset);
    expect(contentsOf(await samplesOf(dataset, [3, 0]))).toEqual(contentsOf([all[3], all[0]]));
  });

  it("gives one symbol one size in a sample, and others in others", async () => {
    const samples = await samplesOf(randomDataset(text, { seed: 1, count: 10 }));
    for (const { feeds } of samples) {
      expect(feeds.get("input_ids")!.dims).toEqual(feeds.get("attention_mask")!.dims);
    }
    expect(new Set(samples.map(({ feeds }) => feeds.get("input_ids")!.dims[1])).size).toBeGreaterThan(1);
  });

  it("takes sizes that are given, and their symbols for other inputs", async () => {
    const shapes = new Map([["input_ids", [2, 7]]]);
    const [sample] = await samplesOf(randomDataset(text, { seed: 1, count: 1, shapes }));
    expect(sample!.feeds.get("attention_mask")!.dims).toEqual([2, 7]);
  });

  it("adds up symbols that are sums", async () => {
    const shapes = new Map([["past", [3, 5]]]);
    const inputs = [input("past", "f32", ["p", "s"]), input("mask", "i64", ["p + s"])];
    const [sample] = await samplesOf(randomDataset(inputs, { seed: 1, count: 1, shapes }));
    expect(sample!.feeds.get("mask")!.dims).toEqual([8]);
  });

  it("makes floats normal", async () => {
    const [sample] = await samplesOf(randomDataset([input("x", "f32", [100, 100])], { seed: 3, count: 1 }));
    const values = sample!.feeds.get("x")!.f32();
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    // Five standard errors of 10,000 draws.
    expect(Math.abs(mean)).toBeLessThan(0.05);
    expect(Math.abs(variance - 1)).toBeLessThan(0.075);
  });

  it("keeps ids small, lets masks through and counts positions", async () => {
    const inputs = [...text, input("position_ids", "i64", [1, 4])];
    const [sample] = await samplesOf(randomDataset(inputs, { seed: 1, count: 1 }));
    expect(Math.max(...numbersOf(sample!.feeds.get("input_ids")))).toBeLessThan(8);
    expect(new Set(numbersOf(sample!.feeds.get("attention_mask")))).toEqual(new Set([1]));
    expect(numbersOf(sample!.feeds.get("position_ids"))).toEqual([0, 1, 2, 3]);
  });

  it.each<DType>([
    "f32",
    "f64",
    "f16",
    "bf16",
    "bool",
    "u8",
    "i8",
    "u4",
    "i4",
    "string",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
  ])("makes %s", async (dtype) => {
    const [sample] = await samplesOf(randomDataset([input("x", dtype, [3, 5])], { seed: 1, count: 1 }));
    expect(sample!.feeds.get("x")).toMatchObject({ dtype, dims: [3, 5] });
  });

  it("refuses what it cannot make", async () => {
    const read = (spec: ReturnType<typeof input>) =>
      faultOf(() => samplesOf(randomDataset([spec], { seed: 1, count: 1 })));
    expect((await read(input("x", null, [1]))).code).toBe("DATASET_INPUT_KIND");
    expect((await read(input("x", "f32", null))).code).toBe("DATASET_SHAPE");
  });

  it("refuses a given shape that the model does not take", async () => {
    const shapes = new Map([["x", [1, 4, 8, 8]]]);
    expect((await faultOf(() => samplesOf(randomDataset(image, { seed: 1, count: 1, shapes })))).code).toBe(
      "DATASET_SHAPE",
    );
  });

  it("refuses a count of none", async () => {
    expect((await faultOf(() => randomDataset(image, { seed: 1, count: 0 }))).code).toBe("DATASET_EMPTY");
  });

  const sizesOf = async (
    sizes: "small" | "large" | "single" | "uncached",
    signature: Parameters<typeof randomDataset>[0],
  ) =>
    (await samplesOf(randomDataset(signature, { seed: 1, count: 2, sizes }))).map(({ feeds }) =>
      [...feeds.values()].map(({ dims }) => dims),
    );

  it("varies the batch from sample to sample", async () => {
    const [[first], [second]] = (await sizesOf("small", [input("x", "f32", ["N", 4])])) as [number[][], number[][]];
    expect(first![0]).not.toBe(second![0]);
  });

  it("makes large images and long sequences when asked to", async () => {
    const [[image, sound]] = (await sizesOf("large", [
      input("image", "f32", [1, 3, "H", "W"]),
      input("sound", "f32", [1, "T"]),
    ])) as [number[][]];
    expect(Math.min(image![2]!, image![3]!)).toBeGreaterThanOrEqual(224);
    expect(sound![1]).toBeGreaterThanOrEqual(512);
  });

  it.each(["small", "large", "single"] as const)("makes no huge tensors of many open axes, %s", async (sizes) => {
    for (const rank of [5, 6, 9, 12]) {
      const axes = Array.from({ length: rank }, (_, axis) => `d${axis}`);
      for (const [dims] of await sizesOf(sizes, [input("x", "f32", axes)])) {
        expect(dims!.reduce((count, size) => count * size, 1)).toBeLessThan(2 ** 22);
      }
    }
  });

  it("keeps states single for recurrent models", async () => {
    const [[sound, state]] = (await sizesOf("single", [
      input("sound", "f32", [null, null]),
      input("state", "f32", [2, null, 128]),
    ])) as [number[][]];
    expect([sound![0], state]).toEqual([1, [2, 1, 128]]);
  });

  it("empties caches, so that a mask over past and present is as long as the present", async () => {
    const [[ids, mask, keys]] = (await sizesOf("uncached", [
      input("ids", "i64", ["b", "s"]),
      input("mask", "i64", ["b", "t"]),
      input("past_key", "f32", ["b", 2, "p", 8]),
    ])) as [number[][]];
    expect(mask).toEqual(ids);
    expect(keys).toEqual([ids![0], 2, 0, 8]);
  });

  it("draws integers from those that mean something, a single one in turn", async () => {
    const signature = [input("rate", "i64", []), input("rows", "i64", [50])];
    const values = new Map([
      ["rate", [8000, 16000]],
      ["rows", [0, 1, 2]],
    ]);
    const samples = await samplesOf(randomDataset(signature, { seed: 1, count: 2, values }));
    expect(samples.map(({ feeds }) => numbersOf(feeds.get("rate")))).toEqual([[8000], [16000]]);
    expect(new Set(numbersOf(samples[0]!.feeds.get("rows")))).toEqual(new Set([0, 1, 2]));
  });
});

import { describe, expect, it } from "vitest";
import { conform } from "../../src/dataset/conform.js";
import { Tensor } from "../../src/ir/index.js";
import { faultOf, input, numbersOf } from "../support/dataset.js";

const sampleOf = (feeds: Record<string, Tensor>) => ({
  id: "s[0]",
  feeds: new Map(Object.entries(feeds)),
  labels: null,
});
const conformed = (tensor: Tensor, spec: ReturnType<typeof input>) =>
  conform(sampleOf({ [spec.name]: tensor }), [spec]).feeds.get(spec.name)!;

const f64 = (dims: number[], values: number[]) => Tensor.ofArray("f64", dims, Float64Array.from(values));
const i32 = (dims: number[], values: number[]) => Tensor.ofArray("i32", dims, Int32Array.from(values));

describe("conform", () => {
  it("picks the inputs that the model asks for", () => {
    const sample = sampleOf({ a: Tensor.f32([1], [1]), b: Tensor.f32([1], [2]) });
    expect([...conform(sample, [input("b", "f32", [1])]).feeds.keys()]).toEqual(["b"]);
  });

  it("keeps what already fits, bytes and all", () => {
    const tensor = Tensor.f32([2, 3], [1, 2, 3, 4, 5, 6]);
    expect(conformed(tensor, input("x", "f32", ["n", 3]))).toBe(tensor);
  });

  it("converts f64 to f32", () => {
    const tensor = conformed(f64([2], [0.1, -3]), input("x", "f32", [2]));
    expect([tensor.dtype, [...tensor.f32()]]).toEqual(["f32", [Math.fround(0.1), -3]]);
  });

  it("converts f32 to f16", () => {
    const tensor = conformed(Tensor.f32([2], [1.0004, 65504]), input("x", "f16", [2]));
    expect([tensor.dtype, numbersOf(tensor)]).toEqual(["f16", [1, 65504]]);
  });

  it("converts i32 to i64", () => {
    const tensor = conformed(i32([2], [-1, 2 ** 31 - 1]), input("x", "i64", [2]));
    expect(tensor.bigints()).toEqual([-1n, 2n ** 31n - 1n]);
  });

  it.each([
    ["i64", "i32"],
    ["f16", "f32"],
    ["f32", "f64"],
    ["f32", "i64"],
    ["u8", "f32"],
  ] as const)("refuses %s for %s, naming sample and input", async (from, to) => {
    const bytes = { i64: 8, f16: 2, f32: 4, u8: 1 }[from];
    const tensor = Tensor.fromBytes(from, [1], new Uint8Array(bytes));
    const fault = await faultOf(() => conformed(tensor, input("x", to, [1])));
    expect(fault.code).toBe("DATASET_DTYPE");
    expect(fault.message).toBe(`s[0]: input "x" is ${from} in the data, and the model takes ${to}`);
  });

  it.each([
    [[5], ["batch", 5], [1, 5]],
    [[5], [1, 5], [1, 5]],
    [[1, 5], [5], [5]],
    [[1], [], []],
  ])("changes [%s] to fit [%s]", (dims, shape, expected) => {
    const count = dims.reduce((product, dim) => product * dim, 1);
    expect(conformed(Tensor.f32(dims, Array(count).fill(0)), input("x", "f32", shape)).dims).toEqual(expected);
  });

  it.each([
    [
      [1, 4],
      [1, 5],
    ],
    [[4], [2, 4]],
    [[2, 4], [4]],
    [[1, 1, 4], ["n"]],
  ])("refuses [%s] for [%s]", async (dims, shape) => {
    const count = dims.reduce((product, dim) => product * dim, 1);
    const fault = await faultOf(() => conformed(Tensor.f32(dims, Array(count).fill(0)), input("x", "f32", shape)));
    expect(fault.code).toBe("DATASET_SHAPE");
    expect(fault.message).toContain(`[${dims.join(",")}]`);
  });

  it("takes any shape where the model says none", () => {
    expect(conformed(Tensor.f32([2, 1], [1, 2]), input("x", "f32", null)).dims).toEqual([2, 1]);
  });

  it("names the nearest input when one is missing", async () => {
    const fault = await faultOf(() => conform(sampleOf({ input_id: i32([1], [0]) }), [input("input_ids", "i64", [1])]));
    expect(fault.code).toBe("DATASET_INPUT_MISSING");
    expect(fault.hint).toContain('"input_id"');
  });

  it("says where an input may be called labels, and where that is taken", async () => {
    const { hint } = await faultOf(() => conform(sampleOf({ x: Tensor.f32([1], [0]) }), [input("labels", "f32", [1])]));
    for (const format of [".npz", ".jsonl", "manifest.json", "test_data_set_*"]) expect(hint).toContain(format);
  });

  it("refuses inputs that are no tensors", async () => {
    const fault = await faultOf(() => conformed(Tensor.f32([1], [0]), input("x", null, null)));
    expect(fault.code).toBe("DATASET_INPUT_KIND");
  });
});

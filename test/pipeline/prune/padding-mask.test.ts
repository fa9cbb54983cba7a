import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { isMasked, paddingMask } from "../../../src/pipeline/prune/padding-mask.js";

const modelOf = (inputs: string) => parseModel(`(x: f32[N,T,4], ${inputs}) -> (y) { y = Relu(x) }`);

describe("the mask of padding", () => {
  it.each([
    ["attention_mask: i64[N,T]", "attention_mask"],
    ["mask: bool[N,T]", "mask"],
    ["padding_mask: f32[N,T], ids: i64[N,T]", "padding_mask"],
  ])("is known by name and form: %s", (inputs, name) => {
    expect(paddingMask(modelOf(inputs))?.label).toBe(name);
  });

  it.each([
    ["of another rank", "attention_mask: i64[N,1,T,T]"],
    ["of another name", "token_type_ids: i64[N,T]"],
    ["called unlike a mask", "unmasked: i64[N,T]"],
    ["of which there are two", "mask: i64[N,T], padding_mask: i64[N,T]"],
    ["of text", "mask: string[N,T]"],
  ])("is none %s", (_, inputs) => {
    expect(paddingMask(modelOf(inputs))).toBeNull();
  });

  it("says something of values with a row for each of its places, and of no others", () => {
    const { graph } = modelOf("mask: i64[N,T]");
    const [x, mask] = graph.inputs as [(typeof graph.inputs)[0], (typeof graph.inputs)[0]];
    const sizes = (of: readonly number[], places = [1, 8]) =>
      new Map([
        ["x", of],
        ["mask", places],
      ]);
    expect(isMasked(x, mask, sizes([1, 8, 4]))).toBe(true);
    expect(isMasked(x, mask, sizes([1, 4, 8]))).toBe(false);
    expect(isMasked(x, mask, sizes([8, 4]))).toBe(false);
    expect(isMasked(x, mask, sizes([2, 8, 4]))).toBe(false);
    expect(isMasked(x, mask, new Map())).toBe(false);
  });
});

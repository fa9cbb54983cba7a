import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { type WindowMean, windowMeanOf } from "../../src/target/window-mean.js";

const window = (attributes: string, shape: string, made?: readonly number[]): WindowMean | null => {
  const text = `(x: f32[${shape}]) -> (y) { y = AveragePool<kernel_shape=${attributes}>(x) }`;
  const [pool] = [...parseModel(text, { opset: 19 }).graph.nodes()];
  if (made) pool!.output.type = { dtype: "f32", shape: made };
  return windowMeanOf(pool!);
};

describe("windowMeanOf", () => {
  it.each([
    ["[2,2], strides=[2,2]", "N,6,H,W", { channels: 6, kernel: [2, 2], strides: [2, 2], pads: [0, 0, 0, 0] }],
    ["[3,2], pads=[1,0,1,1], count_include_pad=1", "N,6,H,W", { kernel: [3, 2], strides: [1, 1], pads: [1, 0, 1, 1] }],
    ["[3], dilations=[2], strides=[3]", "N,6,L", { kernel: [3], strides: [3], dilations: [2] }],
    ["[3,3], strides=[2,2], ceil_mode=1", "N,6,7,9", { strides: [2, 2] }],
    ["[3,3], strides=[2,2], ceil_mode=1, pads=[0,1,1,0], count_include_pad=1", "N,6,8,10", { strides: [2, 2] }],
    ['[3,3], auto_pad="VALID"', "N,6,H,W", { pads: [0, 0, 0, 0] }],
  ])("<kernel_shape=%s> of [%s]", (attributes, shape, expected) => {
    expect(window(attributes, shape)).toMatchObject(expected);
  });

  it.each([
    ["[3,3], pads=[1,1,1,1]", "N,6,H,W"],
    ['[3,3], auto_pad="SAME_UPPER", count_include_pad=1', "N,6,H,W"],
    ["[2,2], strides=[2,2], ceil_mode=1", "N,6,7,8"],
    ["[2,2], strides=[2,2], ceil_mode=1", "N,6,H,8"],
    ["[2,2]", "N,C,8,8"],
    ["[2,2,2]", "N,6,8,8,8"],
  ])("is nothing of <kernel_shape=%s> of [%s]", (attributes, shape) => {
    expect(window(attributes, shape)).toBeNull();
  });

  it("leaves what has one window for each channel", () => {
    expect(window("[8,8]", "N,6,8,8", [1, 6, 1, 1])).toBeNull();
    expect(window("[8,7]", "N,6,8,8", [1, 6, 1, 2])).not.toBeNull();
  });
});

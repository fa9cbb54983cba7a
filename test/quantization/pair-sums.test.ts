import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { parseModel } from "../../src/ir/index.js";
import { addsPairs, saturableChannels } from "../../src/quantization/pair-sums.js";
import { quantizeWeight, weightScales } from "../../src/quantization/weights.js";
import { integerTarget } from "../../src/target/integer-kernels.js";
import { errorOf, quantizeText } from "../support/quantize-text.js";

const channels = (integers: readonly number[], dims: readonly number[], axis: number): number =>
  saturableChannels(Int8Array.from(integers), { dims, axis });

describe("saturableChannels", () => {
  it("looks at rows two by two, in each column of a matrix", () => {
    // Columns: (127, 2) adds up to 129; (127, -127) takes away; (1, 100 | 100, 1) are no neighbours.
    const matrix = [127, 127, 1, /**/ 2, -127, 100, /**/ 0, 0, 100, /**/ 0, 0, 1];
    expect(channels(matrix, [4, 3], 1)).toBe(1);
    expect(channels(matrix.slice(3), [3, 3], 1)).toBe(1);
  });

  it("and along the rows of a matrix that is stored turned", () => {
    expect(channels([-100, -29, 0, 0, 100, 29, 100, 28, 0], [3, 3], 0)).toBe(1);
  });

  it("takes the input channels of a convolution innermost", () => {
    // [1, 3, 1, 2]: channels 0, 1 and 2, at two places each; summed up as 0 1 2 of the first place, then of the second.
    expect(channels([100, 0, 100, 0, 0, 0], [1, 3, 1, 2], 0)).toBe(1);
    expect(channels([0, 0, 100, 0, 100, 0], [1, 3, 1, 2], 0)).toBe(0);
    expect(channels([0, 100, 0, 0, 100, 0], [1, 3, 1, 2], 0)).toBe(1);
    expect(channels([100, 100, 0, 0, 0, 0], [1, 3, 1, 2], 0)).toBe(0);
  });

  it("a depthwise convolution has no pairs", () => {
    const node = (text: string) => parseModel(`(x: f32[1,8,4,4]) -> (y) { y = ${text} }`).graph.firstNode!;
    expect(addsPairs(node("Conv<group=8>(x, $w: f32[8,1,3,3])"), [8, 1, 3, 3])).toBe(false);
    expect(addsPairs(node("Conv<group=4>(x, $w: f32[8,2,3,3])"), [8, 2, 3, 3])).toBe(true);
    expect(addsPairs(node("Conv(x, $w: f32[1,1,3,3])"), [1, 1, 3, 3])).toBe(true);
  });
});

describe("weights in pairs", () => {
  it.each([
    { dims: [33, 7], axis: 1 },
    { dims: [7, 33], axis: 0 },
    { dims: [6, 5, 3, 3], axis: 0 },
  ])("$dims along $axis: none saturates, and channels that could not stay as they are", ({ dims, axis }) => {
    const random = seededRandom(3);
    const count = dims.reduce((a, b) => a * b, 1);
    const weights = Float32Array.from({ length: count }, () => random.normal());
    // One channel of almost nothing but its largest weight.
    for (let i = 0; i < count; i++) {
      const channel = axis === 1 ? i % dims[1]! : Math.floor((i * dims[0]!) / count);
      if (channel !== 2) continue;
      weights[i] = i === (axis === 1 ? 2 : (2 * count) / dims[0]!) ? 1 : weights[i]! * 1e-3;
    }
    const plain = weightScales(weights, dims, axis, 127);
    const scales = weightScales(weights, dims, axis, 127, true);
    expect(scales[2]).toBe(plain[2]);
    expect([...scales].every((scale, i) => scale >= plain[i]! && scale <= plain[i]! * 2)).toBe(true);
    expect([...scales].some((scale, i) => scale > plain[i]!)).toBe(true);
    const integersOf = (of: Float32Array, pairs: boolean): Int8Array =>
      Int8Array.from(quantizeWeight(weights, dims, axis, of, 127, pairs).integers.bigints()!, Number);
    expect(saturableChannels(integersOf(plain, false), { dims, axis })).toBeGreaterThan(0);
    expect(saturableChannels(integersOf(scales, true), { dims, axis })).toBe(0);
  });

  it("lose less than half of what 7 bits do", async () => {
    const text = "(x: f32[4,64]) -> (y) { y = MatMul(x, $w: f32[64,48]) }";
    const target = integerTarget("cpu", "x64", ["avx2"]);
    const error = async (limits: Partial<typeof target>): Promise<number> => {
      const { float, model, feeds } = await quantizeText(text, {}, { ...target, ...limits });
      return errorOf(float, model, feeds);
    };
    const paired = await error({});
    expect(paired).toBeLessThan(await error({ weightLimit: 63 }));
  });
});

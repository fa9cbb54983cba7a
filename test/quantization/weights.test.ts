import { describe, expect, it } from "vitest";
import {
  makeRoomForBias,
  quantizeBias,
  quantizeWeight,
  roundHalfEven,
  weightScales,
} from "../../src/quantization/weights.js";

/** [2, 3, 2] */
const dims = [2, 3, 2];
const weights = Float32Array.of(1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12);
const float = Math.fround;

describe("weightScales", () => {
  it("follows the largest magnitude of each index along the axis", () => {
    expect([...weightScales(weights, dims, 0, 127)]).toEqual([float(6 / 127), float(12 / 127)]);
    expect([...weightScales(weights, dims, 1, 127)]).toEqual([float(8 / 127), float(10 / 127), float(12 / 127)]);
    expect([...weightScales(weights, dims, 2, 127)]).toEqual([float(11 / 127), float(12 / 127)]);
  });

  it("is one for the whole tensor without an axis", () => {
    expect([...weightScales(weights, dims, null, 127)]).toEqual([float(12 / 127)]);
  });

  it("gives a channel of zeros the smallest scale of the others", () => {
    expect([...weightScales(Float32Array.of(0, 0, 4, 2, 8, 1), [3, 2], 0, 2)]).toEqual([2, 2, 4]);
  });

  it("is positive where all weights are zero, and where they nearly are", () => {
    expect([...weightScales(new Float32Array(4), [2, 2], 0, 127)]).toEqual([1, 1]);
    expect([...weightScales(Float32Array.of(1e-40, 1), [2, 1], 0, 127)][0]).toBe(2 ** -60);
  });
});

describe("quantizeWeight", () => {
  const integers = (values: number[], scale: number, limit: number): number[] => [
    ...new Int8Array(
      quantizeWeight(Float32Array.from(values), [values.length], null, Float32Array.of(scale), limit)
        .integers.bytes()
        .slice().buffer,
    ),
  ];

  it("rounds half to even", () => expect(integers([0.5, 1.5, 2.5, -0.5, -1.5], 1, 127)).toEqual([0, 2, 2, 0, -2]));
  it("keeps within the limit", () => expect(integers([200, -200, 64], 1, 63)).toEqual([63, -63, 63]));

  it.each([0, 1, 2])("keeps every weight within half a step along axis %i", (axis) => {
    const scales = weightScales(weights, dims, axis, 63);
    const stored = new Int8Array(quantizeWeight(weights, dims, axis, scales, 63).integers.bytes().slice().buffer);
    const inner = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
    stored.forEach((integer, i) => {
      const scale = scales[Math.floor(i / inner) % dims[axis]!]!;
      expect(Math.abs(integer * scale - weights[i]!)).toBeLessThanOrEqual(scale / 2 + 1e-6);
    });
    expect(Math.max(...stored.map(Math.abs))).toBe(63);
  });
});

describe("roundHalfEven", () => {
  it.each([
    [2.5, 2],
    [3.5, 4],
    [-2.5, -2],
    [2.4999, 2],
    [-2.51, -3],
  ])("%d becomes %d", (value, rounded) => expect(roundHalfEven(value)).toBe(rounded));
});

describe("biases", () => {
  /** Quantizes a bias as a node would and reads it back. */
  function rebuilt(bias: number[], scales: Float32Array, inputScale: number): { bias: number[]; raised: number[] } {
    const raised = makeRoomForBias(scales, Float32Array.from(bias), inputScale, 4);
    const stored = quantizeBias(Float32Array.from(bias), inputScale, scales);
    const integers = stored.integers.integers()!;
    return { bias: integers.map((integer, i) => integer * stored.scales[i]!), raised };
  }

  it("fit into 32 bits beside tiny weights: input scale 0.5, weight scale 7.8e-10, bias 5", () => {
    const scales = Float32Array.of(7.8e-10, 0.01);
    const { bias, raised } = rebuilt([5, 1], scales, 0.5);
    expect(raised).toEqual([0]);
    expect(scales[1]).toBe(float(0.01));
    expect(Math.abs(bias[0]! - 5)).toBeLessThan(1e-3);
    expect(Math.abs(bias[1]! - 1)).toBeLessThan(0.005);
  });

  it("leave room for the products that they are added to, within 32 bits", () => {
    for (const products of [8, 4608, 1e6]) {
      const [scales, bias] = [Float32Array.of(1e-12), Float32Array.of(0.5)];
      expect(makeRoomForBias(scales, bias, 0.02, products)).toEqual([0]);
      const [integer] = quantizeBias(bias, 0.02, scales).integers.integers()!;
      const room = Math.min(2 ** 30, products * 255 * 127);
      expect(integer! + room).toBeLessThan(2 ** 31);
      expect(integer!).toBeGreaterThan((2 ** 31 - room) * 0.999);
    }
  });

  it("survive a filter of zeros: bias -1.2", () => {
    const weight = Float32Array.of(0, 0, 0, 0, 1e-9, 1e-9, 1e-9, 1e-9);
    const scales = weightScales(weight, [2, 4], 0, 127);
    const { bias } = rebuilt([-1.2, 0], scales, 0.02);
    expect(Math.abs(bias[0]! + 1.2)).toBeLessThan(1e-3);
    expect(quantizeWeight(weight, [2, 4], 0, scales, 127).integers.integers()!.slice(0, 4)).toEqual([0, 0, 0, 0]);
  });

  it("leave scales alone that have room, as a single number does", () => {
    const scales = Float32Array.of(0.01);
    expect(rebuilt([0.25], scales, 0.02).raised).toEqual([]);
    expect(scales).toEqual(Float32Array.of(0.01));
  });

  it("take the one scale of a whole tensor for every element", () => {
    const { integers } = quantizeBias(Float32Array.of(1, 2), 0.5, Float32Array.of(0.5));
    expect(integers.integers()).toEqual([4, 8]);
  });

  it("never leave 32 bits, whatever the numbers", () => {
    for (let exponent = -60; exponent < 0; exponent++) {
      for (const bias of [1e-3, 1.2, 1e4, 3e38]) {
        const scales = Float32Array.of(2 ** exponent);
        const { bias: back } = rebuilt([bias, -bias].slice(0, 1), scales, 1e-3);
        expect(Math.abs(back[0]! - bias) / bias).toBeLessThan(Math.max(1e-6, (1e-3 * scales[0]!) / bias));
      }
    }
  });
});

import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { type InputMoments, roundInView } from "../../../src/quantization/inputs/round-in-view.js";
import type { WeightLayout } from "../../../src/quantization/inputs/rounding-kernel.js";

const chance = seededRandom(3);
const noise = (count: number): Float32Array => Float32Array.from({ length: count }, () => 2 * chance.next() - 1);

const matrix = (outputs: number, inputs: number): WeightLayout => ({
  outputs,
  inputs,
  places: 1,
  group: 1,
  outputStride: inputs,
  inputStride: 1,
});

const momentsOf = (samples: number, means: Float32Array, spread = 0, shared = 0): InputMoments => ({
  samples,
  means,
  spread: new Float32Array(means.length / samples).fill(spread),
  shared: new Float32Array(means.length / samples).fill(shared),
});

/** Of the answers to the means, what is left of the error behind the shift, squared and summed. */
function errorOf(
  weights: Float32Array,
  integers: Int8Array,
  scales: Float32Array,
  { samples, means }: InputMoments,
  shift: Float32Array | null,
): number {
  const inputs = means.length / samples;
  let sum = 0;
  for (let o = 0; o < scales.length; o++) {
    for (let s = 0; s < samples; s++) {
      let error = shift?.[o] ?? 0;
      for (let c = 0; c < inputs; c++) {
        const at = o * inputs + c;
        error += (integers[at]! * scales[o]! - weights[at]!) * means[s * inputs + c]!;
      }
      sum += error * error;
    }
  }
  return sum;
}

describe("roundInView", () => {
  const [outputs, inputs, samples] = [16, 64, 4];
  const layout = matrix(outputs, inputs);
  const weights = noise(outputs * inputs);
  const scales = new Float32Array(outputs).fill(1 / 127);
  const nearest = Int8Array.from(weights, (weight) => Math.round(weight * 127));
  const moments = momentsOf(samples, noise(samples * inputs).map(Math.abs), 0.01);

  it.each([true, false])(
    "leaves far less of the error in the means than rounding to the nearest (bias %s)",
    (hasBias) => {
      const { integers, shift } = roundInView({ weights, layout, scales, limit: 127 }, moments, hasBias);
      expect(shift === null).toBe(!hasBias);
      const before = errorOf(weights, nearest, scales, moments, null);
      expect(errorOf(weights, integers, scales, moments, shift)).toBeLessThan(before / 20);
    },
  );

  it("takes one of the two integers beside a weight, within the limit", () => {
    const { integers } = roundInView({ weights, layout, scales, limit: 100 }, moments, true);
    integers.forEach((integer, i) => {
      const exact = weights[i]! * 127;
      if (Math.abs(exact) < 99) expect(Math.abs(integer - exact)).toBeLessThan(1.001);
      expect(Math.abs(integer)).toBeLessThanOrEqual(100);
    });
  });

  it("rounds to the nearest where the means say nothing", () => {
    const silent = momentsOf(samples, new Float32Array(samples * inputs), 1);
    expect(roundInView({ weights, layout, scales, limit: 127 }, silent, false).integers).toEqual(nearest);
    const constant = momentsOf(2, new Float32Array(2 * inputs).fill(0.5), 1);
    const { integers, shift } = roundInView({ weights, layout, scales, limit: 127 }, constant, true);
    expect(integers).toEqual(nearest);
    // All samples are alike, so the bias mends it all.
    expect(errorOf(weights, integers, scales, constant, shift)).toBeLessThan(1e-9);
  });

  it("leaves weights that are integers already", () => {
    const exact = Float32Array.of(3, -5, 127, 0).map((value) => value / 127);
    const means = momentsOf(2, Float32Array.of(1, 2, 3, 4, 4, 3, 2, 1));
    const { integers, shift } = roundInView(
      { weights: exact, layout: matrix(1, 4), scales: Float32Array.of(1 / 127), limit: 127 },
      means,
      true,
    );
    expect([...integers]).toEqual([3, -5, 127, 0]);
    expect(shift![0]).toBeCloseTo(0, 6);
  });

  it("meets each group's own channels, all places of a kernel, in either order of memory", () => {
    const groups: WeightLayout = { outputs: 4, inputs: 1, places: 9, group: 4, outputStride: 9, inputStride: 9 };
    const kernels = noise(36);
    const scale = new Float32Array(4).fill(1 / 127);
    const loud = momentsOf(2, Float32Array.of(1, 0, 1, 0, 2, 0, 2, 0));
    const { integers } = roundInView({ weights: kernels, layout: groups, scales: scale, limit: 127 }, loud, false);
    for (let o = 0; o < 4; o++) {
      const of = (values: ArrayLike<number>) => Array.from({ length: 9 }, (_, i) => values[9 * o + i]!);
      const sum = of(integers).reduce((a, b) => a + b) - of(kernels).reduce((a, b) => a + b) * 127;
      // Of a channel that is heard the sum is kept; of a silent one, each weight.
      if (o % 2 === 0) expect(Math.abs(sum)).toBeLessThanOrEqual(0.51);
      else expect(of(integers)).toEqual(of(kernels.map((weight) => Math.round(weight * 127))));
    }
    const turned = new Float32Array(weights.length);
    weights.forEach((weight, i) => {
      turned[(i % inputs) * outputs + Math.floor(i / inputs)] = weight;
    });
    const columns = { ...layout, outputStride: 1, inputStride: outputs };
    const [rows, other] = [
      roundInView({ weights, layout, scales, limit: 127 }, moments, true).integers,
      roundInView({ weights: turned, layout: columns, scales, limit: 127 }, moments, true).integers,
    ];
    rows.forEach((integer, i) => void expect(other[(i % inputs) * outputs + Math.floor(i / inputs)]).toBe(integer));
  });

  it("lets the places of a kernel make up for each other as far as they see the same", () => {
    const kernels = noise(64 * 9);
    const layout: WeightLayout = { outputs: 64, inputs: 1, places: 9, group: 1, outputStride: 9, inputStride: 9 };
    const scale = new Float32Array(64).fill(1 / 127);
    /** Mean square of the sum of a kernel's errors, in steps. */
    const left = (shared: number): number => {
      const means = momentsOf(2, Float32Array.of(0.5, 0.5), 1, shared);
      const { integers } = roundInView({ weights: kernels, layout, scales: scale, limit: 127 }, means, true);
      let sum = 0;
      for (let o = 0; o < 64; o++) {
        let error = 0;
        for (let i = 9 * o; i < 9 * o + 9; i++) error += integers[i]! - kernels[i]! * 127;
        sum += error ** 2 / 64;
      }
      return sum;
    };
    // Nine errors of their own, each of 1 / 12; one error; and something between.
    expect(left(0)).toBeGreaterThan(0.5);
    expect(left(1)).toBeLessThan(0.15);
    expect(left(0.5)).toBeLessThan(left(0));
  });
});

describe("roundInView with vector instructions", () => {
  const layouts: readonly (readonly [string, WeightLayout])[] = [
    ["a Conv", { outputs: 22, inputs: 24, places: 9, group: 1, outputStride: 216, inputStride: 9 }],
    ["one of a single place", { outputs: 8, inputs: 40, places: 1, group: 1, outputStride: 40, inputStride: 1 }],
    ["one with groups", { outputs: 15, inputs: 8, places: 4, group: 3, outputStride: 32, inputStride: 4 }],
    ["a depthwise one", { outputs: 6, inputs: 1, places: 9, group: 6, outputStride: 9, inputStride: 9 }],
    ["a matrix", { outputs: 13, inputs: 64, places: 1, group: 1, outputStride: 1, inputStride: 13 }],
  ];
  it.each(layouts)("gives the same bits as without, and what a larger one left is not in its way: %s", (_, layout) => {
    const { outputs, inputs, places, group } = layout;
    const scales = noise(outputs).map((value) => 0.001 + Math.abs(value) / 127);
    const weights = noise(outputs * inputs * places);
    const own = momentsOf(5, noise(5 * inputs * group), 0.02, 0.01);
    for (const hasBias of [true, false])
      for (const limit of [127, 63]) {
        const round = (useVectors: boolean) =>
          roundInView({ weights, layout, scales, limit }, own, hasBias, useVectors);
        expect(round(true)).toEqual(round(false));
      }
  });
});

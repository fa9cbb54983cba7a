import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { type InputMoments, roundInView } from "../../../src/quantization/inputs/round-in-view.js";
import type { WeightLayout } from "../../../src/quantization/inputs/rounding-kernel.js";
import { roundHalfEven } from "../../../src/quantization/weights.js";

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

/** Per row of a matrix, or kernel of a depthwise Conv. */
const nearestOf = (weights: Float32Array, scales: Float32Array): Int8Array =>
  Int8Array.from(weights, (weight, i) =>
    roundHalfEven(weight / scales[Math.floor((i * scales.length) / weights.length)]!),
  );

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
  const nearest = nearestOf(weights, scales);
  const moments = momentsOf(samples, noise(samples * inputs).map(Math.abs), 0.01);

  it.each([true, false])(
    "leaves far less of the error in the means than rounding to the nearest (bias %s)",
    (hasBias) => {
      const rounded = roundInView({ weights, layout, scales, limit: 127 }, moments, hasBias);
      expect(rounded.shift === null).toBe(!hasBias);
      const before = errorOf(weights, nearest, scales, moments, null);
      const after = errorOf(weights, rounded.integers, rounded.scales, moments, rounded.shift);
      expect(after).toBeLessThan(before / 20);
    },
  );

  it("takes one of the two integers beside a weight, within the limit", () => {
    const rounded = roundInView({ weights, layout, scales, limit: 100 }, moments, true);
    rounded.integers.forEach((integer, i) => {
      const exact = weights[i]! / rounded.scales[Math.floor(i / inputs)]!;
      if (Math.abs(exact) < 99) expect(Math.abs(integer - exact)).toBeLessThan(1.001);
      expect(Math.abs(integer)).toBeLessThanOrEqual(100);
    });
  });

  it("rounds to the nearest where the means say nothing", () => {
    const silent = momentsOf(samples, new Float32Array(samples * inputs), 1);
    const unheard = roundInView({ weights, layout, scales, limit: 127 }, silent, false);
    expect(unheard.integers).toEqual(nearestOf(weights, unheard.scales));
    const constant = momentsOf(2, new Float32Array(2 * inputs).fill(0.5), 1);
    const same = roundInView({ weights, layout, scales, limit: 127 }, constant, true);
    expect(same.integers).toEqual(nearestOf(weights, same.scales));
    // All samples are alike, so the bias mends it all.
    expect(errorOf(weights, same.integers, same.scales, constant, same.shift)).toBeLessThan(1e-9);
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
    const each = roundInView({ weights: kernels, layout: groups, scales: scale, limit: 127 }, loud, false);
    const plain = nearestOf(kernels, each.scales);
    for (let o = 0; o < 4; o++) {
      const of = (values: ArrayLike<number>) => Array.from({ length: 9 }, (_, i) => values[9 * o + i]!);
      const sum = of(each.integers).reduce((a, b) => a + b) - of(kernels).reduce((a, b) => a + b) / each.scales[o]!;
      // Of a channel that is heard the sum is kept; of a silent one, each weight.
      if (o % 2 === 0) expect(Math.abs(sum)).toBeLessThanOrEqual(0.51);
      else expect(of(each.integers)).toEqual(of(plain));
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
      const rounded = roundInView({ weights: kernels, layout, scales: scale, limit: 127 }, means, true);
      let sum = 0;
      for (let o = 0; o < 64; o++) {
        let error = 0;
        for (let i = 9 * o; i < 9 * o + 9; i++) error += rounded.integers[i]! - kernels[i]! / rounded.scales[o]!;
        sum += error ** 2 / 64;
      }
      return sum;
    };
    // Nine errors of their own, one error, and something between.
    expect(left(0)).toBeGreaterThan(0.3);
    expect(left(1)).toBeLessThan(0.15);
    expect(left(1)).toBeLessThan(left(0) / 4);
    expect(left(0.5)).toBeLessThan(left(0));
  });
});

describe("the scales of roundInView", () => {
  /** Mean square of errors beside that of rounding to the nearest with the least scales, in an output of `places` weights. */
  const left = (places: number): number => {
    const layout: WeightLayout = {
      ...{ outputs: 64, inputs: 1, places, group: 1 },
      outputStride: places,
      inputStride: 1,
    };
    const weights = noise(64 * places);
    const least = Float32Array.from({ length: 64 }, (_, o) => {
      const own = weights.subarray(o * places, (o + 1) * places);
      return Math.max(...own.map(Math.abs)) / 127;
    });
    const means = momentsOf(2, Float32Array.of(0.5, 0.5), 1);
    const { integers, scales } = roundInView({ weights, layout, scales: least, limit: 127 }, means, true);
    const error = (of: Int8Array, by: Float32Array): number =>
      weights.reduce((sum, weight, i) => sum + (of[i]! * by[Math.floor(i / places)]! - weight) ** 2, 0);
    scales.forEach((scale, o) => {
      expect(scale).toBeGreaterThanOrEqual(least[o]!);
      expect(scale).toBeLessThan(1.2 * least[o]!);
    });
    return error(integers, scales) / error(nearestOf(weights, least), least);
  };

  it("are those that round best: of a few weights far better, of many a little", () => {
    expect(left(9)).toBeLessThan(0.6);
    expect(left(96)).toBeLessThan(0.95);
    expect(left(96)).toBeGreaterThan(left(9));
  });

  it("make the sum smallest that the head of the file names", () => {
    // Two places of each channel, and a bias: means count as they differ from what samples have in common.
    const layout: WeightLayout = { outputs: 8, inputs: 3, places: 2, group: 1, outputStride: 6, inputStride: 2 };
    const weights = noise(48);
    const least = new Float32Array(8).fill(1 / 127);
    const own = momentsOf(2, Float32Array.of(1, 0.2, -0.5, 0.4, 1, 0.1), 0.3, 0.1);
    const sumOf = (integers: Int8Array, output: number, scale: number): number => {
      let sum = 0;
      const errors = [0, 0];
      for (let c = 0; c < 3; c++) {
        const means = [own.means[c]!, own.means[3 + c]!];
        const common = (means[0]! + means[1]!) / 2;
        const unseen = means.reduce((all, mean) => all + (mean - common) ** 2, 0);
        const d = [0, 1].map((place) => {
          const at = 6 * output + 2 * c + place;
          return integers[at]! * scale - weights[at]!;
        });
        const all = d[0]! + d[1]!;
        for (const s of [0, 1]) errors[s]! += all * (means[s]! - common);
        sum += 2 * 0.4 * (0.2 * (d[0]! ** 2 + d[1]! ** 2) + 0.1 * all ** 2) + unseen * all ** 2;
      }
      return sum + errors[0]! ** 2 + errors[1]! ** 2;
    };
    /** With one scale alone: silent outputs leave no room to try others. */
    const alone = (scales: Float32Array): Int8Array => {
      const padded = new Float32Array(2 ** 18);
      padded.set(weights);
      const outputs = padded.length / 6;
      const all = new Float32Array(outputs).fill(1);
      all.set(scales);
      const rounded = roundInView(
        { weights: padded, layout: { ...layout, outputs }, scales: all, limit: 127 },
        own,
        true,
      );
      expect(rounded.scales).toEqual(all);
      return rounded.integers.subarray(0, 48);
    };
    const { integers, scales } = roundInView({ weights, layout, scales: least, limit: 127 }, own, true);
    for (let i = 0; i < 24; i++) {
      const tried = least.map((scale) => scale * (1 + 0.006 * i));
      const other = alone(tried);
      for (let o = 0; o < 8; o++) {
        const [best, found] = [sumOf(integers, o, scales[o]!), sumOf(other, o, tried[o]!)];
        expect(best).toBeLessThanOrEqual(found * 1.00001);
        if (tried[o] === scales[o]) expect(best).toBeCloseTo(found, 12);
      }
    }
    expect(new Set(scales).size).toBeGreaterThan(3);
  });

  it("stay the least where no other is better", () => {
    // All zero at any of them.
    const least = new Float32Array(4).fill(1000);
    const { integers, scales } = roundInView(
      { weights: noise(64), layout: matrix(4, 16), scales: least, limit: 127 },
      momentsOf(2, noise(32), 1),
      true,
    );
    expect(integers.every((integer) => integer === 0)).toBe(true);
    expect(scales).toEqual(least);
  });

  it("are as given where there are too many weights to try others", () => {
    const scales = new Float32Array(256).fill(1 / 127);
    const weights = noise(256 * 1024);
    const own = momentsOf(2, noise(2048), 1);
    expect(roundInView({ weights, layout: matrix(256, 1024), scales, limit: 127 }, own, true).scales).toEqual(scales);
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
    const infinite = scales.map((scale, i) => (i === 1 ? Number.POSITIVE_INFINITY : scale));
    for (const hasBias of [true, false])
      for (const limit of [127, 63])
        for (const given of [scales, infinite]) {
          const round = (useVectors: boolean) =>
            roundInView({ weights, layout, scales: given, limit }, own, hasBias, useVectors);
          expect(round(true)).toEqual(round(false));
        }
  });
});

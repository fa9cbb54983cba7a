import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { Tensor } from "../../../src/ir/index.js";
import { weightBlocks } from "../../../src/quantization/blocks/weight-blocks.js";

/** Bell-shaped, about. */
function seededNumbers(count: number): number[] {
  const chance = seededRandom(7);
  return Array.from({ length: count }, () => chance.next() + chance.next() + chance.next() + chance.next() - 2);
}

const nibble = (tensor: Tensor, i: number): number => {
  const byte = tensor.bytes()[i >> 1]!;
  return (((i & 1 ? byte >> 4 : byte & 15) + 8) & 15) - 8;
};

/** What the integers say. */
function widened(values: readonly number[], k: number, n: number): number[] {
  const { integers, scales, zeroPoints } = weightBlocks(Tensor.f32([k, n], values), 4);
  return values.map((_, i) => {
    const at = Math.floor(Math.floor(i / n) / 32) * n + (i % n);
    return (nibble(integers, i) - nibble(zeroPoints!, at)) * scales.f32()[at]!;
  });
}

const errorOf = (a: readonly number[], b: readonly number[]): number =>
  Math.sqrt(a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0) / a.reduce((sum, x) => sum + x * x, 0));

describe("weightBlocks of 4 bits", () => {
  it("keeps what sixteen steps can say", () => {
    const values = Array.from({ length: 32 }, (_, i) => 0.5 * ((i % 16) - 5));
    expect(errorOf(values, widened(values, 32, 1))).toBeLessThan(1e-6);
  });

  it("is closer than the nearest steps of a symmetric range", () => {
    const values = seededNumbers(64 * 8);
    const nearest = values.map((value, i) => {
      const block = values.filter((_, j) => j % 8 === i % 8 && Math.floor(j / 256) === Math.floor(i / 256));
      const step = Math.max(...block.map(Math.abs)) / 7;
      return Math.round(value / step) * step;
    });
    expect(errorOf(values, widened(values, 64, 8))).toBeLessThan(0.85 * errorOf(values, nearest));
  });

  it("takes blocks of one sign, of zeros, of one number, and one that is not full", () => {
    const positive = seededNumbers(32).map((value) => 1 + Math.abs(value));
    expect(errorOf(positive, widened(positive, 32, 1))).toBeLessThan(0.1);
    expect(widened(new Array(32).fill(0), 32, 1)).toEqual(new Array(32).fill(0));
    // Beside blocks of small numbers, which a scale of 1 would drown where activations are rounded.
    const { scales } = weightBlocks(Tensor.f32([64, 1], [...new Array(32).fill(0), ...new Array(32).fill(1e-9)]), 4);
    expect(scales.f32()[0]!).toBeGreaterThan(0);
    expect(scales.f32()[0]!).toBeLessThan(scales.f32()[1]! / 1000);
    const single = [...new Array(31).fill(0), -3];
    expect(errorOf(single, widened(single, 32, 1))).toBeLessThan(1e-6);
    const odd = seededNumbers(35 * 3);
    expect(errorOf(odd, widened(odd, 35, 3))).toBeLessThan(0.1);
  });
});

describe("weightBlocks of 8 bits", () => {
  it("have no zero point, and a scale for every 128 rows", () => {
    const values = seededNumbers(200 * 3);
    const { integers, scales, zeroPoints } = weightBlocks(Tensor.f32([200, 3], values), 8);
    expect([integers.dtype, integers.dims, scales.dims]).toEqual(["i8", [200, 3], [2, 3]]);
    expect([...zeroPoints!.bytes()]).toEqual(new Array(6).fill(0));
    const steps = new Int8Array(integers.bytes());
    const back = values.map((_, i) => steps[i]! * scales.f32()[Math.floor(i / 384) * 3 + (i % 3)]!);
    expect(errorOf(values, back)).toBeLessThan(0.01);
  });
});

import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { Tensor } from "../../../src/ir/index.js";
import type { Gram } from "../../../src/quantization/blocks/round-together.js";
import { type BlockBits, blockForms, weightBlocks } from "../../../src/quantization/blocks/weight-blocks.js";
import type { WeightTensors } from "../../../src/quantization/weight-store.js";

const chance = seededRandom(11);
const bell = (): number => chance.next() + chance.next() + chance.next() + chance.next() - 2;

/** Rows of inputs that share a few causes, so that they come together. */
function inputs(rows: number, k: number): Float32Array {
  const causes = Array.from({ length: 6 }, () => Float32Array.from({ length: k }, bell));
  return Float32Array.from({ length: rows * k }, () => 0).map((_, at) => {
    const row = Math.floor(at / k);
    return causes.reduce((sum, cause, c) => sum + cause[at % k]! * Math.sin(row * (c + 1.3)), 0.1 * bell());
  });
}

function gramOf(x: Float32Array, k: number): Gram {
  const products = new Float32Array(k * k);
  for (let row = 0; row < x.length; row += k) {
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) products[i * k + j]! += x[row + i]! * x[row + j]!;
  }
  return { channels: k, products };
}

/** Error of x w as the integers say it, as a share of x w. */
function errorOf(
  x: Float32Array,
  weights: readonly number[],
  [k, n]: readonly [number, number],
  bits: BlockBits,
  { integers, scales, zeroPoints }: WeightTensors,
): number {
  const { size } = blockForms[bits];
  const whole = ({ bytes }: { bytes: Uint8Array }, i: number): number =>
    bits === 8 ? (bytes[i]! << 24) >> 24 : (((i & 1 ? bytes[i >> 1]! >> 4 : bytes[i >> 1]! & 15) + 8) & 15) - 8;
  const [q, z] = [{ bytes: integers.bytes() }, { bytes: zeroPoints!.bytes() }];
  const back = weights.map((_, i) => {
    const at = Math.floor(Math.floor(i / n) / size) * n + (i % n);
    return (whole(q, i) - whole(z, at)) * scales.f32()[at]!;
  });
  let [difference, norm] = [0, 0];
  for (let row = 0; row < x.length; row += k) {
    for (let c = 0; c < n; c++) {
      let [is, was] = [0, 0];
      for (let i = 0; i < k; i++) {
        is += x[row + i]! * back[i * n + c]!;
        was += x[row + i]! * weights[i * n + c]!;
      }
      difference += (is - was) ** 2;
      norm += was ** 2;
    }
  }
  return Math.sqrt(difference / norm);
}

describe("weights rounded with their inputs in view", () => {
  it.each([
    [4, 64, 16],
    [4, 70, 11],
    [8, 140, 9],
  ] as const)("%i bits, [%i, %i]: less error in the products, on rows that were not fitted too", (bits, k, n) => {
    const weights = Array.from({ length: k * n }, bell);
    const all = inputs(160, k);
    const [seen, other] = [all.subarray(0, 128 * k), all.subarray(128 * k)];
    const tensor = Tensor.f32([k, n], weights);
    const alone = weightBlocks(tensor, bits);
    const together = weightBlocks(tensor, bits, gramOf(seen, k));
    for (const x of [seen, other]) {
      const [before, after] = [alone, together].map((stored) => errorOf(x, weights, [k, n], bits, stored));
      expect(after).toBeLessThan(0.6 * before!);
    }
  });

  it("gives the same bytes again", () => {
    const weights = Tensor.f32([64, 12], Array.from({ length: 64 * 12 }, bell));
    const gram = gramOf(inputs(40, 64), 64);
    const [one, two] = [weightBlocks(weights, 4, gram), weightBlocks(weights, 4, gram)];
    expect(two.integers.bytes()).toEqual(one.integers.bytes());
    expect(two.scales.f32()).toEqual(one.scales.f32());
  });

  it("keeps to the nearest where inputs were all zero, or no numbers", () => {
    const weights = Tensor.f32([32, 4], Array.from({ length: 128 }, bell));
    const alone = weightBlocks(weights, 4);
    for (const value of [0, Number.NaN, Number.POSITIVE_INFINITY]) {
      const products = new Float32Array(32 * 32).fill(value);
      const { integers, scales } = weightBlocks(weights, 4, { channels: 32, products });
      expect(integers.bytes()).toEqual(alone.integers.bytes());
      expect(scales.f32()).toEqual(alone.scales.f32());
    }
  });

  it("stays finite where some inputs are always zero, and columns are", () => {
    const k = 64;
    const x = inputs(50, k).map((value, at) => (at % k < 32 ? 0 : value));
    const weights = Array.from({ length: k * 4 }, (_, i) => (i % 4 === 2 ? 0 : bell()));
    const stored = weightBlocks(Tensor.f32([k, 4], weights), 4, gramOf(x, k));
    expect(stored.scales.f32().every((scale) => Number.isFinite(scale) && scale > 0)).toBe(true);
    expect(errorOf(x, weights, [k, 4], 4, stored)).toBeLessThan(0.1);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import {
  binWidth,
  chooseRange,
  clampTap,
  newTap,
  observeTensor,
  rangeMethods,
  type TapRange,
} from "../../src/observe/index.js";

function tapOf(values: ArrayLike<number>) {
  const tap = newTap("t");
  observeTensor(tap, Float32Array.from(values));
  return tap;
}

function draws(count: number, draw: (normal: number, index: number) => number): Float32Array {
  const random = seededRandom(5);
  return Float32Array.from({ length: count }, (_, i) => draw(random.normal(), i));
}

/** Mean squared error when the values really go through 256 levels. */
function quantizedError(values: Float32Array, { low, high }: TapRange): number {
  const step = (high - low) / 255;
  const zero = Math.round(-low / step);
  let sum = 0;
  for (const x of values) {
    const level = Math.min(255, Math.max(0, Math.round(x / step) + zero));
    sum += ((level - zero) * step - x) ** 2;
  }
  return sum / values.length;
}

const normal = draws(200_000, (x) => x);
const outliers = draws(200_000, (x, i) => (i % 20_000 === 0 ? 100 : x));
const relu = draws(200_000, (x) => Math.max(0, x));
const heavy = draws(200_000, (x) => x ** 3);
const lopsided = draws(200_000, (x) => (x < 0 ? x / 20 : x * Math.abs(x)));

describe("chooseRange", () => {
  it("minmax covers everything", () => {
    expect(chooseRange(tapOf([-2, 0.5, 7]), { method: "minmax" })).toEqual({ low: -2, high: 7, clippedShare: 0 });
  });

  it("always includes zero", () => {
    for (const method of rangeMethods) {
      expect(chooseRange(tapOf([3, 4, 5]), { method }).low).toBe(0);
      expect(chooseRange(tapOf([-3, -4, -5]), { method }).high).toBe(0);
    }
  });

  it.each([
    ["nothing at all", []],
    ["zeros only", [0, -0, 0]],
    ["NaN only", [Number.NaN]],
    ["a value too small to divide by", [1e-40]],
  ])("gives a unit range for %s", (_, values) => {
    for (const method of rangeMethods) {
      expect(chooseRange(tapOf(values), { method })).toEqual({ low: 0, high: 1, clippedShare: 0 });
    }
  });

  it("moving-average takes the mean of the tensors' extremes", () => {
    const tap = newTap("t");
    for (const tensor of [[-2, 1, 4], [-1, 8, 0], [Number.NaN], [], [-3, 0, 3]]) {
      observeTensor(tap, Float32Array.from(tensor));
    }
    expect(chooseRange(tap, { method: "moving-average" })).toMatchObject({ low: -2, high: 5 });
    expect(chooseRange(tap, { method: "moving-average" }).clippedShare).toBeGreaterThanOrEqual(2 / 9);
  });

  it("moving-average stays inside what a clamp leaves", () => {
    const tap = clampTap(tapOf([-6, 1, 9]), -3, 6);
    expect(chooseRange(tap, { method: "moving-average" })).toMatchObject({ low: -3, high: 6 });
  });

  it("percentile leaves out half the share at each end, to a bin", () => {
    const values = Float32Array.from({ length: 20_001 }, (_, i) => (i - 10_000) / 10_000);
    const tap = tapOf(values);
    const range = chooseRange(tap, { method: "percentile", percentile: 90 });
    expect(Math.abs(range.high - 0.9)).toBeLessThanOrEqual(binWidth(tap));
    expect(Math.abs(range.low + 0.9)).toBeLessThanOrEqual(binWidth(tap));
    expect(range.clippedShare).toBeGreaterThan(0.098);
    expect(range.clippedShare).toBeLessThanOrEqual(0.1);
  });

  it("percentile drops rare outliers and nothing else", () => {
    const range = chooseRange(tapOf(outliers), { method: "percentile" });
    expect(range.high).toBeGreaterThan(3.5);
    expect(range.high).toBeLessThan(5);
    expect(chooseRange(tapOf(outliers), { method: "percentile", percentile: 100 }).high).toBe(100);
  });

  it("percentile refuses a share that cuts the middle away", () => {
    expect(() => chooseRange(tapOf([1, 2]), { method: "percentile", percentile: 0.99 })).toThrow(
      expect.objectContaining({ code: "RANGE_PERCENTILE", kind: "usage" }),
    );
  });

  it("mse finds the clip that is best when measured", () => {
    for (const values of [normal, outliers, relu, heavy, lopsided]) {
      const tap = tapOf(values);
      const chosen = chooseRange(tap, { method: "mse" });
      const error = quantizedError(values, chosen);
      for (const lowShare of [0.5, 0.8, 0.9, 1.1, 1.25, 2]) {
        for (const highShare of [0.5, 0.8, 0.9, 1.1, 1.25, 2]) {
          const other = {
            low: Math.max(Math.min(0, tap.min), chosen.low * lowShare),
            high: Math.min(tap.max, chosen.high * highShare),
            clippedShare: 0,
          };
          expect(error).toBeLessThan(quantizedError(values, other) * 1.03);
        }
      }
    }
  });

  it("mse clips each end by itself", () => {
    // A few far values below, none above.
    const values = draws(200_000, (x, i) => (i % 50_000 === 0 ? -30 : Math.abs(x)));
    const range = chooseRange(tapOf(values), { method: "mse" });
    expect(range.low).toBeGreaterThan(-30);
    expect(range.high).toBeGreaterThan(3.5);
  });

  it("entropy clips a long tail and keeps most of a short one", () => {
    const clipped = chooseRange(tapOf(heavy), { method: "entropy" });
    expect(clipped.high).toBeLessThan(0.7 * tapOf(heavy).max);
    expect(clipped.clippedShare).toBeLessThan(0.02);
    const uniform = tapOf(Float32Array.from({ length: 100_000 }, (_, i) => i / 100_000));
    expect(chooseRange(uniform, { method: "entropy" }).high).toBeGreaterThan(0.95);
  });

  it("entropy is not moved by how many zeros a Relu leaves", () => {
    const few = chooseRange(tapOf(relu), { method: "entropy" });
    const many = newTap("t");
    observeTensor(many, relu);
    observeTensor(many, new Float32Array(10_000_000));
    expect(chooseRange(many, { method: "entropy" })).toMatchObject({ low: few.low, high: few.high });
  });

  it("entropy keeps the short end of lopsided values", () => {
    const tap = tapOf(lopsided);
    const range = chooseRange(tap, { method: "entropy" });
    expect(range.low).toBe(tap.min);
    expect(range.high).toBeGreaterThan(3);
  });

  it("gives usable ranges for any statistics", () => {
    fc.assert(
      fc.property(fc.array(fc.float(), { maxLength: 50 }), fc.constantFrom(...rangeMethods), (values, method) => {
        const tap = tapOf(values);
        const range = chooseRange(tap, { method });
        expect(range.low).toBeLessThanOrEqual(0);
        expect(range.high).toBeGreaterThanOrEqual(0);
        expect(range.high - range.low).toBeGreaterThan(0);
        expect(Number.isFinite(range.high) && Number.isFinite(range.low)).toBe(true);
        expect(range.clippedShare).toBeGreaterThanOrEqual(0);
        expect(range.clippedShare).toBeLessThanOrEqual(1);
        expect(chooseRange(tap, { method })).toEqual(range);
      }),
      { numRuns: 200 },
    );
  });
});

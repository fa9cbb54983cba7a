import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { linesLeftOut } from "../../../src/quantization/outputs/fit-line.js";
import { areWorse, leftOutGainDb } from "../../../src/quantization/outputs/left-out.js";

const random = seededRandom(11);
const normal = (): number => random.normal();
const CHANNELS = 50;

/** Rows of float answers, and what `make` makes of each value of them by sample and channel. */
function rowsOf(samples: number, make: (value: number, s: number, c: number) => number) {
  const y = Float64Array.from({ length: samples * CHANNELS }, normal);
  return { samples, y, z: y.map((value, i) => make(value, Math.floor(i / CHANNELS), i % CHANNELS)) };
}

const gainOf = (rows: ReturnType<typeof rowsOf>): number => leftOutGainDb(linesLeftOut(rows));

describe("linesLeftOut", () => {
  it("is what a factor and a shift bring samples that had no part in them", () => {
    const noisy = gainOf(rowsOf(60, (value) => value + normal()));
    expect(noisy).toBeGreaterThan(2.5);
    expect(noisy).toBeLessThan(3.5);
    expect(gainOf(rowsOf(20, (value, _, c) => value + (c % 3) + 0.01 * normal()))).toBeGreaterThan(20);
  });

  it("is next to nothing where there is nothing to mend", () => {
    expect(Math.abs(gainOf(rowsOf(16, (value) => value + 0.1 * normal())))).toBeLessThan(0.2);
    const exact = rowsOf(4, (value) => value);
    expect(gainOf(exact)).toBe(0);
    expect(gainOf({ samples: 1, y: exact.y.slice(0, CHANNELS), z: exact.z.slice(0, CHANNELS) })).toBe(0);
  });

  it("does not count one sample that is far off for all of them", () => {
    // What is wrong with it is the same in all channels, and larger than all other errors together.
    const rows = rowsOf(16, (value, s, c) => value + 0.3 * normal() + (s === 0 ? 8 + (c % 2) : 0));
    expect(gainOf(rows)).toBeLessThan(0.2);
  });
});

describe("areWorse", () => {
  const errors = (before: number[], after: number[]) => ({
    before: Float64Array.from(before),
    after: Float64Array.from(after),
  });

  it("takes more than chance", () => {
    expect(areWorse(errors([1, 1, 1, 1], [1.4, 1.5, 1.6, 1.5]))).toBe(true);
    expect(areWorse(errors([1, 1, 1, 1], [9, 0.1, 0.2, 0.1]))).toBe(false);
    expect(areWorse(errors([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5]))).toBe(false);
    expect(areWorse(errors([1], [5]))).toBe(false);
  });
});

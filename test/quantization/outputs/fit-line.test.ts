import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { leftOutGainDb } from "../../../src/quantization/outputs/fit-line.js";

const random = seededRandom(11);
const normal = (): number => random.normal();
const CHANNELS = 50;

/** Rows of float answers, and what `make` makes of each value of them by sample and channel. */
function rowsOf(samples: number, make: (value: number, s: number, c: number) => number) {
  const y = Float64Array.from({ length: samples * CHANNELS }, normal);
  return { samples, y, z: y.map((value, i) => make(value, Math.floor(i / CHANNELS), i % CHANNELS)) };
}

describe("leftOutGainDb", () => {
  it("is what a factor and a shift bring samples that had no part in them", () => {
    const noisy = leftOutGainDb(rowsOf(60, (value) => value + normal()));
    expect(noisy).toBeGreaterThan(2.5);
    expect(noisy).toBeLessThan(3.5);
    expect(leftOutGainDb(rowsOf(20, (value, _, c) => value + (c % 3) + 0.01 * normal()))).toBeGreaterThan(20);
  });

  it("is next to nothing where there is nothing to mend", () => {
    expect(Math.abs(leftOutGainDb(rowsOf(16, (value) => value + 0.1 * normal())))).toBeLessThan(0.2);
    const exact = rowsOf(4, (value) => value);
    expect(leftOutGainDb(exact)).toBe(0);
    expect(leftOutGainDb({ samples: 1, y: exact.y.slice(0, CHANNELS), z: exact.z.slice(0, CHANNELS) })).toBe(0);
  });

  it("does not count one sample that is far off for all of them", () => {
    // What is wrong with it is the same in all channels, and larger than all other errors together.
    const rows = rowsOf(16, (value, s, c) => value + 0.3 * normal() + (s === 0 ? 8 + (c % 2) : 0));
    expect(leftOutGainDb(rows)).toBeLessThan(0.2);
  });
});

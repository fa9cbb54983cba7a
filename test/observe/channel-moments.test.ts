import { describe, expect, it } from "vitest";
import { channelMoments } from "../../src/observe/index.js";

const values = Float32Array.from({ length: 24 }, (_, i) => (i % 7) - 2);

/** Element by element, from the place of each. */
function expected(dims: readonly number[], axis: number) {
  const inner = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
  const channels = dims[axis]!;
  const own = (channel: number) => [...values].filter((_, i) => Math.floor(i / inner) % channels === channel);
  const mean = (all: readonly number[]) => all.reduce((a, b) => a + b, 0) / all.length;
  const each = Array.from({ length: channels }, (_, channel) => own(channel));
  const width = axis === dims.length - 1 ? 1 : dims.at(-1)!;
  const pairs = (all: readonly number[]) =>
    all.slice(1).flatMap((next, i) => ((i + 1) % width ? [all[i]! * next] : []));
  return {
    mean: each.map(mean),
    meanSquare: each.map((all) => mean(all.map((value) => value ** 2))),
    meanPair: each.map((all) => (width > 1 ? mean(pairs(all)) : 0)),
  };
}

describe("channelMoments", () => {
  it.each([
    [[2, 3, 2, 2], 1],
    [[1, 2, 4, 3], 1],
    [[1, 4, 6, 1], 1],
    [[4, 6], 1],
    [[2, 3, 4], 2],
    [[24], 0],
  ] as const)("of %j along axis %i", (dims, axis) => {
    const { mean, meanSquare, meanPair } = channelMoments(values, dims, axis);
    const wanted = expected(dims, axis);
    expect(mean.length).toBe(dims[axis]);
    wanted.mean.forEach((value, channel) => void expect(mean[channel]).toBeCloseTo(value, 5));
    wanted.meanSquare.forEach((value, channel) => void expect(meanSquare[channel]).toBeCloseTo(value, 5));
    wanted.meanPair.forEach((value, channel) => void expect(meanPair[channel]).toBeCloseTo(value, 5));
  });

  it("shows what is no number", () => {
    const { mean, meanSquare } = channelMoments(Float32Array.of(1, Number.NaN, 3, 4), [1, 2, 2], 1);
    expect([...mean]).toEqual([Number.NaN, 3.5]);
    expect([...meanSquare]).toEqual([Number.NaN, 12.5]);
  });
});

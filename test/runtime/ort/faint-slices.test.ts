import { describe, expect, it } from "vitest";
import { FaintSum } from "../../../src/runtime/ort/child/faint-slices.js";

/** [1, channels, 8] of one size for each channel, and the same with an error for each. */
function sample(sizes: readonly number[], errors: readonly number[]) {
  const baseline = Float32Array.from(sizes.flatMap((size) => Array<number>(8).fill(size)));
  const candidate = baseline.map((value, i) => value + errors[Math.floor(i / 8)]!);
  return { dims: [1, sizes.length, 8], baseline, candidate };
}

function faint(...samples: readonly ReturnType<typeof sample>[]) {
  const sum = new FaintSum();
  for (const { dims, baseline, candidate } of samples) sum.add({ dims }, baseline, candidate);
  return sum.result();
}

describe("FaintSum", () => {
  it("finds the small channels, and what noise they have among themselves", () => {
    const told = faint(sample([300, 200, 1, 0.5], [1, 1, 0.1, 0.1]), sample([300, 200, 1, 0.5], [0, 0, 0, 0]));
    expect(told).toMatchObject({ axis: 1, slices: [2, 3] });
    expect(told!.sqnrDb).toBeCloseTo(10 * Math.log10((2 * 1.25) / 0.02), 4);
  });

  it("looks along the shortest axis behind the batch", () => {
    const sum = new FaintSum();
    const baseline = Float32Array.from({ length: 5 * 3 }, (_, i) => (i % 3 === 2 ? 0.01 : 50));
    sum.add({ dims: [1, 5, 3] }, baseline, baseline);
    expect(sum.result()).toEqual({ axis: 2, slices: [2], sqnrDb: Number.POSITIVE_INFINITY });
  });

  it.each([
    ["slices of a like size", [1, 4, 8], 0.2],
    ["nothing but zeros beside the rest", [1, 4, 8], 0],
    ["rows of a batch", [4, 8], 0.001],
    ["more positions than there are kinds of values", [1, 1, 1024], 0.001],
  ])("has no say where there are %s", (_, dims, small) => {
    const sum = new FaintSum();
    const count = dims.reduce((product, dim) => product * dim, 1);
    const values = Float32Array.from({ length: count }, (_, i) => (i < 8 ? 1 : small));
    sum.add({ dims }, values, values);
    expect(sum.result()?.slices ?? []).toEqual([]);
  });

  it("gives up where shapes differ or values are no numbers", () => {
    const { baseline } = sample([300, 1], [0, 0]);
    const sum = new FaintSum();
    sum.add({ dims: [1, 2, 8] }, baseline, baseline);
    sum.add({ dims: [1, 4, 4] }, baseline, baseline);
    expect(sum.result()).toBeNull();
    expect(faint(sample([300, 1], [0, Number.NaN]))).toBeNull();
  });
});

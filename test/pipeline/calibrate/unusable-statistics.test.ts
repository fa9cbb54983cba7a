import { expect, it } from "vitest";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import { unusableStatistics } from "../../../src/pipeline/calibrate/unusable-statistics.js";

const seen = (tensors: Readonly<Record<string, readonly number[]>>) =>
  new Map(
    Object.entries(tensors).map(([name, values]) => {
      const tap = newTap(name);
      observeTensor(tap, Float32Array.from(values));
      return [name, tap] as const;
    }),
  );

it("has nothing to say of numbers, nor of tensors without elements", () => {
  expect(unusableStatistics(seen({ a: [1, 2], b: [] }), "cal.npz")).toBeNull();
});

it("names the data, how many tensors, and the first of them", () => {
  const some = unusableStatistics(
    seen({ a: [1], b: [Number.NaN, 1, Number.POSITIVE_INFINITY], c: [Number.NaN] }),
    "cal.npz",
  );
  expect(some).toContain("with cal.npz, 2 of 3 tensors held NaN or infinity");
  expect(some).toContain("the first of them b (2 of 3 values)");
  expect(unusableStatistics(seen({ a: [Number.NaN] }), "ranges.json")).toContain("with ranges.json, all tensors");
});

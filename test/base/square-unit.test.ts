import { describe, expect, it } from "vitest";
import { largestFinite, squareUnit } from "../../src/base/square-unit.js";

describe("squareUnit", () => {
  it("is 1 for what may be squared as it is", () => {
    for (const largest of [0, 1e-45, 1e-30, 1, 3.4e38]) expect(squareUnit(largest)).toBe(1);
  });

  it.each([5e-324, 1e-310, 1e-200, 1e-100, 1e100, Number.MAX_VALUE])(
    "leaves products of sums of squares of %d within the numbers there are",
    (largest) => {
      const unit = squareUnit(largest);
      expect(Number.isFinite(1 / unit)).toBe(true);
      const sum = 1e9 * (largest / unit) ** 2;
      expect(sum * sum).toBeGreaterThan(1e-250);
      expect(sum * sum).toBeLessThan(1e250);
    },
  );
});

describe("largestFinite", () => {
  it("looks at magnitudes, and at numbers alone", () => {
    expect(largestFinite(Float64Array.of(1, -3, Number.NaN, Number.NEGATIVE_INFINITY, 2))).toBe(3);
    expect(largestFinite(Float64Array.of(Number.NaN, Number.POSITIVE_INFINITY))).toBe(0);
    expect(largestFinite(new Float64Array(0))).toBe(0);
  });
});

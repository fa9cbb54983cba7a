import { describe, expect, it } from "vitest";
import { firstNotFinite } from "../../src/base/finite.js";

describe("firstNotFinite", () => {
  it.each([0, 3, 4, 8, 9])("finds NaN and infinities wherever they stand (%i of 10)", (at) => {
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      for (const values of [new Float32Array(10).fill(-2), new Float64Array(10).fill(1e300)]) {
        values[at] = odd;
        values[9] = odd;
        expect(firstNotFinite(values)).toBe(at);
      }
    }
  });

  it("finds none among what is finite, the largest and the least included", () => {
    expect(firstNotFinite(Float32Array.of(3.4e38, -3.4e38, 1e-45, -0, 5))).toBe(-1);
    expect(firstNotFinite(Float64Array.of(Number.MAX_VALUE, -Number.MAX_VALUE))).toBe(-1);
    expect(firstNotFinite(new Float32Array(0))).toBe(-1);
  });
});

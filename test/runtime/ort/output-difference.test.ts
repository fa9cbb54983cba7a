import { describe, expect, it } from "vitest";
import { f32ToF16 } from "../../../src/base/f16.js";
import { Tensor } from "../../../src/ir/index.js";
import { DifferenceSum } from "../../../src/runtime/ort/child/output-difference.js";

function difference(...pairs: (readonly [Tensor, Tensor])[]) {
  const sum = new DifferenceSum("y");
  for (const [before, after] of pairs) sum.add(before, after, "sample 0");
  return sum.result();
}
const f32 = (...values: number[]) => Tensor.f32([values.length], values);
const f64s = (factor: number, values: readonly number[]) =>
  Tensor.ofArray(
    "f64",
    [values.length],
    Float64Array.from(values, (value) => value * factor),
  );
const i64 = (...values: bigint[]) => Tensor.i64([values.length], values);
const texts = (...values: string[]) =>
  Tensor.strings(
    [values.length],
    values.map((text) => new TextEncoder().encode(text)),
  );

describe("DifferenceSum", () => {
  it("holds NaN equal to NaN, and counts those on one side", () => {
    expect(difference([f32(NaN, NaN, 1, 2), f32(NaN, 1, NaN, 2)])).toMatchObject({
      differing: 2,
      nanMismatch: 2,
      nanOnBoth: 1,
      maxAbs: 0,
      maxMagnitude: 2,
      cosine: 1,
      elements: 4,
    });
  });

  it("has the magnitude of a baseline of which nothing is left", () => {
    const lost = difference([f32(-3, 2), f32(NaN, Infinity)]);
    expect(lost).toMatchObject({ nanMismatch: 1, maxMagnitude: 3, maxAbs: Infinity });
  });

  it("holds infinities of one sign equal, and keeps them out of the magnitude", () => {
    expect(difference([f32(-Infinity, 1), f32(-Infinity, 1)])).toMatchObject({
      differing: 0,
      maxMagnitude: 1,
      relativeL2: 0,
    });
  });

  it("finds an infinite distance where only one is infinite", () => {
    expect(difference([f32(1, 1), f32(Infinity, 1)])).toMatchObject({
      maxAbs: Infinity,
      relativeL2: Infinity,
      sqnrDb: -Infinity,
    });
  });

  it("tells how much each model's outputs vary from sample to sample", () => {
    const { samples, variation } = difference([f32(3, 4), f32(1, 1)], [f32(3, 0), f32(1, 1)]);
    expect(samples).toBe(2);
    expect(variation.baseline).toBeCloseTo(4 / Math.sqrt(34));
    expect(variation.candidate).toBe(0);
    expect(difference([f32(3, 4), f32(0)]).variation.baseline).toBe(0);
    expect(difference([f32(1), f32(1)], [f32(1, 1), f32(1, 1)]).variation).toEqual({
      baseline: 0.816496580927726,
      candidate: 0.816496580927726,
    });
  });

  it("keeps what the first sample gave, whoever writes to its memory", () => {
    const memory = f32(1, 2);
    const sum = new DifferenceSum("y");
    sum.add(f32(1, 2), memory, "sample 0");
    memory.bytes().fill(0);
    sum.add(f32(1, 2), memory, "sample 1");
    expect(sum.result().variation).toEqual({ baseline: 0, candidate: 1 });
  });

  it("finds an infinite ratio where the baseline is zero", () => {
    expect(difference([f32(0, 0), f32(0, 1)])).toMatchObject({ relativeL2: Infinity, cosine: 0 });
  });

  it("compares 64-bit integers beyond the precision of numbers", () => {
    expect(difference([i64(2n ** 60n), i64(2n ** 60n + 1n)])).toMatchObject({ differing: 1, maxAbs: 1 });
  });

  it("compares float16 by value", () => {
    const half = (...values: number[]) => Tensor.ofArray("f16", [values.length], f32ToF16(Float32Array.from(values)));
    expect(difference([half(1, 2), half(1, 2.5)])).toMatchObject({ differing: 1, maxAbs: 0.5, maxMagnitude: 2 });
  });

  it("compares strings as equal or not", () => {
    expect(difference([texts("a", "b"), texts("a", "c")])).toMatchObject({ differing: 1, maxAbs: 1, cosine: 0.5 });
  });

  it("takes the mean of the samples' cosines", () => {
    expect(difference([f32(1, 0), f32(1, 0)], [f32(1, 0), f32(0, 1)]).cosine).toBe(0.5);
  });

  it.each([
    [f32(1), f32(1, 2), "[1] became [2] on sample 0"],
    [f32(1), i64(1n), "f32 became i64"],
  ])("notes what cannot be compared", (before, after, mismatch) => {
    expect(difference([before, after])).toMatchObject({ mismatch, elements: 0 });
  });

  it("measures the largest relative difference where there is something to relate to, and the root of the mean square", () => {
    const { maxRelative, rmse } = difference([f32(0, 2, -4), f32(1, 3, -4)]);
    expect(maxRelative).toBe(0.5);
    expect(rmse).toBeCloseTo(Math.sqrt(2 / 3));
    expect(difference([f32(1, 1), f32(Infinity, 1)]).maxRelative).toBe(0);
    expect(difference([i64(4n), i64(5n)])).toMatchObject({ maxRelative: 0.25, rmse: 1 });
  });

  it.each([1e-300, 1e-200, 1e-90, 1, 1e90, 1e200, 4e307])("measures float64 of %d times the size alike", (factor) => {
    const pair = (before: readonly number[], after: readonly number[]) =>
      [f64s(factor, before), f64s(factor, after)] as const;
    const pairs = [
      pair([0, 0], [0, 0]),
      pair([1, 0.5], [1, 0.25]),
      pair([3, -4], [3.5, -4]),
      pair([1e-9, 0], [1e-9, 0]),
    ];
    const sum = new DifferenceSum("y", true);
    for (const [before, after] of pairs) sum.add(before, after, "a");
    const { rmse, relativeL2, sqnrDb, cosine, variation, intervals } = sum.result();
    expect(rmse / factor).toBeCloseTo(Math.sqrt(0.3125 / 8), 9);
    expect(relativeL2).toBeCloseTo(Math.sqrt(0.3125 / 26.25), 9);
    expect(sqnrDb).toBeCloseTo(10 * Math.log10(26.25 / 0.3125), 9);
    const cosines = [1, 1.125 / Math.sqrt(1.25 * 1.0625), 26.5 / Math.sqrt(25 * 28.25), 1];
    expect(cosine).toBeCloseTo(cosines.reduce((a, b) => a + b) / 4, 9);
    expect(variation.baseline).toBeCloseTo(1, 9);
    expect(intervals!.rmse[0]).toBeLessThanOrEqual(rmse);
    expect(intervals!.rmse[1]).toBeGreaterThanOrEqual(rmse);
    expect(intervals!.rmse[1] / factor).toBeLessThan(0.5);
  });

  it("measures float64 of which samples differ much in size, and those further apart than there are numbers", () => {
    const sum = new DifferenceSum("y");
    for (const factor of [1e-200, 1, 1e200, 1]) sum.add(f64s(factor, [3, 4]), f64s(factor, [3, 3]), "a");
    expect(sum.result().sqnrDb).toBeCloseTo(10 * Math.log10(25), 9);
    expect(sum.result().cosine).toBeCloseTo(21 / Math.sqrt(25 * 18), 9);
    expect(difference([f64s(1.7e308, [1, 0]), f64s(1.7e308, [-1, 0])])).toMatchObject({ relativeL2: 2, cosine: -1 });
    const infinite = difference([f64s(1, [1e200, 1]), f64s(1, [Infinity, 1])]);
    expect(infinite).toMatchObject({ relativeL2: Infinity, sqnrDb: -Infinity });
    expect(difference([f64s(1, [NaN, 1e200]), f64s(1, [NaN, 1e200])])).toMatchObject({ sqnrDb: Infinity, rmse: 0 });
  });

  it("tells intervals over samples, when asked and where there are several", () => {
    const sum = new DifferenceSum("y", true);
    sum.add(f32(1, 2), f32(1, 2.1), "a");
    expect(sum.result().intervals).toBeNull();
    for (let i = 0; i < 9; i++) sum.add(f32(1, 2), f32(i === 4 ? 3 : 1.1, 2), "b");
    const { intervals, rmse, sqnrDb, cosine } = sum.result();
    expect(intervals!.rmse[0]).toBeLessThan(rmse);
    expect(intervals!.rmse[1]).toBeGreaterThan(rmse);
    expect(intervals!.sqnrDb[0]).toBeLessThan(sqnrDb);
    expect(intervals!.cosine[1]).toBeGreaterThan(cosine);
    // Of ten samples one has its largest element elsewhere: R's binom.test(9, 10).
    expect(intervals!.argmaxAgreement![0]).toBeCloseTo(0.555, 3);
    expect(intervals!.argmaxAgreement![1]).toBeCloseTo(0.9975, 3);
    expect(difference([f32(1), f32(2)], [f32(1), f32(2)]).intervals).toBeNull();
    sum.add(f32(1, 2), f32(Infinity, 2), "c");
    expect(sum.result().intervals).toBeNull();
  });

  it("counts rows whose largest element stays where it is, when asked", () => {
    const before = Tensor.f32([3, 2], [1, 2, 5, 5, 0, 1]);
    const after = Tensor.f32([3, 2], [2, 3, 5, 5, 1, 0]);
    const sum = new DifferenceSum("y", true);
    sum.add(before, after, "sample 0");
    expect(sum.result().argmaxAgreement).toBeCloseTo(2 / 3);
    expect(difference([before, after]).argmaxAgreement).toBeNull();
    const narrow = new DifferenceSum("y", true);
    narrow.add(Tensor.f32([3, 1], [1, 2, 3]), Tensor.f32([3, 1], [3, 2, 1]), "sample 0");
    expect(narrow.result().argmaxAgreement).toBeNull();
  });
});

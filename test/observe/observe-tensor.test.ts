import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { binsPerSide, binWidth, finiteCount, mergeTaps, newTap, observeTensor } from "../../src/observe/index.js";
import { sharedKernel } from "../../src/observe/kernel.js";
import { observePlain } from "../../src/observe/observe-plain.js";
import { addExtremes, type TapStatistics } from "../../src/observe/statistics.js";

const nothing = Math.fround(1e-45);
const awkward = [0, -0, nothing, -nothing, 1, -1, 2, 0.5, -4096, 3.4e38, Number.NaN, 1 / 0, -1 / 0].map(Math.fround);

function observed(...tensors: Float32Array[]): TapStatistics {
  const tap = newTap("t");
  for (const tensor of tensors) observeTensor(tap, tensor);
  return tap;
}

function plainly(values: Float32Array): TapStatistics {
  const tap = newTap("t");
  tap.samples = 1;
  tap.count = values.length;
  addExtremes(tap, observePlain(tap, values));
  return tap;
}

function normals(count: number, seed: number): Float32Array {
  const random = seededRandom(seed);
  return Float32Array.from({ length: count }, () => random.normal());
}

describe("observeTensor", () => {
  it("has a vector kernel on this engine, so that the comparisons below mean something", () => {
    expect(sharedKernel()).not.toBeNull();
  });

  it.each([4096, 4097, 4099, 65536, 65537, 200_003])("counts %i normal values as the plain loops do", (count) => {
    const values = normals(count, count);
    expect(observed(values)).toEqual(plainly(values));
  });

  it("counts zeros of either sign, NaN, infinities and denormals as the plain loops do", () => {
    const random = seededRandom(7);
    const finite = awkward.filter((x) => Number.isFinite(x) && Math.abs(x) < 5000);
    const quiet = Float32Array.from({ length: 5000 }, () => finite[random.below(finite.length)]!);
    expect(observed(quiet)).toEqual(plainly(quiet));
    const wild = Float32Array.from({ length: 5000 }, () => awkward[random.below(awkward.length)]!);
    expect(observed(wild)).toEqual(plainly(wild));
  });

  it("keeps what was counted when later tiles are wider or hold NaN", () => {
    const values = normals(5 * 65536 + 3, 11);
    values[70_000] = Number.NaN;
    values[150_000] = 40;
    values[300_000] = -90_000;
    expect(observed(values)).toEqual(plainly(values));
  });

  it("leaves nothing of one tensor for the next", () => {
    const first = observed(normals(10_000, 1));
    observed(normals(10_000, 2));
    expect(observed(normals(10_000, 1))).toEqual(first);
  });

  it("puts a value into the bin that the header of statistics.ts promises", () => {
    const tap = observed(Float32Array.of(3, -3, 0, -0, 1.999, -0.001));
    const width = binWidth(tap);
    expect(width).toBe(4 / binsPerSide);
    const filled = [...tap.counts.entries()].filter(([, count]) => count > 0);
    expect(filled).toEqual([
      [binsPerSide - 1 - 3 / width, 1],
      [binsPerSide - 1, 1],
      [binsPerSide, 2],
      [binsPerSide + Math.floor(Math.fround(1.999) / width), 1],
      [binsPerSide + 3 / width, 1],
    ]);
  });

  it("separates what is not finite", () => {
    const tap = observed(Float32Array.from(awkward));
    expect(tap).toMatchObject({ count: 13, nanCount: 1, infCount: 2, zeroCount: 2, min: -4096 });
    expect(finiteCount(tap)).toBe(10);
  });

  it("says nothing was seen with min above max", () => {
    const tap = observed(Float32Array.of(Number.NaN), new Float32Array(0));
    expect(tap).toMatchObject({ samples: 2, count: 1, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY });
  });

  it("covers all of float32", () => {
    const huge = Math.fround(3.4028234e38);
    const tap = observed(Float32Array.of(huge, -huge));
    expect(tap.exponent).toBe(128);
    expect([tap.counts[0], tap.counts[2 * binsPerSide - 1]]).toEqual([1, 1]);
  });
});

describe("mergeTaps", () => {
  const value = fc.oneof(fc.constantFrom(...awkward), fc.float({ noNaN: true }), fc.float({ min: -8, max: 8 }));
  const tensor = fc.array(value, { maxLength: 12 }).map((values) => Float32Array.from(values));

  it("gives one run's statistics for any split into shards in any order", () => {
    fc.assert(
      fc.property(fc.array(tensor, { minLength: 1, maxLength: 6 }), fc.integer(), (tensors, seed) => {
        const random = seededRandom(seed);
        const shuffled = tensors
          .map((each) => ({ each, key: random.next() }))
          .sort((a, b) => a.key - b.key)
          .map(({ each }) => each);
        const cut = random.below(tensors.length + 1);
        const merged = mergeTaps(observed(...shuffled.slice(cut)), observed(...shuffled.slice(0, cut)));
        expect(merged).toEqual(observed(...tensors));
      }),
    );
  });

  it("leaves its arguments alone", () => {
    const a = observed(Float32Array.of(1));
    const before = structuredClone(a);
    mergeTaps(a, observed(Float32Array.of(1000)));
    expect(a).toEqual(before);
  });

  it("refuses taps of different tensors", () => {
    expect(() => mergeTaps(newTap("a"), newTap("b"))).toThrow(/internal: .*"a".*"b"/);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { chooseRange, newTap, observeTensor, rangeMethods, type TapStatistics } from "../../src/observe/index.js";
import { mergeRanges, type RangesFile, rangesOf, readRanges, tapsOf } from "../../src/quantization/ranges-file.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const random = seededRandom(3);
const samples = Array.from({ length: 9 }, (_, i) =>
  Float32Array.from({ length: 500 }, () => random.normal() * 10 ** (i % 4)),
);

function tapsOver(which: readonly number[]): ReadonlyMap<string, TapStatistics> {
  const taps = new Map(["a", "b"].map((name) => [name, newTap(name)]));
  for (const i of which)
    for (const [name, tap] of taps) observeTensor(tap, name === "a" ? samples[i]! : samples[i]!.map((x) => -x));
  return taps;
}

const facts = { tool: "1.0.0", model: "m", recipe: "fuse 1.0.0" };
const part = (index: number, of: number, changes: Partial<RangesFile> = {}): RangesFile => {
  const which = samples.map((_, i) => i).filter((i) => i % of === index - 1);
  const parts = [{ index, of, data: `d${index}`, whole: "d", samples: which.length }];
  return { ...rangesOf({ ...facts, parts }, tapsOver(which)), ...changes };
};

describe("readRanges", () => {
  const written = (content: unknown): string => {
    const path = join(temporaryFolder(), "r.json");
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };

  it("reads what was written", () => {
    const file = part(1, 1);
    expect(readRanges(written(file))).toEqual(file);
    expect(tapsOf(readRanges(written(file)))).toEqual(tapsOver(samples.map((_, i) => i)));
  });

  it.each([
    ["a file that is not there", () => "/nowhere/r.json", "RANGES_UNREADABLE"],
    ["no JSON", () => written("{"), "RANGES_INVALID"],
    ["another JSON", () => written({}), "RANGES_INVALID"],
    ["nothing", () => written("null"), "RANGES_INVALID"],
    ["another version", () => written({ ...part(1, 1), schemaVersion: 2 }), "RANGES_INVALID"],
    ["no taps", () => written({ ...part(1, 1), taps: undefined }), "RANGES_INVALID"],
    ["no parts", () => written({ ...part(1, 1), parts: [] }), "RANGES_INVALID"],
    ["a part without a number", () => written({ ...part(1, 1), parts: [{}] }), "RANGES_INVALID"],
    [
      "a part beyond the last",
      () => written({ ...part(1, 1), parts: [{ ...part(1, 1).parts[0], index: 2 }] }),
      "RANGES_INVALID",
    ],
    ["a damaged tap", () => written({ ...part(1, 1), taps: [{ ...part(1, 1).taps[0], count: 3 }] }), "TAP_DAMAGED"],
  ])("refuses %s", async (_, path, code) => {
    const fault = await faultOf(() => readRanges(path()));
    expect([fault.code, fault.kind]).toEqual([code, "input"]);
    expect(fault.hint).toBeTruthy();
  });
});

describe("mergeRanges", () => {
  const parts = [1, 2, 3].map((index) => part(index, 3));

  it("gives what one run over everything gives, whatever the order", () => {
    const whole = tapsOver(samples.map((_, i) => i));
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
      [1, 2, 0],
    ]) {
      const merged = mergeRanges(order.map((i) => parts[i]!));
      expect(tapsOf(merged)).toEqual(whole);
      expect(JSON.stringify(merged)).toBe(JSON.stringify(mergeRanges(parts)));
    }
  });

  it("takes parts of earlier versions, which do not say what they are parts of", () => {
    const { whole: _, ...earlier } = parts[0]!.parts[0]!;
    const files = [{ ...parts[0]!, parts: [earlier] }, parts[1]!, parts[2]!];
    expect(tapsOf(mergeRanges(files))).toEqual(tapsOf(mergeRanges(parts)));
    const other = { ...parts[2]!, parts: [{ ...parts[2]!.parts[0]!, whole: "other" }] };
    expect(() => mergeRanges([files[0]!, parts[1]!, other])).toThrow(
      "part 3/3 was calibrated on other data than part 2/3",
    );
  });

  it("chooses the same ranges by every method, however the samples are parted", () => {
    const whole = tapsOver(samples.map((_, i) => i));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: samples.length }), fc.infiniteStream(fc.nat()), (of, order) => {
        const given = Array.from({ length: of }, (_, i) => ({
          file: part(i + 1, of),
          key: order.next().value as number,
        }));
        given.sort((a, b) => a.key - b.key);
        const merged = tapsOf(mergeRanges(given.map(({ file }) => file)));
        for (const [name, tap] of whole) {
          for (const method of rangeMethods) {
            expect(chooseRange(merged.get(name)!, { method })).toEqual(chooseRange(tap, { method }));
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ["another model", [parts[0]!, { ...parts[1]!, model: "other" }, parts[2]!], "RANGES_FOREIGN", "different models"],
    [
      "another recipe",
      [parts[0]!, { ...parts[1]!, recipe: "fuse 2" }, parts[2]!],
      "RANGES_FOREIGN",
      "different models",
    ],
    [
      "a part of other data",
      [parts[0]!, parts[1]!, { ...parts[2]!, parts: [{ ...parts[2]!.parts[0]!, whole: "other" }] }],
      "RANGES_FOREIGN",
      "part 3/3 was calibrated on other data than part 1/3",
    ],
    ["a missing part", [parts[0]!, parts[2]!], "RANGES_PARTS", "part 2 of 3 is missing"],
    ["a part given twice", [parts[0]!, parts[1]!, parts[1]!], "RANGES_PARTS", "part 2/3 is given twice"],
    ["parts of two divisions", [part(1, 2), parts[1]!, parts[2]!], "RANGES_PARTS", "are mixed"],
    ["nothing", [], "RANGES_PARTS", "nothing to merge"],
  ])("refuses %s", async (_, files, code, message) => {
    const fault = await faultOf(() => mergeRanges(files));
    expect(fault.code).toBe(code);
    expect(fault.message).toContain(message);
  });

  it("refuses parts that saw different tensors", async () => {
    const fault = await faultOf(() => mergeRanges([part(1, 2), part(2, 2, { taps: part(2, 2).taps.slice(1) })]));
    expect(fault.code).toBe("RANGES_FOREIGN");
    expect(fault.message).toContain("tensor a");
  });
});

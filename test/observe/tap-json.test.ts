import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { seededRandom } from "../../src/base/random.js";
import { newTap, observeTensor, type TapJson, tapFromJson, tapToJson } from "../../src/observe/index.js";

function tapOf(values: ArrayLike<number>) {
  const tap = newTap("layer/Conv_output_0");
  observeTensor(tap, Float32Array.from(values));
  return tap;
}

const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("tapToJson and tapFromJson", () => {
  it("bring any statistics back exactly", () => {
    fc.assert(
      fc.property(fc.array(fc.float()), (values) => {
        const tap = tapOf(values);
        expect(tapFromJson(throughText(tapToJson(tap)))).toEqual(tap);
      }),
    );
  });

  it("bring counts beyond 32 bits back", () => {
    const tap = tapOf([1, -1]);
    tap.counts[2048 + 1024] = 2 ** 40 + 5;
    tap.count = 2 ** 40 + 6;
    expect(tapFromJson(throughText(tapToJson(tap)))).toEqual(tap);
  });

  it("keep a full histogram under 12 kB", () => {
    const random = seededRandom(3);
    const text = JSON.stringify(tapToJson(tapOf(Array.from({ length: 200_000 }, () => random.normal()))));
    expect(text.length).toBeLessThan(12_000);
  });

  const damages: [string, Partial<Record<keyof TapJson, unknown>>, RegExp][] = [
    ["a missing histogram", { histogram: undefined }, /not a text/],
    ["a histogram cut short", { histogram: "AA==" }, /cut off/],
    ["a histogram of the wrong length", { histogram: "AAE=" }, /wrong length/],
    ["a negative count", { nanCount: -1 }, /"nanCount" is -1/],
    ["a count that its histogram denies", { count: 5 }, /holds 3 values where 5/],
    ["an extreme beyond the histogram", { max: 400 }, /reach/],
    ["a sum that is no number", { minSum: "0x1" }, /"minSum" is "0x1"/],
    ["extremes of more tensors than there were", { summed: 2 }, /2 of 1 tensors/],
    ["sums that the extremes deny", { maxSum: String(4n * 2n ** 149n) }, /lie outside/],
    ["an extreme that is no number", { min: "low" }, /"min" is "low"/],
  ];
  it.each(damages)("refuse %s", (_, change, message) => {
    const json = { ...tapToJson(tapOf([1, 2, 3])), ...change };
    expect(() => tapFromJson(json)).toThrow(InferOptError);
    expect(() => tapFromJson(json)).toThrow(message);
    expect(() => tapFromJson(json)).toThrow(/layer\/Conv_output_0/);
  });

  it("refuse what is no object", () => {
    expect(() => tapFromJson(null)).toThrow(expect.objectContaining({ code: "TAP_DAMAGED", kind: "input" }));
  });
});

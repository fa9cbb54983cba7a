import { describe, expect, it } from "vitest";
import { amongMissed } from "../../../src/pipeline/search/among-missed.js";
import type { Ruling } from "../../../src/pipeline/verdict/verdict.js";

const ruling = (change: object = {}): Ruling =>
  ({
    verdict: {
      reasons: [{ limit: "max-drop", wanted: 0.5, got: 0.4, status: "met", interval: [0.1, 0.7], ...change }],
    },
    warnings: ["too few samples"],
  }) as unknown as Ruling;

describe("amongMissed", () => {
  it("warns of a file before which others missed, where its samples are not sure", () => {
    const { verdict, warnings } = amongMissed(ruling(), 3);
    expect(verdict).toEqual(ruling().verdict);
    expect(warnings).toEqual(["too few samples", expect.stringMatching(/^3 other candidates missed the limit/)]);
    expect(amongMissed(ruling(), 1).warnings[1]).toMatch(/^another candidate missed the limit/);
  });

  it.each([
    ["one that none missed before", 0, {}],
    ["a sure verdict", 2, { interval: [0.1, 0.5] }],
    ["one that is sure but for the last bit", 2, { wanted: 7, interval: [0.1, 100 * 0.07] }],
    ["answers that are the same", 2, { got: 0 }],
    ["a missed limit", 2, { status: "missed" }],
    ["another limit", 2, { limit: "gain" }],
  ])("says nothing of %s", (_, missed, change) => {
    expect(amongMissed(ruling(change), missed).warnings).toEqual(["too few samples"]);
  });
});

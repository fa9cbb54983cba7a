import { describe, expect, it } from "vitest";
import type { Verdict } from "../../../src/pipeline/result.js";
import { chosenAmong } from "../../../src/pipeline/search/chosen-among.js";

const verdict = (change: object = {}) =>
  ({
    reasons: [{ limit: "max-drop", wanted: 0.5, got: 0.4, status: "met", text: "", interval: [0.1, 0.7], ...change }],
  }) as unknown as Verdict;

describe("chosenAmong", () => {
  it("warns of a file before which others missed, where its samples are not sure", () => {
    expect(chosenAmong(3, verdict())).toMatch(/^3 other candidates missed the limit/);
    expect(chosenAmong(1, verdict())).toMatch(/^another candidate missed the limit/);
  });

  it.each([
    ["one that none missed before", 0, {}],
    ["a sure verdict", 2, { interval: [0.1, 0.5] }],
    ["one that is sure but for the last bit", 2, { wanted: 7, interval: [0.1, 100 * 0.07] }],
    ["answers that are the same", 2, { got: 0 }],
    ["a missed limit", 2, { status: "missed" }],
    ["another limit", 2, { limit: "gain" }],
  ])("says nothing of %s", (_, missed, change) => {
    expect(chosenAmong(missed, verdict(change))).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import type { Verdict } from "../../../src/pipeline/result.js";
import { chosenAmong } from "../../../src/pipeline/search/chosen-among.js";

const judged = { accuracy: {} } as Pick<Candidate, "accuracy">;
const unjudged: Pick<Candidate, "accuracy"> = { accuracy: null };
const verdict = (high: number, status: "met" | "missed" = "met", limit: "max-drop" | "gain" = "max-drop") =>
  ({ reasons: [{ limit, wanted: 0.5, got: 0.4, status, text: "", interval: [0.1, high] }] }) as unknown as Verdict;

describe("chosenAmong", () => {
  it("warns of a file that several were tried for, where its samples are not sure", () => {
    expect(chosenAmong([judged, unjudged, judged, judged], verdict(0.7))).toMatch(/^3 candidates were held against/);
  });

  it("says nothing of one candidate, of a sure verdict, of a missed limit, and where accuracy has none", () => {
    expect(chosenAmong([judged, unjudged], verdict(0.7))).toBeNull();
    expect(chosenAmong([judged, judged], verdict(0.5))).toBeNull();
    expect(chosenAmong([judged, judged], verdict(0.7, "missed"))).toBeNull();
    expect(chosenAmong([judged, judged], verdict(0.7, "met", "gain"))).toBeNull();
  });
});

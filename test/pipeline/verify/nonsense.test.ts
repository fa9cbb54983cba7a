import { describe, expect, it } from "vitest";
import { judgeAllNaN, judgeDead, judgeSense } from "../../../src/pipeline/verify/nonsense.js";
import type { OutputDifference } from "../../../src/runtime/port.js";
import { differenceOf } from "../../support/fake-runtime.js";

const far = { maxAbs: 1, differing: 10, sqnrDb: 0, cosine: 0 };
const stuck = { ...far, sqnrDb: 12, cosine: 0.9, variation: { baseline: 0.2, candidate: 0 } };
const judged = (...facts: readonly Partial<OutputDifference>[]) =>
  judgeSense(
    facts.map((each, i) => differenceOf(`y${i}`, each)),
    (output) => output !== "y9",
  );

describe("outputs that are no answer", () => {
  it.each<[string, Partial<OutputDifference>, string]>([
    ["zeros", far, "nothing in common"],
    ["another direction", { ...far, sqnrDb: -2, cosine: -0.4 }, "nothing in common"],
    ["a hundred times the size", { ...far, sqnrDb: -40, cosine: 0.99 }, "nothing in common"],
    ["a constant near the mean", stuck, "the same for every sample"],
    ["NaN", { nanMismatch: 10, differing: 10 }, "are NaN"],
  ])("%s", (_, facts, text) => {
    expect(judged(facts)).toMatchObject({ limit: "sense", status: "missed", text: expect.stringContaining(text) });
    expect(judged(facts, facts)).not.toBeNull();
    expect(judged({ ...facts, mismatch: "f32 became f16" })).toBeNull();
    expect(judged({ ...facts, maxMagnitude: 0 }), "where the original gives zeros").toBeNull();
  });

  it.each<[string, Partial<OutputDifference>, string]>([
    ["NaN", { nanMismatch: 10, differing: 10 }, 'most of the values of its output "y1" are NaN'],
    ["constant", { ...stuck, elements: 40, samples: 4 }, 'output "y1" are the same for every sample'],
  ])("one that is %s, beside an output that is right", (_, facts, text) => {
    expect(judged({}, facts)).toMatchObject({ limit: "sense", status: "missed", text: expect.stringContaining(text) });
    expect(judged(facts, { mismatch: "f32 became f16" })).not.toBeNull();
  });

  it("takes outputs of one number as they come, and noise, beside an output that is right", () => {
    expect(judged({ ...stuck, elements: 4, samples: 4 }, {})).toBeNull();
    expect(judged(far, {})).toBeNull();
  });

  it.each<[string, Partial<OutputDifference>]>([
    ["equal ones", {}],
    ["rough ones", { ...far, sqnrDb: 3, cosine: 0.7 }],
    ["a list in another order", { ...far, sqnrDb: 0.2, cosine: 0.6 }],
    ["a constant where the original hardly varies", { ...stuck, variation: { baseline: 0.001, candidate: 0 } }],
    ["a constant on two samples", { ...stuck, samples: 2 }],
    ["a few NaN", { nanMismatch: 2, differing: 2 }],
  ])("%s are one", (_, facts) => {
    expect(judged(facts)).toBeNull();
  });

  it("tells that nothing can be told where all is NaN in both", () => {
    const nothing = { nanOnBoth: 10, elements: 10, maxMagnitude: 0 };
    expect(judged(nothing, nothing)).toMatchObject({ limit: "sense", status: "inconclusive" });
    expect(judged(nothing)?.text).toContain("all outputs that were looked at are NaN");
    expect(judgeAllNaN([differenceOf("y", nothing)])?.text).toContain("all outputs are NaN");
    expect(judged(nothing, { mismatch: "f32 became f16" })).not.toBeNull();
    expect(judged(nothing, {}), "one output has numbers").toBeNull();
    expect(judged({ ...nothing, nanOnBoth: 9 }), "an element is a number").toBeNull();
    expect(judged({ elements: 0 }), "empty ones").toBeNull();
  });

  it("says nothing of outputs that are no floats", () => {
    expect(judgeSense([differenceOf("y9", far)], () => false)).toBeNull();
  });

  it("of models that somebody compares, only dead ones are none", () => {
    const isFloat = (output: string): boolean => output !== "y9";
    expect(judgeDead([differenceOf("y", stuck)], isFloat)?.text).toContain("the same for every sample");
    expect(judgeDead([differenceOf("y", { nanMismatch: 10, differing: 10 })], isFloat)?.text).toContain("are NaN");
    expect(judgeDead([differenceOf("y", far)], isFloat), "another scale, perhaps").toBeNull();
    expect(judgeDead([differenceOf("y9", stuck)], isFloat), "integers").toBeNull();
  });
});

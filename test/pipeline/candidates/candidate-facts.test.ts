import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import { candidateFacts, integerChoices } from "../../../src/pipeline/candidates/candidate-facts.js";
import type { Form } from "../../../src/quantization/form.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";
import { prepared, safeTarget } from "../../support/quantize-text.js";

const stage = new Stage();
const of = (candidate: Candidate, forms: Readonly<Record<string, Form>>, float = 0): Candidate => ({
  ...candidate,
  built: {
    ...candidate.built,
    forms: new Map(Object.entries(forms)),
    float: Array.from({ length: float }, (_, i) => ({ node: `f${i}`, op: "Conv", reason: "" })),
  },
});
const fused = stage.candidate("fused", { kind: "fused" }, { accuracy: 1, ms: 8 });
const half = stage.candidate("half", { kind: "fp16" }, { accuracy: 1, ms: 8 });
const statics = of(stage.candidate("static", staticVariant, { accuracy: 1, ms: 5 }), { a: "static", b: "weights8" }, 3);

describe("candidateFacts", () => {
  it("counts in a float model all nodes that integers were considered for, as float", () => {
    const facts = candidateFacts([fused, half, statics], statics, () => 99);
    expect(facts.map(({ quantizedNodes, floatNodes }) => [quantizedNodes, floatNodes])).toEqual([
      [0, 5],
      [0, 5],
      [2, 3],
    ]);
    expect(candidateFacts([fused], fused, () => 7)[0]!.floatNodes).toBe(7);
  });

  it("tells nodes whose weights alone are integers from those that compute with them", () => {
    const forms = { a: "dynamic", b: "weights16", c: "weights8", d: "blocks8", e: "weights4" } as const;
    const weights = of(stage.candidate("weights", integersVariant("weights8"), { accuracy: 1, ms: 5 }), forms);
    expect(candidateFacts([weights], null, () => 0)[0]).toMatchObject({ quantizedNodes: 5, weightNodes: 4 });
  });

  it("tells those of one name apart, and calls the chosen one what the verdict does", () => {
    const [second, third] = [{ ...statics }, { ...statics }];
    const namesOf = (chosen: Candidate | null) =>
      candidateFacts([statics, fused, second, third], chosen, () => 0).map(({ name }) => name);
    expect(namesOf(null)).toEqual(["static", "fused", "static (2)", "static (3)"]);
    expect(namesOf(second)).toEqual(["static (2)", "fused", "static", "static (3)"]);
  });

  it("has what all were ranked by, and what was timed of those that were", () => {
    const raced = { ...statics, estimate: 1.9, speedup: 1.3 };
    const facts = candidateFacts([fused, raced], raced, () => 0);
    expect(facts.map(({ speedup, estimate, timed }) => [speedup, estimate, timed])).toEqual([
      [1.25, 1.25, null],
      [1.3, 1.9, 1.3],
    ]);
    expect(facts[1]).not.toHaveProperty("timedInterval");
  });

  it("says what estimates are beside where that is known, and how sure a race was", () => {
    const raced = { ...statics, estimate: 1.9, speedup: 1.3, interval: [1.2, 1.4] as const };
    const facts = candidateFacts([fused, raced], raced, () => 0, "rewritten");
    expect(facts.map(({ estimateBeside, timedInterval }) => [estimateBeside, timedInterval])).toEqual([
      ["rewritten", undefined],
      ["rewritten", [1.2, 1.4]],
    ]);
  });
});

describe("integerChoices", () => {
  it("are the nodes that could be integers and those that one would look for among them", async () => {
    const model = await prepared(`(x: f32[1,4]) -> (y) {
      a = MatMul(x, $k: f32[4,4])
      s = Softmax(a)
      y = MatMul(x, s)
    }`);
    expect(integerChoices(model, safeTarget)).toBe(2);
  });
});

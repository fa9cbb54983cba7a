import { describe, expect, it } from "vitest";
import { admit } from "../../src/dataset/admission.js";
import type { NumberedTensor, Sample } from "../../src/dataset/dataset.js";
import { referencesOf } from "../../src/dataset/references.js";
import { Tensor } from "../../src/ir/index.js";
import { datasetOf, faultOf, input, numbersOf } from "../support/dataset.js";

const outputs = [input("scores", "f32", ["n", 2]), input("boxes", "f32", ["n", 4])];
const reference = (name: string, position: number): NumberedTensor => ({
  name,
  position,
  tensor: Tensor.f32([1], [position]),
});
const sample = (...references: readonly NumberedTensor[]): Sample => ({
  id: `s[${references.length}]`,
  feeds: new Map([["x", Tensor.f32([1], [references.length])]]),
  labels: null,
  references,
});
const named = (given: Sample): unknown =>
  Object.fromEntries(Array.from(referencesOf(given, outputs), ([name, tensor]) => [name, numbersOf(tensor)[0]]));

describe("referencesOf", () => {
  it("goes by names that are the model's, in whatever order", () => {
    expect(named(sample(reference("boxes", 0), reference("scores", 1)))).toEqual({ boxes: 0, scores: 1 });
  });

  it.each([
    ["without names", ["", ""]],
    ["with names of another export", ["out0", "boxes"]],
    ["with one name twice", ["boxes", "boxes"]],
  ])("goes by places for files %s", (_, [first, second]) => {
    expect(named(sample(reference(first!, 0), reference(second!, 1)))).toEqual({ scores: 0, boxes: 1 });
  });

  it("is empty for a sample that came without", () => {
    expect(named(sample())).toEqual({});
  });

  it("refuses more outputs than the model has", async () => {
    const fault = await faultOf(async () => referencesOf(sample(reference("", 2)), outputs));
    expect(fault.code).toBe("DATASET_REFERENCE_UNKNOWN");
    expect(fault.message).toContain("output_2.pb");
  });
});

describe("admit", () => {
  const spec = [input("x", "f32", [1])];
  const both = sample(reference("scores", 0), reference("boxes", 1));

  it("tells the outputs that every sample has a reference for", async () => {
    expect((await admit(datasetOf([both, both]), spec, { outputs })).references).toEqual(["boxes", "scores"]);
    expect((await admit(datasetOf([sample(), sample()]), spec, { outputs })).references).toEqual([]);
    expect((await admit(datasetOf([both]), spec)).references).toEqual([]);
  });

  it.each([
    ["none in some samples", [both, sample()], "none"],
    ["fewer in some samples", [both, sample(reference("scores", 0))], `"scores"`],
    ["none in the first", [sample(), both], `"boxes", "scores"`],
  ])("refuses references with %s", async (_, samples, has) => {
    const fault = await faultOf(() => admit(datasetOf(samples), spec, { outputs }));
    expect(fault).toMatchObject({ code: "DATASET_REFERENCES_PARTIAL", kind: "input" });
    expect(fault.message).toContain(`${samples[1]!.id} has ${has}`);
  });
});

import { describe, expect, it } from "vitest";
import { admit } from "../../src/dataset/admission.js";
import { datasetDigest } from "../../src/dataset/content-hash.js";
import type { Sample } from "../../src/dataset/dataset.js";
import { Tensor } from "../../src/ir/index.js";
import { datasetOf, faultOf, input } from "../support/dataset.js";

const spec = [input("x", "f32", ["n", 2])];
const sample = (values: readonly number[], index = 0): Sample => ({
  id: `s[${index}]`,
  feeds: new Map([["x", Tensor.f32([1, 2], values)]]),
  labels: null,
});
const samples = (...rows: readonly (readonly [number, number])[]) => datasetOf(rows.map((row, i) => sample(row, i)));
const codesOf = async (...args: Parameters<typeof admit>) => (await admit(...args)).findings.map(({ code }) => code);

describe("admit", () => {
  it("has nothing to say about ordinary data", async () => {
    const admission = await admit(samples([0.1, 2], [0.3, -4]), spec);
    expect(admission).toMatchObject({ samples: 2, findings: [] });
    expect(new Set(admission.hashes).size).toBe(2);
  });

  it("names a sample that reaches a million times as far as others, and none that is only loud", async () => {
    const usual = [
      [0.1, 2],
      [0.3, -4],
      [1, 2.5],
      [0, 3],
    ] as const;
    const { findings } = await admit(samples(...usual, [1, -3e38], [1, 0.5]), spec);
    expect(findings).toMatchObject([{ code: "DATASET_WILD", severity: "warning", samples: 1 }]);
    expect(findings[0]!.message).toBe('input "x" reaches 3e+38 in s[4], over a million times what is usual');
    const two = (await admit(samples(...usual, [1, 1e9], [1e8, 0.5], [2, 3], [3, 4.5]), spec)).findings[0]!;
    expect([two.message, two.samples]).toEqual([
      'input "x" reaches 1000000000 in s[4], and far in 1 others of 8, over a million times what is usual',
      2,
    ]);
    expect(await codesOf(samples([1e-4, 2e-5], [1e-5, 3e-5], [2e-5, 1e-5], [0.5, 3], [0.25, 2]), spec)).toEqual([]);
    // Of so few none is usual.
    expect(await codesOf(samples([1e-4, 2e-5], [1e-5, 3e-5], [5, 3e9]), spec)).toEqual([]);
  });

  it("gives the digest that datasetDigest gives", async () => {
    const dataset = samples([0.1, 2], [0.3, -4]);
    expect((await admit(dataset, spec)).digest).toBe(await datasetDigest(dataset));
  });

  it("knows a sample again in another type", async () => {
    const wide: Sample = {
      ...sample([0, 0]),
      feeds: new Map([["x", Tensor.ofArray("f64", [1, 2], Float64Array.of(0.5, 2))]]),
    };
    const [narrow] = (await admit(samples([0.5, 2]), spec)).hashes;
    expect((await admit(datasetOf([wide]), spec)).hashes).toEqual([narrow]);
  });

  it("looks at no more samples than asked for", async () => {
    const dataset = samples([0.1, 2], [0.3, -4], [Number.NaN, 1]);
    expect((await admit(dataset, spec, { maxSamples: 2 })).samples).toBe(2);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("refuses %d, naming sample and input", async (value) => {
    const fault = await faultOf(() => admit(samples([1, 2.5], [3, value]), spec));
    expect(fault.code).toBe("DATASET_NOT_FINITE");
    expect(fault.fields).toMatchObject({ sample: "s[1]", input: "x", element: 1 });
  });

  it("refuses values that a conversion makes infinite", async () => {
    const fault = await faultOf(() => admit(samples([1, 70_000]), [input("x", "f16", ["n", 2])]));
    expect(fault.code).toBe("DATASET_NOT_FINITE");
    expect(fault.hint).toContain("f16");
  });

  it("refuses an array that is no input, naming the nearest", async () => {
    const extra = { ...sample([1, 2]), feeds: new Map([["xx", Tensor.f32([1], [1])], ...sample([1, 2]).feeds]) };
    const fault = await faultOf(() => admit(datasetOf([extra]), spec));
    expect(fault.code).toBe("DATASET_INPUT_UNKNOWN");
    expect(fault.fields).toMatchObject({ name: "xx", nearest: "x" });
  });

  it("refuses a missing input, another dtype and another shape", async () => {
    const codes = [[...spec, input("y", "f32", [1])], [input("x", "i64", ["n", 2])], [input("x", "f32", ["n", 3])]].map(
      async (signature) => (await faultOf(() => admit(samples([1, 2]), signature))).code,
    );
    expect(await Promise.all(codes)).toEqual(["DATASET_INPUT_MISSING", "DATASET_DTYPE", "DATASET_SHAPE"]);
  });

  it("refuses empty data", async () => {
    expect((await faultOf(() => admit(datasetOf([]), spec))).code).toBe("DATASET_EMPTY");
  });

  it("notes conversions", async () => {
    const feeds = new Map([["x", Tensor.ofArray("f64", [1, 2], Float64Array.of(0.5, 1))]]);
    const { findings } = await admit(datasetOf([{ id: "s", feeds, labels: null }]), spec);
    expect(findings).toMatchObject([{ code: "DATASET_CONVERTED", severity: "note", input: "x", samples: 1 }]);
    expect(findings[0]!.message).toBe('input "x" is converted from f64 to f32');
  });

  it("notes a batch axis that was added", async () => {
    const feeds = new Map([["x", Tensor.f32([2], [0.5, 1])]]);
    expect(await codesOf(datasetOf([{ id: "s", feeds, labels: null }]), spec)).toEqual(["DATASET_BATCH_AXIS"]);
  });

  it("warns of an input that never changes", async () => {
    const { findings } = await admit(samples([0, 0], [0, 0]), spec);
    expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
      ["DATASET_CONSTANT", "warning"],
      ["DATASET_IDENTICAL", "warning"],
    ]);
  });

  it("warns of an input whose zeros have signs", async () => {
    const { findings } = await admit(samples([0, -0], [-0, -0]), spec);
    expect(findings).toMatchObject([{ code: "DATASET_CONSTANT", severity: "warning" }]);
    expect(await codesOf(samples([0, -0], [0.5, 0.5]), spec)).toEqual(["DATASET_BLANK"]);
  });

  it("only notes a constant mask", async () => {
    const mask = (id: string): Sample => ({ id, feeds: new Map([["m", Tensor.i64([1, 2], [1, 1])]]), labels: null });
    const { findings } = await admit(datasetOf([mask("a")]), [input("m", "i64", null)]);
    expect(findings).toMatchObject([{ code: "DATASET_CONSTANT", severity: "note" }]);
  });

  it("counts blank samples", async () => {
    const { findings } = await admit(samples([0.5, 0.5], [1, 2], [3, 3]), spec);
    expect(findings).toMatchObject([{ code: "DATASET_BLANK", samples: 2 }]);
  });

  it("counts samples that repeat an earlier one", async () => {
    const { findings } = await admit(samples([1, 2], [3, 4], [1, 2], [1, 2]), spec);
    expect(findings).toMatchObject([{ code: "DATASET_DUPLICATES", samples: 2 }]);
  });

  it("warns of whole numbers of 0..255", async () => {
    expect(await codesOf(samples([0, 255], [17, 3]), spec)).toEqual(["DATASET_PIXELS"]);
  });

  it.each([
    ["scaled pixels", [0, 0.5], [1, 0.2]],
    ["classes", [0, 9], [3, 1]],
    ["negative numbers", [-1, 255], [17, 3]],
    ["larger numbers", [0, 256], [17, 3]],
  ] as const)("does not take %s for pixels", async (_, a, b) => {
    expect(await codesOf(samples(a, b), spec)).toEqual([]);
  });

  it("counts samples without labels among those with", async () => {
    const labelled = { ...sample([1, 2]), labels: { json: 1 } };
    const { findings } = await admit(datasetOf([labelled, sample([3, 4])], true), spec);
    expect(findings).toMatchObject([{ code: "DATASET_LABELS_MISSING", samples: 1 }]);
  });
});

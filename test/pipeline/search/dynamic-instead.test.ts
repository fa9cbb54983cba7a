import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { dynamicInstead, isDynamic, withDynamic } from "../../../src/pipeline/search/dynamic-instead.js";
import type { Form } from "../../../src/quantization/form.js";
import { tunedRecipe, withForms } from "../../../src/quantization/recipe.js";
import { integersVariant, staticVariant } from "../../support/candidates.js";

const smoothing = new Map([["x", Float32Array.of(1, 2, 3, 4)]]);
const tuned = {
  kind: "integers",
  recipe: tunedRecipe({ forms: new Map<string, Form>([["MatMul:y", "dynamicRows"]]), smoothing }),
} as const;

function given(floatShare: number | null, speedup: number, fusedGain = 1) {
  const asked: string[][] = [];
  const workshop = {
    floatShare: (nodes: readonly string[]) => {
      asked.push([...nodes]);
      return floatShare;
    },
    besideFloat: (beside: number) => beside / fusedGain,
  } as unknown as Workshop;
  const forms = new Map<string, Form>([
    ["MatMul:a", "dynamic"],
    ["Gather:t", "weights8"],
    ["MatMul:y", "dynamicRows"],
  ]);
  const candidate = { variant: tuned, built: { forms }, speedup } as unknown as Candidate;
  return { instead: dynamicInstead(candidate, workshop), asked };
}

describe("dynamicInstead", () => {
  it("offers what was made dynamic, and nothing that is only stored", () => {
    const { instead, asked } = given(0.5, 2);
    expect(instead.forms).toEqual(
      new Map([
        ["MatMul:a", "dynamic"],
        ["MatMul:y", "dynamicRows"],
      ]),
    );
    expect(instead.smoothing).toBe(smoothing);
    expect(asked).toEqual([["MatMul:a", "MatMul:y"]]);
  });

  it.each([
    // Four fifths of the time, and half of all is saved: three eighths of theirs are left.
    [0.8, 2, 0.375],
    [null, 2, 0.5],
    [0.3, 2, 0],
    [0.8, 0.9, 1],
    [0, 2, 1],
  ])("reckons that what takes %s of the time at %sx takes %s of its own", (share, speedup, timeShare) => {
    expect(given(share, speedup).instead.timeShare).toBeCloseTo(timeShare);
  });

  it("leaves out of the reckoning what fusing gained", () => {
    expect(given(0.8, 3, 1.5).instead.timeShare).toBeCloseTo(0.375);
    expect(given(0.8, 1.5, 1.5).instead.timeShare).toBe(1);
  });

  it("changes these nodes of a static recipe alone", () => {
    const { instead } = given(1, 2);
    const mixed = withDynamic(staticVariant, ["MatMul:y"], instead);
    expect(mixed).toEqual({
      kind: "integers",
      recipe: { ...withForms(staticRecipeOf(), new Map([["MatMul:y", "dynamicRows"]])), smoothing },
    });
    expect(withDynamic(staticVariant, [], instead)).toBe(staticVariant);
  });

  it("is about candidates that are dynamic as a whole", () => {
    const of = (variant: Candidate["variant"]) => isDynamic({ variant } as Candidate);
    expect([tuned, integersVariant("dynamic"), staticVariant, integersVariant("weights8")].map(of)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

function staticRecipeOf() {
  if (staticVariant.kind !== "integers") throw new Error("no recipe");
  return staticVariant.recipe;
}

import { describe, expect, it } from "vitest";
import type { Variant } from "../../../src/pipeline/candidates/candidate.js";
import { withLinesFor } from "../../../src/pipeline/search/with-lines-for.js";
import type { OutputLine } from "../../../src/quantization/outputs/output-line.js";
import { uniformRecipe } from "../../../src/quantization/recipe.js";

const line: OutputLine = {
  ...{ factor: 0.5, mean: Float64Array.of(1), shift: Float64Array.of(4), directions: null, along: null },
};
const plain: Variant = { kind: "integers", recipe: uniformRecipe("dynamic") };
const lined: Variant = { ...plain, recipe: { ...plain.recipe, lines: new Map([["last", line]]) } };

describe("withLinesFor", () => {
  it("takes less of a line where there is less noise, and none where there is none", () => {
    expect(withLinesFor(lined, 1)).toEqual(lined);
    const half = withLinesFor(lined, 0.5);
    const own = half.kind === "integers" ? half.recipe.lines!.get("last")! : null;
    expect(own!.factor).toBeCloseTo(2 / 3, 12);
    expect(own!.shift[0]).toBe(2);
    expect(withLinesFor(lined, 0)).toEqual(plain);
    expect(lined.recipe.lines!.get("last")).toBe(line);
  });

  it("leaves others as they are", () => {
    expect(withLinesFor(plain, 0.5)).toBe(plain);
  });
});

import { describe, expect, it } from "vitest";
import { missingRanges } from "../../../src/pipeline/calibrate/missing-ranges.js";
import { faultOf } from "../../support/dataset.js";

describe("missingRanges", () => {
  const of = (known: readonly string[], wanted: readonly string[]) => missingRanges("r.json", new Set(known), wanted);

  it("has nothing to say where all are there, and where none are needed", () => {
    expect(of(["a", "b", "c"], ["a", "b"])).toBeNull();
    expect(of([], [])).toBeNull();
  });

  it("tells how many are not there, and the first of them", () => {
    expect(of(["a"], ["a", "b", "c"])).toMatch(/^r\.json has no ranges of 2 of 3 tensors, the first of them b: /);
  });

  it.each([
    [[], "it has none at all"],
    [["x", "y"], "it has those of 2 others, the first of them x"],
  ])("refuses a file with nothing of use: %j", async (known, holds) => {
    const fault = await faultOf(() => of(known, ["a", "b"]));
    expect(fault).toMatchObject({ code: "RANGES_MISSING", kind: "input", fields: { path: "r.json", wanted: 2 } });
    expect(fault.message).toContain(`r.json has ranges of none of the 2 tensors`);
    expect(fault.message).toContain(holds);
    expect(fault.hint).toContain("infer-opt calibrate");
  });
});

import { describe, expect, it } from "vitest";
import { fitSamples } from "../../../src/pipeline/prune/fit-samples.js";
import { RunRecord } from "../../../src/pipeline/run-record.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";

function taken(count: number, shared: readonly number[] = []) {
  const context = fakeContext(new FakeRuntime({}));
  const record = new RunRecord("prune", context);
  const fit = { ref: { path: "c.npz" }, count, digest: "", shared };
  const { data, fitted, heldOut } = fitSamples({ fit }, record);
  return {
    indices: data.indices!,
    fitted,
    heldOut,
    warnings: context.events.flatMap((event) => (event.type === "warning" ? [event.warning] : [])),
  };
}

describe("samples to fit", () => {
  it("are four fifths of what is given, and a fifth says whether the fit helps", () => {
    const { indices, fitted, heldOut, warnings } = taken(100);
    expect([fitted, heldOut, warnings]).toEqual([80, 20, []]);
    expect(new Set(indices).size).toBe(100);
  });

  it("are none of those that the result is judged by", () => {
    const { indices, fitted, heldOut, warnings } = taken(100, [3, 50, 99]);
    expect(fitted + heldOut).toBe(97);
    expect([3, 50, 99].filter((index) => indices.includes(index))).toEqual([]);
    expect(warnings).toEqual([
      "the result is judged by 3 of the calibration samples: weights are fitted to the other 97",
    ]);
  });

  it("are refused where too few are left", () => {
    expect(() => taken(30, [0, 1, 2, 3, 4, 5, 6])).toThrow(
      "pruning fits weights to samples, and 23 are left to fit, without 7 that the result is judged by: at least 24 are needed",
    );
    expect(() => taken(23)).toThrow("and 23 are left to fit: at least 24 are needed");
  });
});

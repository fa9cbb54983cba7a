import { describe, expect, it } from "vitest";
import { type Intake, withTrialOf } from "../../src/pipeline/intake.js";
import { quickCounts, samplesWithin, usualCounts } from "../../src/pipeline/sample-counts.js";

describe("samplesWithin", () => {
  it("takes as many as fit the time, within bounds", () => {
    expect(samplesWithin(150, 10_000_000, 4, 32)).toBe(10);
    expect(samplesWithin(150, 100_000_000, 4, 32)).toBe(4);
    expect(samplesWithin(150, 1000, 4, 32)).toBe(32);
  });

  it("takes the most where elements are not known", () => {
    expect(samplesWithin(150, 0, 4, 32)).toBe(32);
  });
});

describe("quickCounts", () => {
  it("leaves light models all that others have", () => {
    expect(quickCounts(100_000)).toEqual(usualCounts);
    expect(quickCounts(0)).toEqual(usualCounts);
  });

  it("takes fewer of heavier ones, and never less than two thirds", () => {
    expect(quickCounts(5_000_000)).toEqual({ observed: 21, tried: 10 });
    expect(quickCounts(15_000_000)).toEqual({ observed: 16, tried: 8 });
    expect(quickCounts(1e12)).toEqual({ observed: 16, tried: 8 });
  });
});

describe("withTrialOf", () => {
  const intakeOf = (indices?: readonly number[]) =>
    ({ trial: { path: "c.npz", ...(indices && { indices }) } }) as Intake;

  it("spreads the fewer over those that there were, and takes no others", () => {
    expect(withTrialOf(intakeOf([0, 5, 10, 15, 20, 25]), 3).trial.indices).toEqual([0, 10, 20]);
  });

  it("leaves a trial that has no more, and samples that nobody listed", () => {
    for (const intake of [intakeOf([0, 5]), intakeOf()]) expect(withTrialOf(intake, 2)).toBe(intake);
  });
});

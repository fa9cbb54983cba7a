import { describe, expect, it } from "vitest";
import { type Intake, withTrialOf } from "../../src/pipeline/intake.js";
import { quickTrial, samplesWithin, TRIAL_SAMPLES } from "../../src/pipeline/sample-counts.js";

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

describe("quickTrial", () => {
  it("leaves light models all that others have", () => {
    expect(quickTrial(100_000)).toBe(TRIAL_SAMPLES);
    expect(quickTrial(0)).toBe(TRIAL_SAMPLES);
  });

  it("takes fewer of heavier ones, and never less than two thirds", () => {
    expect([8_000_000, 15_000_000, 1e12].map(quickTrial)).toEqual([10, 8, 8]);
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

import { describe, expect, it } from "vitest";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { judgeRounding } from "../../../src/pipeline/correct/round-statics.js";
import type { InputMoments } from "../../../src/quantization/inputs/round-in-view.js";
import { staticRecipe } from "../../../src/quantization/recipe.js";
import { integersVariant } from "../../support/candidates.js";

const placement = { neighbours: true, depthwise: true };
const inputs = new Map([["x", {} as InputMoments]]);
const rounded: Variant = { kind: "integers", recipe: staticRecipe({ placement, method: "mse", inputs }) };

/** Made of a variant: `errorsDb` of what is rounded in view of its inputs, and of what is not. */
async function judged(errorsDb: readonly [number | null, number | null], variant: Variant = rounded) {
  const made = (variant: Variant, name: string): Candidate =>
    ({
      ...{ variant, name, keptFloat: new Map(), sqnrDb: null },
      built: { forms: new Map([["a", "static"]]) },
    }) as never;
  const discarded: string[] = [];
  const workshop = {
    make: (variant: Variant) => made(variant, "plain"),
    discard: ({ name }: Candidate) => void discarded.push(name),
    measureError: async (candidates: readonly Candidate[]) => {
      for (const each of candidates) each.sqnrDb = errorsDb[each.name === "plain" ? 1 : 0];
    },
  } as unknown as Workshop;
  const given = made(variant, "rounded");
  const { candidates, facts } = await judgeRounding([given], workshop);
  return { names: candidates.map(({ name }) => name), discarded, facts, isGiven: candidates[0] === given };
}

describe("judgeRounding", () => {
  it("keeps weights rounded in view of their inputs where that is closer", async () => {
    const { names, discarded, facts } = await judged([22, 20]);
    expect([names, discarded]).toEqual([["rounded"], ["plain"]]);
    expect(facts).toMatchObject({ correction: "means", isKept: true, beforeDb: 20, afterDb: 22 });
    expect(facts!.detail).toBe("weights rounded by the means of 1 inputs");
  });

  it("goes back to weights rounded by themselves where these are closer", async () => {
    const { names, discarded, facts } = await judged([20, 22]);
    expect([names, discarded]).toEqual([["plain"], ["rounded"]]);
    expect(facts).toMatchObject({ isKept: false, beforeDb: 22, afterDb: 20 });
  });

  it.each([null, Number.NEGATIVE_INFINITY])(
    "goes back to them where nothing confirms the others (%s dB)",
    async (db) => {
      const { names, discarded, facts } = await judged([db, 20]);
      expect([names, discarded, facts]).toEqual([["plain"], ["rounded"], null]);
    },
  );

  it("leaves what was not rounded so", async () => {
    expect(await judged([20, 20], integersVariant("dynamic"))).toMatchObject({
      isGiven: true,
      discarded: [],
      facts: null,
    });
  });
});

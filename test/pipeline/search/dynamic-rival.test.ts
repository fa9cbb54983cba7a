/** Which of dynamic and static integers are made where no limit says how much error is too much. */
import { describe, expect, it } from "vitest";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import type { OptimizeConfig } from "../../../src/pipeline/config.js";
import { betterDynamic, makeRival, rivalAmong } from "../../../src/pipeline/search/dynamic-rival.js";
import type { CandidatesRequest } from "../../../src/pipeline/search/make-candidates.js";
import type { Form } from "../../../src/quantization/form.js";
import { type Recipe, uniformRecipe } from "../../../src/quantization/recipe.js";
import { integersVariant, Stage, staticVariant } from "../../support/candidates.js";
import { limitsOf } from "../../support/run-config.js";

const smoothed: Recipe = { ...uniformRecipe("dynamic"), smoothing: new Map([["x", Float32Array.of(1, 2)]]) };

interface Given {
  /** Of dynamic and of static integers. */
  readonly decibels: readonly [number | null, number | null];
  /** Of dynamic ones whose channels are not evened out, where others' are; absent: none are. */
  readonly plain?: number;
  /** Of the time in float, what the products with dynamic integers take. */
  readonly share?: number | null;
  /** Of static integers, as estimated; null where nothing was placed. */
  readonly speedup?: number | null;
  readonly limits?: Parameters<typeof limitsOf>[0];
}

async function rivalOf({
  decibels: [own, other],
  plain,
  share = 0.9,
  speedup = 2,
  limits = { maxDrop: "none" },
}: Given) {
  const { record } = new Stage();
  const discarded: unknown[] = [];
  const all = [other, own, ...(plain === undefined ? [] : [plain])];
  const workshop = {
    options: { taps: new Map() },
    floatShare: () => share,
    makeMeasured: async (wanted: readonly unknown[]) => {
      expect(wanted).toHaveLength(all.length);
      return all.map((sqnrDb) => ({ sqnrDb }));
    },
    discard: (candidate: unknown) => void discarded.push(candidate),
  } as unknown as Workshop;
  const placed = speedup === null ? null : [{ keptFloat: new Map(), speedup }];
  const quantize = { goal: "speed", method: null };
  const config = { quantize, limits: limitsOf(limits) } as unknown as OptimizeConfig;
  const request = { workshop, config, fit: { random: null }, placed, record } as unknown as CandidatesRequest;
  const recipe = plain === undefined ? uniformRecipe("dynamic") : smoothed;
  return { rival: await makeRival(recipe, ["a"], request), discarded };
}

describe("makeRival", () => {
  it.each([
    ["is far better where static integers err twice as much", { decibels: [34, 24] }, [true, true]],
    ["is no better where they err a little more", { decibels: [34, 29] }, [false, false]],
    ["is no better where their errors are small", { decibels: [50, 36] }, [false, false]],
    ["is not known to be better where nothing was measured", { decibels: [null, null] }, [false, false]],
    // A seventh of the time: 1.11 times as fast at best.
    ["is not alone where products are a small part of it", { decibels: [34, 24], share: 1 / 7 }, [true, false]],
    [
      "is alone there too where static integers gain as little",
      { decibels: [34, 24], share: 1 / 7, speedup: 1.2 },
      [true, true],
    ],
    ["is alone where it is not known what products take", { decibels: [34, 24], share: null }, [true, true]],
    [
      "is alone where nothing says how fast static integers are",
      { decibels: [34, 24], share: 0.1, speedup: null },
      [true, true],
    ],
  ] satisfies [string, Given, [boolean, boolean]][])("%s", async (_, given, [isFarBetter, isAlone]) => {
    const { rival, discarded } = await rivalOf(given);
    expect(rival).toMatchObject({ isFarBetter, isAlone, candidate: { sqnrDb: given.decibels[0] } });
    expect(discarded).toEqual([{ sqnrDb: given.decibels[1] }]);
  });

  it.each([
    [33.5, 33.5],
    [32.5, 34],
  ])("has its channels evened out where that gains a decibel: %f dB without", async (plain, kept) => {
    const { rival, discarded } = await rivalOf({ decibels: [34, 30], plain });
    expect(rival!.candidate.sqnrDb).toBe(kept);
    expect(discarded).toHaveLength(2);
  });

  it("is not made where a limit tells which errors are too large", async () => {
    expect((await rivalOf({ decibels: [34, 24], limits: { maxDrop: { percent: 1 } } })).rival).toBeNull();
  });
});

describe("betterDynamic", () => {
  const better = async (recipe: Recipe, decibels: readonly number[]): Promise<Recipe> => {
    const { record } = new Stage();
    const makeMeasured = async (wanted: readonly object[]) =>
      wanted.map((each, i) => ({ ...each, sqnrDb: decibels[i] }));
    const workshop = { makeMeasured, discard: () => {} } as unknown as Workshop;
    return betterDynamic(recipe, { workshop, record } as unknown as CandidatesRequest);
  };

  it("is the one that gains a decibel by evening channels out, or the simple one", async () => {
    expect(await better(smoothed, [41, 39])).toBe(smoothed);
    expect(await better(smoothed, [41, 40.5])).toEqual(uniformRecipe("dynamic"));
  });

  it("measures nothing where there is one alone", async () => {
    const recipe = uniformRecipe("dynamic");
    expect(await better(recipe, [])).toBe(recipe);
  });
});

describe("rivalAmong", () => {
  const dynamic = (stage: Stage): Candidate => {
    const made = stage.candidate("dynamic", integersVariant("dynamic"), { accuracy: 1, ms: 8 });
    return { ...made, built: { ...made.built, forms: new Map<string, Form>([["product", "dynamic"]]) } };
  };
  const mix = async (quantized: readonly string[], isFarBetter = true) => {
    const stage = new Stage(undefined, { conv: 28 });
    const made = stage.candidate("static", staticVariant, { accuracy: 1, ms: 5 }, quantized);
    const fastest = { ...made, keptFloat: new Map([["head", "does not pay"]]) };
    const rival = { candidate: dynamic(stage), isFarBetter, isAlone: false };
    return rivalAmong([fastest], rival, stage.workshopFor(["conv", "product", "head"]));
  };
  const formsOf = (variant: Variant) => (variant.kind === "integers" ? [...variant.recipe.forms] : null);

  it("makes products dynamic that are static, and measures what comes of it", async () => {
    const [mixed, ...others] = await mix(["conv", "product"]);
    expect(others).toEqual([]);
    expect(formsOf(mixed!.variant)).toEqual([["product", "dynamic"]]);
    expect(mixed!.keptFloat).toEqual(new Map([["head", "does not pay"]]));
    expect(mixed!.sqnrDb).toBe(28);
  });

  it.each([
    ["static integers err no more", ["conv", "product"], false],
    ["no product is static", ["conv"], true],
    ["there is nothing else that is static", ["product"], true],
  ])("makes nothing where %s", async (_, quantized, isFarBetter) => {
    expect(await mix(quantized, isFarBetter)).toEqual([]);
  });

  it("makes nothing where there are no static integers at all", async () => {
    const stage = new Stage();
    const rival = { candidate: dynamic(stage), isFarBetter: true, isAlone: true };
    expect(await rivalAmong([], rival, stage.workshopFor([]))).toEqual([]);
  });
});

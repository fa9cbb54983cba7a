/** Which of dynamic and static integers are made where no limit says how much error is too much. */
import { describe, expect, it } from "vitest";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import type { Limits, OptimizeConfig } from "../../../src/pipeline/config.js";
import { areWorthATry, makeDynamic, makeRival, rivalAmong } from "../../../src/pipeline/search/dynamic-rival.js";
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
    floatShare: (nodes: readonly string[]) => {
      expect(nodes).toEqual(["a"]);
      return share;
    },
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

describe("areWorthATry", () => {
  const areTried = (statics: number, share: number | null, maxDrop: "none" | { percent: number }): boolean => {
    const workshop = { floatShare: () => share } as unknown as Workshop;
    const config = { quantize: {}, limits: limitsOf({ maxDrop }) } as unknown as OptimizeConfig;
    return areWorthATry(["a", "b"], statics, { workshop, config });
  };

  it.each([
    ["no more than four times as many static ones", 8, 0, "none", true],
    ["more static ones", 9, 0, "none", false],
    ["more static ones, and half of the time", 9, 0.5, "none", true],
    ["more static ones, and less than half of the time", 9, 0.49, "none", false],
    ["a limit that static ones may miss, and a quarter of the time", 9, 0.25, { percent: 1 }, true],
    ["a limit, and less", 9, 0.24, { percent: 1 }, false],
    ["times that nobody knows", 9, null, "none", false],
  ] as const)("beside %s", (_, statics, share, maxDrop, expected) => {
    expect(areTried(statics, share, maxDrop)).toBe(expected);
  });

  it("where there are none", () => {
    const workshop = { floatShare: () => 1 } as unknown as Workshop;
    const config = { quantize: {}, limits: limitsOf({}) } as unknown as OptimizeConfig;
    expect(areWorthATry([], 0, { workshop, config })).toBe(false);
  });
});

describe("makeRival", () => {
  it.each([
    ["is far better where static integers err twice as much", { decibels: [34, 27.9] }, [true, true]],
    ["is no better where they err a little more", { decibels: [34, 28.1] }, [false, false]],
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
    [33.1, 33.1],
    [32.9, 34],
  ])("has its channels evened out where that gains a decibel: %f dB without", async (plain, kept) => {
    const { rival, discarded } = await rivalOf({ decibels: [34, 30], plain });
    expect(rival!.candidate.sqnrDb).toBe(kept);
    expect(discarded).toHaveLength(2);
  });

  it("is not made where a limit tells which errors are too large", async () => {
    expect((await rivalOf({ decibels: [34, 24], limits: { maxDrop: { percent: 1 } } })).rival).toBeNull();
  });
});

describe("makeDynamic", () => {
  const better = async (recipe: Recipe, decibels: readonly (number | null)[], maxDrop: Limits["maxDrop"] = "none") => {
    const { record } = new Stage();
    const discarded: Candidate[] = [];
    const makeMeasured = async (wanted: readonly object[]) =>
      wanted.map((each, i) => ({ ...each, sqnrDb: decibels[i] }));
    const discard = (candidate: Candidate): void => void discarded.push(candidate);
    const config = { limits: limitsOf({ maxDrop }) };
    const request = { workshop: { makeMeasured, discard }, record, config } as unknown as CandidatesRequest;
    const made = await makeDynamic(recipe, request);
    if (made) expect(discarded.map(({ sqnrDb }) => sqnrDb)).toEqual(decibels.filter((each) => each !== made.sqnrDb));
    return made?.variant.kind === "integers" ? made.variant.recipe : null;
  };

  it.each([
    [41, 39.9, true],
    [41, 40.1, false],
    [41, 42, false],
  ])("evens channels out where that gains a decibel: %f dB, %f without", async (own, plain, isSmooth) => {
    expect(await better(smoothed, [own, plain])).toEqual(isSmooth ? smoothed : uniformRecipe("dynamic"));
  });

  it("takes the more accurate where a limit says how accurate it must be", async () => {
    expect(await better(smoothed, [41, 40.5], { percent: 1 })).toBe(smoothed);
    expect(await better(smoothed, [41, 41.5], { percent: 1 })).toEqual(uniformRecipe("dynamic"));
  });

  it("makes nothing where there is one alone", async () => {
    expect(await better(uniformRecipe("dynamic"), [])).toBeNull();
  });
});

describe("rivalAmong", () => {
  const dynamic = (stage: Stage): Candidate => {
    const made = stage.candidate("dynamic", integersVariant("dynamic"), { accuracy: 1, ms: 8 });
    return { ...made, built: { ...made.built, forms: new Map<string, Form>([["product", "dynamic"]]) } };
  };
  const requestOf = ({ record }: Stage) => {
    const makeMeasured = async (wanted: readonly object[]) => wanted.map((each) => ({ ...each, sqnrDb: 28 }));
    const workshop = { makeMeasured, floatShare: () => 0.5, besideFloat: (speedup: number) => speedup };
    return { record, workshop: workshop as unknown as Workshop };
  };
  const mix = async (quantized: readonly string[], isFarBetter = true) => {
    const stage = new Stage();
    const made = stage.candidate("static", withLines, { accuracy: 1, ms: 5 }, quantized);
    const fastest = { ...made, keptFloat: new Map([["head", "does not pay"]]) };
    const rival = { candidate: dynamic(stage), isFarBetter, isAlone: false };
    return rivalAmong([fastest], rival, requestOf(stage));
  };
  /** What was fitted to the noise of all static integers. */
  const withLines = {
    kind: "integers",
    recipe: { ...(staticVariant as Extract<Variant, { kind: "integers" }>).recipe, lines: new Map([["head", {}]]) },
  } as unknown as Variant;
  const formsOf = (variant: Variant) => (variant.kind === "integers" ? [...variant.recipe.forms] : null);

  it("makes products dynamic that are static, and measures what comes of it", async () => {
    const [mixed, ...others] = await mix(["conv", "product"]);
    expect(others).toEqual([]);
    expect(formsOf(mixed!.variant)).toEqual([["product", "dynamic"]]);
    expect(mixed!.variant).not.toHaveProperty("recipe.lines");
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
    expect(await rivalAmong([], rival, requestOf(stage))).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import { type Region, regionsOf } from "../../../src/pipeline/candidates/regions.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import type { OptimizeConfig } from "../../../src/pipeline/config.js";
import { measureSpeed } from "../../../src/pipeline/search/measure-speed.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import { integersVariant, Stage } from "../../support/candidates.js";

const model = parseModel(`(x: f32[1,4]) -> (y) {
  a = MatMul(x, $w: f32[4,4])
  p = Erf(a)
  y = MatMul(p, $v: f32[4,4])
}`);
makeNamesUnique(model);
const names = ["MatMul:a", "MatMul:y"];

/** The second region loses; each profile tells speeds of its own, in the order of the candidates. */
function scene(profiles: readonly (readonly number[])[]) {
  const stage = new Stage();
  const make = (variant: Variant, keptFloat: ReadonlyMap<string, string>): Candidate => {
    const left = names.filter((name) => !keptFloat.has(name));
    return { ...stage.candidate("made", variant, { accuracy: 1, ms: 1 }, left), keptFloat, speedup: null };
  };
  const told = profiles.values();
  const workshop = {
    model,
    options: { target: { isMeasurable: true } },
    make,
    isByTable: () => false,
    reckonBesideOriginal: () => {},
    regionsOf: ({ built }: Candidate) => regionsOf(model, new Set(built.forms.keys())),
    regionTimes: (_: Candidate, regions: readonly Region[]) =>
      new Map(regions.map(({ name }) => [name, { beforeMs: 2, kernelMs: name === names[1] ? 9 : 1, conversionMs: 0 }])),
    elementsOf: () => 0,
    measureError: async () => {},
    measureSpeed: async (candidates: readonly Candidate[]) => {
      const speeds = told.next().value!;
      for (const [i, each] of candidates.entries()) each.speedup = speeds[i]!;
    },
    correctSpeed: (corrected: readonly Candidate[], factor: number) => {
      for (const each of corrected) each.speedup! *= factor;
    },
    discard: () => {},
  } as unknown as Workshop;
  const config = {
    runtime: { benchMs: 0 },
    limits: { maxDrop: "none" },
    quantize: { goal: "speed", mode: "auto" },
  } as unknown as OptimizeConfig;
  const [refined, other] = [make(integersVariant("dynamic"), new Map()), make(integersVariant("weights8"), new Map())];
  const float: Candidate = { ...make({ kind: "fused" }, new Map()), variant: { kind: "fused" } };
  const candidates = [float, refined, other];
  return { candidates, workshop, config, refined, other, float };
}

const measured = async (profiles: readonly (readonly number[])[]) => {
  const { candidates, workshop, config, refined, other, float } = scene(profiles);
  const made = await measureSpeed({ candidates, earlier: [], workshop, config, isPlaced: false });
  return { made: made.map(({ speedup }) => speedup), of: [float, refined, other].map(({ speedup }) => speedup) };
};

it("tells no candidate to be faster since a quieter moment had it profiled again", async () => {
  // By the first profile equals, at 0.8x; the second tells 1.25x of one of them.
  const { made, of } = await measured([
    [1.1, 0.8, 0.8],
    [1.25, 1.5],
  ]);
  expect(of[1]).toBeCloseTo(1);
  expect(of[2]).toBeCloseTo(1);
  expect(made).toEqual([expect.closeTo(1.2)]);
  // Of the float model the second profile told nothing.
  expect(of[0]).toBe(1.1);
});

it("changes nothing where both profiles tell the same", async () => {
  const { made, of } = await measured([
    [1.1, 1.2, 1],
    [1.2, 1.3],
  ]);
  expect(made).toEqual([expect.closeTo(1.3)]);
  expect(of).toEqual([1.1, expect.closeTo(1.2), expect.closeTo(1)]);
});

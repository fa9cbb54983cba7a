import { describe, expect, it } from "vitest";
import { type Model, parseModel } from "../../../src/ir/index.js";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import { type Region, type RegionTime, regionsOf } from "../../../src/pipeline/candidates/regions.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { leaveWhatDoesNotPay } from "../../../src/pipeline/place/paying-regions.js";
import type { Form } from "../../../src/quantization/form.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import { staticVariant } from "../../support/candidates.js";

/** Three regions in a row, with a float node before and behind. */
const model = parseModel(`(x: f32[1,4,8,8]) -> (y) {
  p = Erf(x)
  a = Conv(p, $w: f32[4,4,1,1])
  b = Conv(a, $v: f32[4,4,1,1])
  c = Conv(b, $u: f32[4,4,1,1])
  y = Erf(c)
}`);
makeNamesUnique(model);
const all = ["Conv:a", "Conv:b", "Conv:c"];
const lookUp = parseModel("(i: i64[3]) -> (y) { e = Gather($t: f32[1100,64], i)\n y = MatMul(e, $w: f32[64,64]) }");
makeNamesUnique(lookUp);

type Ms = readonly [before: number, kernel: number, conversion?: number];

interface Scene {
  /** By region; null where nothing was profiled. */
  readonly times: Readonly<Record<string, Ms>> | null;
  /** Of the tensors between regions. */
  readonly elements?: number;
  /** The same by tensor. */
  readonly elementsOf?: (value: string) => number;
  readonly form?: Form;
  /** Absent: the three convolutions. */
  readonly graph?: Model;
  /** By the regions kept in float. */
  readonly speed?: (kept: readonly string[]) => number;
}

function run(scene: Scene) {
  const { times, elements = 0, form = "static", speed = (kept) => 1 + kept.length, graph = model } = scene;
  const { elementsOf = (value) => (value === "p" || value === "c" ? 0 : elements) } = scene;
  const make = (variant: Variant, keptFloat: ReadonlyMap<string, string>): Candidate => ({
    variant,
    name: [...keptFloat.keys()].join(" "),
    built: {
      path: "",
      bytes: 0,
      forms: new Map(
        (graph === model ? all : Object.keys(times!))
          .filter((name) => !keptFloat.has(name))
          .map((name) => [name, form]),
      ),
      float: [],
      notes: [],
      finished: [],
    },
    keptFloat,
    sqnrDb: null,
    speedup: speed([...keptFloat.keys()]),
    accuracy: null,
    note: "",
  });
  const discarded: Candidate[] = [];
  const measured: number[] = [];
  const workshop = {
    model: graph,
    options: { target: {} },
    make,
    regionsOf: ({ built }: Candidate) => regionsOf(graph, new Set(built.forms.keys())),
    regionTimes: (_: Candidate, regions: readonly Region[]): ReadonlyMap<string, RegionTime> | null =>
      times &&
      new Map(
        regions.map(({ name }) => {
          const [beforeMs, kernelMs, conversionMs = 0] = times[name]!;
          return [name, { beforeMs, kernelMs, conversionMs }];
        }),
      ),
    elementsOf,
    measureSpeed: async (candidates: readonly Candidate[]) => void measured.push(candidates.length),
    discard: (candidate: Candidate) => void discarded.push(candidate),
  };
  const candidate = make(staticVariant, new Map());
  return leaveWhatDoesNotPay(candidate, workshop as unknown as Workshop).then(({ best, made }) => ({
    ...{ best, made, candidate, discarded, measured },
    kept: [...best.keptFloat.keys()],
  }));
}

const gains: Ms = [2, 1];
/** A conversion of so many elements takes 0.8 ms. */
const MANY = 1e6;

describe("leaveWhatDoesNotPay", () => {
  it("counts a tensor once that several regions read", async () => {
    // The float tensor that all three read takes 0.3 ms to convert; a twentieth of their time in float may be lost besides.
    const fork = parseModel(`(x: f32[1,4,8,8]) -> (y, z, u, o) {
      o = Conv(x, $v: f32[4,4,1,1])
      p = Erf(x)
      e = Erf(p)
      y = Conv(e, $w: f32[4,4,1,1])
      z = Conv(e, $l: f32[4,4,1,1])
      u = Conv(e, $k: f32[4,4,1,1])
    }`);
    makeNamesUnique(fork);
    const elements = (value: string): number => (value === "e" ? MANY : 0);
    const times = (ms: Ms) => ({ "Conv:o": gains, "Conv:y": ms, "Conv:z": ms, "Conv:u": ms });
    expect((await run({ times: times([1.07, 1]), graph: fork, elementsOf: elements })).kept).toEqual([]);
    expect((await run({ times: times([1.02, 1]), graph: fork, elementsOf: elements })).kept).toHaveLength(3);
  });

  it("leaves a candidate as it is where every region gains", async () => {
    const { best, candidate, made, measured } = await run({
      times: { "Conv:a": gains, "Conv:b": gains, "Conv:c": gains },
    });
    expect([best, made, measured]).toEqual([candidate, [], []]);
  });

  it("never widens a table for the time that a look-up takes", async () => {
    const times = { "Gather:e": [0.1, 0.3], "MatMul:y": gains } as const;
    expect((await run({ times, form: "dynamic", graph: lookUp })).kept).toEqual([]);
    const product = { "Gather:e": [0.1, 0.3], "MatMul:y": [1, 2] } as const;
    expect((await run({ times: product, form: "dynamic", graph: lookUp })).kept).toEqual(["MatMul:y"]);
  });

  it("puts a region back to float that costs more than it gains, with what it takes as the reason", async () => {
    const { best, made, kept, measured } = await run({
      times: { "Conv:a": gains, "Conv:b": [1, 1.5, 0.25], "Conv:c": gains },
      form: "dynamic",
    });
    expect(kept).toEqual(["Conv:b"]);
    expect(best.keptFloat.get("Conv:b")).toBe(
      "does not pay: 1.5 ms as integers and 0.250 ms for conversions, 1.0 ms in float",
    );
    expect(made).toEqual([best]);
    expect(best.note).toContain("do not pay");
    // The old and the new one side by side.
    expect(measured).toEqual([2]);
  });

  it("keeps what is as fast in float", async () => {
    const { kept } = await run({ times: { "Conv:a": gains, "Conv:b": [1, 1.04], "Conv:c": gains } });
    expect(kept).toEqual([]);
  });

  it("keeps a region that loses less than conversions on both sides of it would cost", async () => {
    const times = { "Conv:a": gains, "Conv:b": [1, 2] as const, "Conv:c": gains };
    expect((await run({ times, elements: MANY })).kept).toEqual([]);
    expect((await run({ times, elements: MANY / 10 })).kept).toEqual(["Conv:b"]);
  });

  it("takes along what gains less than the conversions around it", async () => {
    const times = { "Conv:a": [1, 3] as const, "Conv:b": [2, 1] as const, "Conv:c": [1, 3] as const };
    expect((await run({ times, elements: MANY / 10 })).kept).toEqual(["Conv:a", "Conv:c"]);
    // All would be float then, and nothing of the candidate is left.
    const { best, candidate, made, discarded } = await run({ times, elements: MANY });
    expect([best, made, discarded.length]).toEqual([candidate, [], 1]);
  });

  it("counts conversions of dynamic integers with the region that has them, those of static ones with the borders", async () => {
    const times = { "Conv:a": gains, "Conv:b": [1, 0.5, 2] as const, "Conv:c": gains };
    expect((await run({ times, form: "dynamic" })).kept).toEqual(["Conv:b"]);
    expect((await run({ times, form: "static" })).kept).toEqual([]);
  });

  it("leaves alone what no profile knows", async () => {
    const unknown = { "Conv:a": [0, 5], "Conv:b": gains, "Conv:c": [0, 0] } as const;
    expect((await run({ times: unknown })).kept).toEqual([]);
    expect((await run({ times: null })).made).toEqual([]);
  });

  it("stays with the candidate where the whole is no faster", async () => {
    const { best, candidate, made } = await run({
      times: { "Conv:a": gains, "Conv:b": [1, 2], "Conv:c": gains },
      speed: (kept) => 1 + kept.length / 100,
    });
    expect(best).toBe(candidate);
    expect(made.map(({ keptFloat }) => [...keptFloat.keys()])).toEqual([["Conv:b"]]);
  });
});

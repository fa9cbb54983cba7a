import { describe, expect, it } from "vitest";
import { scoreModels } from "../../../src/pipeline/verify/accuracy.js";
import { FakeRuntime, type FakeRuntimeOptions, fakeContext } from "../../support/fake-runtime.js";

const models = {
  "old.onnx": { scores: [1, 1, 1, 0] },
  "same.onnx": { scores: [1, 1, 1, 0] },
  "worse.onnx": { scores: [1, 0, 0, 0] },
};

const session = { provider: "cpu", threads: 1, optimization: "all" } as const;
const top1 = { kind: "builtin", name: "top1" } as const;
const request = {
  models: ["old.onnx", "same.onnx", "worse.onnx"],
  data: { path: "d.npz" },
  metric: top1,
  session,
  seed: 1,
  confidence: null,
} as const;

const kindWith = async (change: object, options: FakeRuntimeOptions = {}) => {
  const { candidates } = await scoreModels(fakeContext(new FakeRuntime(models, options)), { ...request, ...change });
  return candidates[0]!.facts.kind;
};

describe("scoreModels", () => {
  it("gives means, their difference and its interval for each candidate", async () => {
    const { candidates, baselineScores } = await scoreModels(fakeContext(new FakeRuntime(models)), request);
    expect(candidates.map(({ facts }) => [facts.baseline, facts.candidate, facts.delta])).toEqual([
      [0.75, 0.75, 0],
      [0.75, 0.25, -0.5],
    ]);
    const [low, high] = candidates[1]!.facts.deltaInterval;
    expect(low).toBeLessThan(-0.5);
    expect(high).toBeGreaterThan(-0.5);
    expect(candidates[0]!.facts).toMatchObject({ metric: "top1", samples: 4, confidence: 0.95, higherIsBetter: true });
    expect([...baselineScores]).toEqual([1, 1, 1, 0]);
  });

  it("counts who answered right, and names the samples that got worse", async () => {
    const { candidates } = await scoreModels(fakeContext(new FakeRuntime(models)), request);
    expect(candidates.map(({ facts }) => facts.answers)).toEqual([
      { both: 3, onlyBefore: 0, onlyAfter: 0, neither: 1 },
      { both: 1, onlyBefore: 2, onlyAfter: 0, neither: 1 },
    ]);
    expect(candidates.map(({ facts }) => facts.worst)).toEqual([
      [],
      [
        { sample: 1, baseline: 1, candidate: 0 },
        { sample: 2, baseline: 1, candidate: 0 },
      ],
    ]);
  });

  it("counts no answers where scores are shares", async () => {
    const runtime = new FakeRuntime({ "old.onnx": { scores: [0.9, 1] }, "new.onnx": { scores: [0.5, 1] } });
    const { candidates } = await scoreModels(fakeContext(runtime), { ...request, models: ["old.onnx", "new.onnx"] });
    expect(candidates[0]!.facts.answers).toBeUndefined();
    expect(candidates[0]!.facts.worst).toEqual([{ sample: 0, baseline: 0.9, candidate: 0.5 }]);
  });

  it.each(["cosine", "mse", "sqnr"] as const)(
    "takes equal scores of %s for no answers, and their difference for none",
    async (name) => {
      const scores = Array(3).fill(name === "cosine" ? 1 : 0);
      const runtime = new FakeRuntime({ "old.onnx": { scores }, "new.onnx": { scores } });
      const metric = { kind: "builtin", name } as const;
      const { candidates } = await scoreModels(fakeContext(runtime), {
        ...{ ...request, metric },
        models: ["old.onnx", "new.onnx"],
      });
      expect(candidates[0]!.facts.answers).toBeUndefined();
      expect(candidates[0]!.facts.deltaInterval).toEqual([0, 0]);
    },
  );

  it("has nothing agree more with answers than they do with themselves", async () => {
    const runtime = new FakeRuntime({ "old.onnx": { scores: [1, 1, 1] }, "new.onnx": { scores: [1, 1, 1] } });
    const ask = { ...request, models: ["old.onnx", "new.onnx"] };
    const of = async (change: object) => {
      const { candidates } = await scoreModels(fakeContext(runtime), { ...ask, ...change });
      return candidates[0]!.facts.deltaInterval;
    };
    const [low, high] = await of({ metric: { kind: "builtin", name: "agreement" } });
    expect(low).toBeLessThan(-0.1);
    expect(high).toBe(0);
    // Labels may say that it was right by chance.
    expect((await of({}))[1]).toBeGreaterThan(0.1);
  });

  it("is more certain of less with a lower confidence", async () => {
    const width = async (confidence: number) => {
      const { candidates } = await scoreModels(fakeContext(new FakeRuntime(models)), { ...request, confidence });
      const [low, high] = candidates[1]!.facts.deltaInterval;
      return high - low;
    };
    expect(await width(0.8)).toBeLessThan(await width(0.99));
  });

  it("hands on the scores of the original that are known", async () => {
    const runtime = new FakeRuntime(models);
    const known = Float64Array.of(1, 1, 1, 0);
    await scoreModels(fakeContext(runtime), { ...request, baselineScores: known });
    expect(runtime.scored[0]!.baselineScores).toBe(known);
  });

  it("calls made-up inputs a smoke test, whatever the metric", async () => {
    expect(await kindWith({ data: { path: "random", random: { seed: 1, count: 4 } } })).toBe("smoke");
  });

  it.each([
    ["top1", "labels"],
    ["agreement", "agreement"],
    ["mse", "agreement"],
  ])("says what %s measures: %s", async (name, kind) =>
    expect(await kindWith({ metric: { kind: "builtin", name } })).toBe(kind),
  );

  it.each([
    [true, "agreement"],
    [false, "labels"],
  ])("judges a module by whether it looked at the original's outputs: %s", async (usedReference, kind) => {
    expect(await kindWith({ metric: { kind: "module", path: "/m.mjs" } }, { usedReference })).toBe(kind);
  });

  it("knows a rate from other metrics", async () => {
    const rate = async (name: "cosine" | "sqnr") => {
      const { candidates } = await scoreModels(fakeContext(new FakeRuntime(models)), {
        ...request,
        metric: { kind: "builtin", name },
      });
      return candidates[0]!.isRate;
    };
    expect([await rate("cosine"), await rate("sqnr")]).toEqual([true, false]);
  });
});

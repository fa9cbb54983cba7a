import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import type { DatasetRef } from "../../../src/dataset/index.js";
import { loadModel, parseModel, saveModel } from "../../../src/ir/index.js";
import { newTap, observeTensor, type RangeMethod, type TapStatistics } from "../../../src/observe/index.js";
import { widestPlacement } from "../../../src/pipeline/calibrate/calibration.js";
import { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { chooseMethods } from "../../../src/pipeline/search/choose-ranges.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import type { ScoreJob } from "../../../src/runtime/port.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { safeTarget } from "../../support/quantize-text.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const labels = ["x", "a", "b", "c"];
const chain = `(x: f32[1,4]) -> (y) {
  a = MatMul(x, $k: f32[4,4])
  b = MatMul(a, $l: f32[4,4])
  c = MatMul(b, $m: f32[4,4])
  d = MatMul(c, $n: f32[4,4])
  y = Softmax(d)
}`;

/** Values with so long a tail that each method has a range of its own. */
function tapOf(name: string): TapStatistics {
  const random = seededRandom(7);
  const tap = newTap(name);
  observeTensor(
    tap,
    Float32Array.from({ length: 200_000 }, () => random.normal() ** 3),
  );
  return tap;
}

/** Noise by what a tensor's method is: told from its scale. */
type Noise = (label: string, method: RangeMethod, isHeld: boolean) => number;

/** The noise of a second sample beside that of the first. */
type Outlier = (method: RangeMethod) => number;

class ScaleReader extends FakeRuntime {
  readonly jobs: ScoreJob[] = [];

  constructor(
    readonly noise: Noise,
    readonly outlier: Outlier | null,
  ) {
    super({});
  }

  override async score(job: ScoreJob) {
    this.jobs.push(job);
    const isHeld = job.data.indices![0]! % 2 === 1;
    const scores = job.models.map((path) => {
      const scales = loadModel(path).graph.constants.filter(({ label }) => label.endsWith("/scale"));
      const total = labels.reduce((sum, label) => {
        const scale = scales.find((each) => each.label === `${label}/scale`)?.constant?.toF32()?.[0];
        return sum + (scale === undefined ? 0 : this.noise(label, methodOf(scale), isHeld));
      }, 0);
      const own = -10 * Math.log10(total);
      const scale = scales.find((each) => each.label === "x/scale")?.constant?.toF32()?.[0];
      const other = this.outlier && scale !== undefined ? this.outlier(methodOf(scale)) : 1;
      return this.outlier ? Float64Array.of(own, own - 10 * Math.log10(other)) : Float64Array.of(own);
    });
    const energies = scores[0]!.map(() => 1);
    return { metric: { name: "sqnr", higherIsBetter: true }, scores, energies, usedReference: true };
  }
}

let scales: readonly number[] = [];
const methodOf = (scale: number): RangeMethod => (["minmax", "percentile", "mse"] as const)[scales.indexOf(scale)]!;

async function choose(
  noise: Noise,
  outlier: Outlier | null = null,
  checks: DatasetRef | null = null,
  text = chain,
  largest: readonly number[] = [],
) {
  const folder = temporaryFolder();
  const model = parseModel(text);
  makeNamesUnique(model);
  const prepared = join(folder, "prepared.onnx");
  saveModel(model, prepared).commit();
  const runtime = new ScaleReader(noise, outlier);
  const options = {
    original: prepared,
    prepared,
    target: safeTarget,
    taps: new Map([...labels, "d"].map((label) => [label, tapOf(label)])),
    trial: { path: "samples.npz" },
    excluded: new Map<string, string>(),
    runtime: runtimeConfig(),
  };
  const context = fakeContext(runtime, { scratch: folder });
  const { chooseRange } = await import("../../../src/observe/index.js");
  const { activationScheme } = await import("../../../src/quantization/scheme.js");
  scales = (["minmax", "percentile", "mse"] as const).map((method) =>
    Math.fround(activationScheme(chooseRange(tapOf("x"), { method })).scale),
  );
  const data = {
    fit: { path: "samples.npz", indices: [...Array.from({ length: 20 }, (_, i) => i), ...largest] },
    largest,
    checks,
    method: null,
    inputs: null,
  };
  const { choice } = await chooseMethods(new Workshop(options, context), widestPlacement, data);
  const { fit } = data;
  /** Unrefined: by the samples that candidates are measured on. */
  const chooseSoon = (trial: DatasetRef) =>
    chooseMethods(new Workshop({ ...options, trial }, context), widestPlacement, data, undefined, false);
  return { choice, runtime, fit, chooseSoon };
}

const dislike = (method: RangeMethod, ...bad: RangeMethod[]): number => (bad.includes(method) ? 1 : 0.1);

it("takes the method that suits all", async () => {
  const { choice } = await choose((_, method) => dislike(method, "minmax", "mse"));
  expect(choice).toEqual({ method: "percentile" });
});

it("does not look at stretches where no method matters", async () => {
  const { choice, runtime } = await choose((_, method) => (method === "mse" ? 0.9 : 1));
  expect(choice).toEqual({ method: "mse" });
  expect(runtime.jobs).toHaveLength(3);
});

it("gives a stretch of the model the method that suits it better", async () => {
  const { choice } = await choose((label, method) =>
    label === "x" ? dislike(method, "percentile", "mse") : dislike(method, "minmax", "percentile"),
  );
  expect(choice).toEqual({ method: "mse", methods: new Map([["x", "minmax"]]) });
});

it("keeps to one method when the combination does not win on samples it was not chosen by", async () => {
  const { choice } = await choose((label, method, isHeld) =>
    label === "x" && !isHeld ? dislike(method, "percentile", "mse") : dislike(method, "minmax", "percentile"),
  );
  expect(choice).toEqual({ method: "mse" });
});

it("measures before the Softmax, on some samples, and checks on others", async () => {
  const { runtime } = await choose((label, method) => dislike(method, label === "x" ? "minmax" : "mse", "percentile"));
  const chosenBy = new Set(runtime.jobs[0]!.data.indices);
  expect(runtime.jobs.at(-1)!.data.indices!.some((index) => chosenBy.has(index))).toBe(false);
  expect(runtime.jobs.length).toBeGreaterThan(5);
});

it("minds the samples that fare worst", async () => {
  const isEven = (method: RangeMethod): number => (method === "mse" ? 0.5 : 1);
  expect((await choose((_, method) => isEven(method))).choice).toEqual({ method: "mse" });
  // One sample in two, of which a little is clipped: in the mean of decibels it counts for little.
  const clipped: Outlier = (method) => (method === "mse" ? 3.5 : 1);
  expect((await choose((_, method) => isEven(method), clipped)).choice.method).not.toBe("mse");
});

it("checks on samples that are given for it", async () => {
  const { runtime } = await choose(
    (label, method) => dislike(method, label === "x" ? "minmax" : "mse", "percentile"),
    null,
    { path: "samples.npz", indices: [101, 103] },
  );
  expect(runtime.jobs.at(-1)!.data.indices).toEqual([101, 103]);
  expect(runtime.jobs[0]!.data.indices!.every((index) => index < 100)).toBe(true);
});

it.each([
  ["samples that are given for it", { path: "samples.npz", indices: [101, 103, 200, 107, 301] }, [101, 103, 107]],
  ["a part of its own", null, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]],
])("chooses by the largest answers in any case, and checks on %s but for them", async (_, checks, others) => {
  const picky: Noise = (label, method) => dislike(method, label === "x" ? "minmax" : "mse", "percentile");
  const { runtime } = await choose(picky, null, checks, chain, [200, 301]);
  const chosenBy = runtime.jobs[0]!.data.indices!;
  expect(chosenBy.slice(-2)).toEqual([200, 301]);
  expect(chosenBy).toHaveLength(12);
  expect(runtime.jobs.at(-1)!.data.indices).toEqual(others);
});

it("leaves what it made of the choice, where a candidate would be measured the same way", async () => {
  const noise: Noise = (_, method) => dislike(method, "minmax", "mse");
  const { chooseSoon, fit, runtime } = await choose(noise, null, null, chain.replace("Softmax", "Relu"));
  runtime.jobs.length = 0;
  const { choice, made } = await chooseSoon(fit);
  expect(choice).toEqual({ method: "percentile" });
  expect(made?.sqnrDb).toBeGreaterThan(0);
  const files = runtime.jobs.map(({ models }) => models[1]!);
  expect(files.filter((path) => existsSync(path))).toEqual([made!.built.path]);
  expect((await chooseSoon({ ...fit })).made).toBeNull();
  const behind = await choose(noise);
  expect((await behind.chooseSoon(behind.fit)).made).toBeNull();
  expect(behind.runtime.jobs.some(({ models }) => existsSync(models[1]!))).toBe(false);
});

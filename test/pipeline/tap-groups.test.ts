import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, saveModel } from "../../src/ir/index.js";
import type { TapStatistics } from "../../src/observe/statistics.js";
import { linkedSuffix } from "../../src/onnx/index.js";
import { observeActivations, observeValues, widestPlacement } from "../../src/pipeline/calibrate/calibration.js";
import { LEAST_OBSERVED } from "../../src/pipeline/calibrate/kept-answers.js";
import { activationLabels, observedInstead, writeTapModel } from "../../src/pipeline/calibrate/write-taps.js";
import { elementsBySample, groupTaps } from "../../src/pipeline/tap-groups.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import type { ObserveJob } from "../../src/runtime/port.js";
import { modelFile } from "../support/model-file.js";
import { f32Npy, npz } from "../support/npz.js";
import { safeTarget } from "../support/quantize-text.js";
import { digits, digitsModel, realContext } from "../support/real-run.js";
import { runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

/** Activations of [1, 4, H, W] floats: 16 bytes a pixel. */
const text = `(x: f32[N,4,H,W]) -> (y) {
  a = Conv(x, $w: f32[4,4,1,1])
  b = Conv(a, $v: f32[4,4,1,1])
  y = Conv(b, $u: f32[4,4,1,1])
}`;

function scene(pixels: number) {
  const folder = temporaryFolder();
  const model = modelFile(folder, text);
  const path = join(folder, "x.npz");
  const count = 2 * 4 * pixels * pixels;
  writeFileSync(
    path,
    npz({
      x: f32Npy(
        [2, 4, pixels, pixels],
        Array.from({ length: count }, (_, i) => Math.sin(i)),
      ),
    }),
  );
  return { model, data: { path } };
}

describe("groupTaps", () => {
  const labels = ["x", "a", "b", "y"];
  it.each([
    [2 ** 28, [labels]],
    [
      2 * 16 * 64,
      [
        ["x", "a"],
        ["b", "y"],
      ],
    ],
    [3 * 16 * 64, [["x", "a", "b"], ["y"]]],
    [2 * 16 * 64 - 1, labels.map((label) => [label])],
    [1, labels.map((label) => [label])],
  ])("puts 8 x 8 pixels under %i bytes", async (maxMemoryBytes, groups) => {
    const { model, data } = scene(8);
    const config = runtimeConfig({ maxMemoryBytes });
    const made = await groupTaps(model, labels, data, config, realContext(runtime));
    expect(made.map((group) => group.labels)).toEqual(groups);
    for (const { labels, bytes } of made) expect(bytes).toBe(labels.length * 16 * 64);
  });

  it("takes the size from the samples", async () => {
    const { model, data } = scene(16);
    const config = runtimeConfig({ maxMemoryBytes: 2 * 16 * 64 });
    expect(await groupTaps(model, labels, data, config, realContext(runtime))).toHaveLength(4);
  });

  it("takes 4 MB for what nobody knows", async () => {
    const { model, data } = scene(8);
    const config = runtimeConfig({ maxMemoryBytes: 9 << 20 });
    const groups = await groupTaps(model, ["?1", "?2", "?3"], data, config, realContext(runtime));
    expect(groups.map((group) => group.labels)).toEqual([["?1", "?2"], ["?3"]]);
  });
});

describe("elementsBySample", () => {
  const sizesOf = (model: string, path: string, labels: readonly string[]) =>
    elementsBySample(model, labels, { path }, 2, runtimeConfig(), realContext(runtime));

  it("tells what running would", async () => {
    const { model, data } = scene(8);
    const request = { prepared: model, data, runtime: runtimeConfig(), onProgress: () => {} };
    const seen = await observeValues(["x", "a", "y"], request, realContext(runtime));
    const sizes = await sizesOf(model, data.path, ["x", "a", "y"]);
    expect(sizes).toEqual(new Map([...seen].map(([label, { count, samples }]) => [label, count / samples])));
  });

  it("is the mean of samples of several sizes", async () => {
    const folder = temporaryFolder();
    const model = modelFile(folder, "(x: f32[N,L]) -> (y) { y = Relu(x) }");
    const path = join(folder, "x.jsonl");
    writeFileSync(path, `${[2, 6, 100].map((n) => JSON.stringify({ x: [Array(n).fill(0)] })).join("\n")}\n`);
    expect(await sizesOf(model, path, ["x", "y"])).toEqual(
      new Map([
        ["x", 4],
        ["y", 4],
      ]),
    );
  });

  it("is not told where values decide", async () => {
    const folder = temporaryFolder();
    const model = modelFile(folder, "(x: f32[N,4]) -> (y) { n = NonZero(x)\n f = Cast<to=1>(n)\n y = Relu(f) }");
    const path = join(folder, "x.jsonl");
    writeFileSync(path, `${JSON.stringify({ x: [[0, 1, 0, 1]] })}\n`);
    expect(await sizesOf(model, path, ["y"])).toBeNull();
  });
});

describe("observeActivations", () => {
  it("finds the same in groups as at once, and counts on", async () => {
    const data = { path: await digits(temporaryFolder(), 4) };
    const observed = async (maxMemoryBytes: number) => {
      const progress: (readonly [number, number])[] = [];
      const taps = await observeActivations(
        {
          prepared: digitsModel,
          target: safeTarget,
          data,
          runtime: runtimeConfig({ maxMemoryBytes }),
          onProgress: (done, total) => progress.push([done, total]),
        },
        realContext(runtime),
      );
      return { taps, progress };
    };
    const [whole, parts] = [await observed(2 ** 28), await observed(120_000)];
    expect(whole.taps.size).toBeGreaterThan(5);
    expect(parts.taps).toEqual(whole.taps);
    expect([...parts.taps.keys()].sort()).toEqual([...whole.taps.keys()].sort());
    expect(whole.progress.at(-1)).toEqual([4, 4]);
    const total = parts.progress.at(-1)![1];
    expect(total).toBeGreaterThan(4);
    expect(parts.progress.at(-1)).toEqual([total, total]);
    expect(parts.progress.map(([done]) => done)).toEqual(parts.progress.map(([done]) => done).sort((a, b) => a - b));
    expect(new Set(parts.progress.map(([, of]) => of)).size).toBe(1);
  });
});

describe("observeValues", () => {
  it("lets the runtime fuse and lay out where some samples do and all tensors fit together, and nowhere else", async () => {
    const folder = temporaryFolder();
    const model = modelFile(folder, "(x: f32[N,1]) -> (y) { e = Expand(x, $s: i64[2] = {1, 6291456})\n y = Relu(e) }");
    const path = join(folder, "x.jsonl");
    writeFileSync(path, Array.from({ length: 30 }, (_, i) => JSON.stringify({ x: [i] })).join("\n"));
    const jobs: ObserveJob[] = [];
    const observe = async (job: ObserveJob) => {
      jobs.push(job);
      return new Map(job.taps.map((name) => [name, { name }])) as unknown as ReadonlyMap<string, TapStatistics>;
    };
    const context = { ...realContext(runtime), runtime: { ...runtime, observe } };
    const asked = async (samples: number, maxMemoryBytes: number) => {
      const data = { path, indices: Array.from({ length: samples }, (_, i) => i) };
      const config = runtimeConfig({ maxMemoryBytes });
      const request = { prepared: model, data, runtime: config, onProgress: () => {}, isBrief: true };
      await observeValues(["e", "y"], request, context);
      return jobs.splice(0).map(({ session, data: { indices } }) => [session.optimization, indices!.length]);
    };
    expect(await asked(30, 2 ** 28)).toEqual([["all", LEAST_OBSERVED]]);
    expect(await asked(20, 2 ** 28)).toEqual([["disabled", 20]]);
    expect(await asked(30, 2 ** 25)).toEqual([
      ["disabled", LEAST_OBSERVED],
      ["disabled", LEAST_OBSERVED],
    ]);
  });
});

describe("observedInstead", () => {
  it("takes tensors whose elements were only moved for where they came from", async () => {
    const folder = temporaryFolder();
    const model = modelFile(
      folder,
      `(x: f32[N,4,2,2]) -> (y, z) {
        a = Conv(x, $w: f32[4,4,1,1])
        t = Transpose<perm=[0,2,3,1]>(a)
        u = Unsqueeze(t, $axes: i64[1] = {0})
        p = MaxPool<kernel_shape=[2,2]>(a)
        y = Flatten(p)
        z = Mul(u, u)
      }`,
    );
    const all = ["x", "a", "t", "u", "p", "y", "z"];
    const sources = observedInstead(model, all);
    expect(all.map((label) => sources.get(label))).toEqual(["x", "a", "a", "a", "p", "p", "z"]);
    const path = join(folder, "x.npz");
    writeFileSync(path, npz({ x: f32Npy([1, 4, 2, 2], [...Array(16).keys()].map(Math.sin)) }));
    const request = { prepared: model, data: { path }, runtime: runtimeConfig(), onProgress: () => {} };
    const seen = await observeValues(all, request, realContext(runtime));
    expect([...seen.values()].map(({ name }) => name)).toEqual(all);
    expect({ ...seen.get("u"), name: "a" }).toEqual(seen.get("a"));
    expect(seen.get("y")!.count).toBe(4);
  });
});

describe("writeTapModel", () => {
  it("computes nothing but what is observed", () => {
    const { model } = scene(8);
    expect(activationLabels(model, safeTarget, widestPlacement)).toEqual(["x", "a", "b", "y"]);
    const path = join(temporaryFolder(), `taps${linkedSuffix()}`);
    expect([...writeTapModel(model, ["a", "x"], path)]).toEqual([
      ["x", "x"],
      ["a", "a"],
    ]);
    const { graph } = loadModel(path);
    expect(graph.nodeCount).toBe(1);
    expect(graph.outputs.map(({ name }) => name).sort()).toEqual(["a", "x"]);
  });

  it("tells outputs that are constants or inputs as well", () => {
    const folder = temporaryFolder();
    const model = loadModel(modelFile(folder, "(x: f32[2,3]) -> (y) { y = MatMul(x, $w: f32[3,3]) }"));
    const [weight] = model.graph.constants;
    model.graph.addOutput("weight", weight!);
    model.graph.addOutput("given", model.graph.inputs[0]!);
    const prepared = join(folder, "outputs.onnx");
    saveModel(model, prepared).commit();
    const path = join(folder, `taps${linkedSuffix()}`);
    const labels = loadModel(prepared).graph.outputs.map(({ value }) => value.label);
    const names = writeTapModel(prepared, labels, path);
    expect([...names.values()].sort()).toEqual(["given", "weight", "y"]);
  });
});

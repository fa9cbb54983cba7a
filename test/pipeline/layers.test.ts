import { readdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadModel, parseModel, saveModel, Tensor } from "../../src/ir/index.js";
import { compareLayers } from "../../src/pipeline/layers.js";
import type { CompareJob, OutputDifference } from "../../src/runtime/port.js";
import { startRuntime } from "../runtime/ort/workbench.js";
import { differenceOf, FakeRuntime, fakeContext } from "../support/fake-runtime.js";
import { modelFile } from "../support/model-file.js";
import { f32Npy, npz } from "../support/npz.js";
import { runtimeConfig } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const before = `(x: f32[1,4]) -> (y) {
  a = Relu(x)
  shape = Shape(a)
  b = MatMul(a, $w: f32[4,4])
  c = Sigmoid(b)
  y = Tanh(c)
}`;
const after = `(x: f32[1,4]) -> (y) {
  a = Relu(x)
  b_quantized = MatMul(a, $w: f32[4,4])
  b = Identity(b_quantized)
  c = Sigmoid(b)
  y = Tanh(c)
}`;

async function compare(sqnrDb: Record<string, number>, seen: (job: CompareJob) => void = () => {}) {
  const folder = temporaryFolder();
  const runtime = new FakeRuntime(
    {},
    {
      compare: (job): OutputDifference[] => {
        seen(job);
        return job.pairs!.map(([name]) => differenceOf(name, { sqnrDb: sqnrDb[name] ?? Number.POSITIVE_INFINITY }));
      },
    },
  );
  const layers = await compareLayers(fakeContext(runtime, { scratch: folder }), {
    baseline: modelFile(folder, before, { name: "old.onnx" }),
    candidate: modelFile(folder, after, { name: "new.onnx" }),
    data: { path: "d.npz", indices: [5, 6, 7, 8, 9, 10, 11, 12, 13, 14] },
    count: 10,
    runtime: runtimeConfig(),
  });
  return { layers, folder };
}

describe("compareLayers", () => {
  it("names the first layer that is below the threshold, in execution order, and the worst", async () => {
    const { layers } = await compare({ a: 40, b: 15, c: 12, y: 18 });
    expect(layers.first).toMatchObject({ value: "b", op: "MatMul", sqnrDb: 15 });
    expect(layers.worst.map(({ value }) => value)).toEqual(["c", "b", "y", "a"]);
  });

  it("leaves equal layers out of the worst", async () => {
    const { layers } = await compare({ c: 50 });
    expect(layers).toMatchObject({ first: null, compared: 4 });
    expect(layers.worst.map(({ value }) => value)).toEqual(["c"]);
  });

  it("makes shared values outputs of copies, which are gone afterwards", async () => {
    const jobs: CompareJob[] = [];
    let outputs: string[] = [];
    const { folder } = await compare({}, (job) => {
      jobs.push(job);
      outputs = loadModel(job.candidate).graph.outputs.map(({ name }) => name);
    });
    expect(outputs.sort()).toEqual(["a", "b", "c", "y"]);
    expect(jobs[0]!.session.optimization).toBe("disabled");
    expect(jobs[0]!.data.indices).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    expect(readdirSync(folder).sort()).toEqual(["new.onnx", "old.onnx"]);
  });
});

it("compares half precision with float32", async () => {
  const folder = temporaryFolder();
  const data = `${folder}/d.npz`;
  writeFileSync(
    data,
    npz({
      x: f32Npy(
        [2, 8],
        Array.from({ length: 16 }, (_, i) => i / 8 - 1),
      ),
    }),
  );
  const text = `(x: f32[1,8]) -> (y) {
    a = MatMul(x, $w: f32[8,8])
    y = Tanh(a)
  }`;
  const half = `(x: f32[1,8]) -> (y) {
    n = Cast<to=10>(x)
    a = MatMul(n, $w: f16[8,8])
    b = Tanh(a)
    y = Cast<to=1>(b)
  }`;
  const layers = await compareLayers(fakeContext(startRuntime(), { scratch: folder }), {
    baseline: modelFile(folder, text, { name: "old.onnx" }),
    candidate: modelFile(folder, half, { name: "new.onnx" }),
    data: { path: data },
    count: 2,
    runtime: runtimeConfig(),
  });
  expect(layers).toMatchObject({ compared: 2, uncompared: 0 });
});

it("finds the layer that was spoiled, on the runtime", async () => {
  const folder = temporaryFolder({
    "d.npz": npz({
      x: f32Npy(
        [4, 8],
        Array.from({ length: 32 }, (_, i) => Math.sin(i)),
      ),
    }),
  });
  const text = `(x: f32[1,8]) -> (y) {
    a = MatMul(x, $w1: f32[8,8])
    b = Tanh(a)
    c = MatMul(b, $w2: f32[8,8])
    y = Tanh(c)
  }`;
  const spoiled = parseModel(text);
  const { graph } = spoiled;
  const product = [...graph.nodes()][2]!;
  const weight = product.inputs[1]!.constant!;
  graph.setInput(
    product,
    1,
    graph.addConstant(
      "w2_spoiled",
      Tensor.f32(
        [8, 8],
        weight.f32().map((value) => value * 1.5),
      ),
    ),
  );
  const candidate = `${folder}/new.onnx`;
  saveModel(spoiled, candidate).commit();

  const layers = await compareLayers(fakeContext(startRuntime(), { scratch: folder }), {
    baseline: modelFile(folder, text, { name: "old.onnx" }),
    candidate,
    data: { path: `${folder}/d.npz` },
    count: 4,
    runtime: runtimeConfig(),
  });
  expect(layers.first).toMatchObject({ value: "c", op: "MatMul" });
  expect(layers.first!.relativeL2).toBeCloseTo(0.5, 4);
  expect(layers.worst.map(({ value }) => value).sort()).toEqual(["c", "y"]);
});

import { readdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadModel, parseModel, saveModel, Tensor } from "../../../src/ir/index.js";
import { compareLayers } from "../../../src/pipeline/verify/layers.js";
import type { CompareJob, OutputDifference } from "../../../src/runtime/port.js";
import { startRuntime } from "../../runtime/ort/workbench.js";
import { differenceOf, FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { f32Npy, npz } from "../../support/npz.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

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

async function compare(
  sqnrDb: Record<string, number>,
  seen: (job: CompareJob) => void = () => {},
  maxMemoryBytes = 2 ** 28,
) {
  const folder = temporaryFolder({ "d.npz": npz({ x: f32Npy([15, 4], new Array(60).fill(1)) }) });
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
    data: { path: `${folder}/d.npz`, indices: [5, 6, 7, 8, 9, 10, 11, 12, 13, 14] },
    count: 10,
    runtime: runtimeConfig({ maxMemoryBytes }),
  });
  return { layers, folder };
}

describe("compareLayers", () => {
  it("names the first layer that is below the threshold, in execution order, and the worst", async () => {
    const { layers } = await compare({ a: 40, b: 15, c: 12, y: 18 });
    expect(layers.first).toMatchObject({ value: "b", op: "MatMul", sqnrDb: 15 });
    expect(layers.worst.map(({ value }) => value)).toEqual(["c", "b", "y", "a"]);
    expect(layers.along!.map(({ value, sqnrDb }) => [value, sqnrDb])).toEqual([
      ["a", 40],
      ["b", 15],
      ["c", 12],
      ["y", 18],
    ]);
  });

  it("finds the layer where NaN begin", async () => {
    const folder = temporaryFolder({ "d.npz": npz({ x: f32Npy([2, 4], new Array(8).fill(1)) }) });
    const runtime = new FakeRuntime(
      {},
      { compare: (job) => job.pairs!.map(([name]) => differenceOf(name, { nanMismatch: name === "b" ? 3 : 0 })) },
    );
    const { first, worst } = await compareLayers(fakeContext(runtime, { scratch: folder }), {
      baseline: modelFile(folder, before, { name: "old.onnx" }),
      candidate: modelFile(folder, after, { name: "new.onnx" }),
      data: { path: `${folder}/d.npz` },
      count: 2,
      runtime: runtimeConfig(),
    });
    expect(first).toMatchObject({ value: "b", sqnrDb: -1000, cosine: 0, maxAbs: Number.MAX_VALUE });
    expect(worst).toHaveLength(1);
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
    expect(readdirSync(folder).sort()).toEqual(["d.npz", "new.onnx", "old.onnx"]);
  });
});

it("looks at values in groups that stay within the memory, and computes no more than they need", async () => {
  const groups: { outputs: string[]; ops: string[]; heldBytes: number | undefined }[] = [];
  // The sizes are not known here, and taken for 4 MiB: a quarter of 32 is two of them.
  const { layers } = await compare(
    { c: 10 },
    ({ baseline, heldBytes }) => {
      const { graph } = loadModel(baseline);
      const outputs = graph.outputs.map(({ name }) => name).sort();
      groups.push({ outputs, ops: [...graph.nodes()].map(({ op }) => op), heldBytes });
    },
    32 << 20,
  );
  expect(groups).toEqual([
    { outputs: ["a", "b"], ops: ["Relu", "MatMul"], heldBytes: 16 << 20 },
    { outputs: ["c", "y"], ops: ["Relu", "MatMul", "Sigmoid", "Tanh"], heldBytes: 16 << 20 },
  ]);
  expect(layers).toMatchObject({ compared: 4, first: { value: "c" } });
});

it("finds the same, however little memory there is, of values that take more than it together", async () => {
  const text = (last: string): string => {
    const layers = Array.from({ length: 12 }, (_, i) => `t${i + 1} = ${i === 8 ? last : "Tanh"}(t${i})`);
    return `(t0: f32[1,65536]) -> (t12) {\n${layers.join("\n")}\n}`;
  };
  const values = Array.from({ length: 65_536 }, (_, i) => Math.sin(i));
  const folder = temporaryFolder({ "d.npz": npz({ t0: f32Npy([1, 65_536], values) }) });
  const request = {
    baseline: modelFile(folder, text("Tanh"), { name: "old.onnx" }),
    candidate: modelFile(folder, text("Neg"), { name: "new.onnx" }),
    data: { path: `${folder}/d.npz` },
    count: 1,
  };
  const under = (maxMemoryBytes: number) =>
    compareLayers(fakeContext(startRuntime(), { scratch: folder }), {
      ...request,
      runtime: runtimeConfig({ maxMemoryBytes }),
    });
  const [much, little] = [await under(2 ** 28), await under(2 ** 20)];
  expect(little).toEqual(much);
  expect(much).toMatchObject({ compared: 12, first: { value: "t9" } });
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

it.each([
  ["compares what has more channels of zeros by those that the baseline has", "1,2,0", { compared: 3, uncompared: 0 }],
  ["the same where the first is repeated", "1,2,1", { compared: 3, uncompared: 0 }],
  ["leaves what has other channels", "1,2,5", { compared: 1, uncompared: 2 }],
])("%s", async (_, weights, expected) => {
  const folder = temporaryFolder({ "d.npz": npz({ x: f32Npy([2, 1, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]) }) });
  const withChannels = (own: string, behind: string): string => `(x: f32[1,1,2,2]) -> (y) {
    a = Conv(x, $w: f32[${own.split(",").length},1,1,1] = {${own}})
    r = Relu(a)
    y = Conv(r, $v: f32[1,${behind.split(",").length},1,1] = {${behind}})
  }`;
  const layers = await compareLayers(fakeContext(startRuntime(), { scratch: folder }), {
    baseline: modelFile(folder, withChannels("1,2", "1,1"), { name: "old.onnx" }),
    candidate: modelFile(folder, withChannels(weights, "1,1,0"), { name: "new.onnx" }),
    data: { path: `${folder}/d.npz` },
    count: 2,
    runtime: runtimeConfig(),
  });
  expect(layers).toMatchObject({ ...expected, first: null });
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

it("looks at integer operators with the sums that the target has", async () => {
  const folder = temporaryFolder({ "d.npz": npz({ x: f32Npy([2, 64], new Array(128).fill(255)) }) });
  const [whole, step] = [new Array(64 * 64).fill(127).join(", "), (64 * 127 * 255) / 255];
  const float = `(x: f32[1,64]) -> (y) { p = MatMul(x, $w: f32[64,64] = {${whole}})\n y = Abs(p) }`;
  const integers = `(x: f32[1,64]) -> (y) {
    q = QuantizeLinear(x, $s: f32[] = {1}, $z: u8[] = {0})
    r = QLinearMatMul(q, $s, $z, $k: i8[64,64] = {${whole}}, $t: f32[] = {1}, $o: i8[] = {0}, $a: f32[] = {${step}}, $b: u8[] = {0})
    p = DequantizeLinear(r, $a, $b)
    y = Abs(p)
  }`;
  const layers = await compareLayers(fakeContext(startRuntime(), { scratch: folder }), {
    baseline: modelFile(folder, float, { name: "old.onnx" }),
    candidate: modelFile(folder, integers, { name: "new.onnx" }),
    data: { path: `${folder}/d.npz` },
    count: 2,
    // As it is set where the target's sums do not saturate, and those of this processor would.
    runtime: { ...runtimeConfig(), isExact: true },
  });
  expect(layers).toMatchObject({ compared: 2, first: null });
});

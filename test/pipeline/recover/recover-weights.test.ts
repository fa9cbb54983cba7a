/** Students of ONNX Runtime: what they learn, what they must not, and what keeps them from it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import type { InputSpec } from "../../../src/dataset/index.js";
import { type Model, parseModel, Tensor } from "../../../src/ir/index.js";
import { type Recovery, recoverWeights } from "../../../src/pipeline/recover/recover-weights.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { input } from "../../support/dataset.js";
import { f32Npy, npz } from "../../support/npz.js";
import { realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { runModel } from "../../support/run-model.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const NET = `(x: f32[N,1,8,8]) -> (y) {
  c = Conv<pads=[1,1,1,1]>(x, $w: f32[4,1,3,3], $b: f32[4] = {0.1, -0.2, 0.3, 0.0})
  r = Relu(c)
  p = GlobalAveragePool(r)
  f = Flatten(p)
  g = Gemm<transB=1>(f, $v: f32[3,4])
  y = Softmax<axis=1>(g)
}`;

const SIZES = [1, 8, 8];

/** With names as files have them: student and teacher have the same. */
function net(text = NET): Model {
  const model = parseModel(text, { opset: 17 });
  for (const node of model.graph.nodes()) node.name = `node_${node.output.label}`;
  return model;
}

/** Weights moved by noise of this size: a student that knows less than its teacher. */
function disturbed(model: Model, noise: number): Model {
  const random = seededRandom(3);
  for (const value of model.graph.constants) {
    const tensor = value.constant!;
    if (tensor.dtype !== "f32") continue;
    const moved = tensor.f32().map((weight) => weight + noise * random.normal());
    model.graph.replaceUses(value, model.graph.addConstant(value.label, Tensor.f32(tensor.dims, moved)));
    model.graph.removeConstant(value);
  }
  return model;
}

function samples(count: number, sizes: readonly number[] = SIZES): string {
  const random = seededRandom(9);
  const values = Array.from({ length: count * sizes.reduce((a, b) => a * b, 1) }, () => random.normal());
  const path = join(temporaryFolder(), "samples.npz");
  writeFileSync(path, npz({ x: f32Npy([count, ...sizes], values) }));
  return path;
}

async function recovered(
  student: Model,
  teacher: Model,
  options: { steps?: number; mostMs?: number; data?: string; inputs?: readonly InputSpec[] } = {},
) {
  const runtime = ortRuntime({ workers: 1 });
  try {
    const path = options.data ?? samples(48);
    const request = {
      student,
      teacher,
      inputs: options.inputs ?? [input("x", "f32", ["N", ...SIZES])],
      fit: { path, indices: Array.from({ length: 40 }, (_, i) => i) },
      heldOut: { path, indices: [40, 41, 42, 43, 44, 45, 46, 47] },
      steps: options.steps ?? 80,
      ...(options.mostMs !== undefined && { mostMs: options.mostMs }),
      seed: 1,
      runtime: runtimeConfig(),
    };
    return await recoverWeights(request, realContext(runtime));
  } finally {
    await runtime.close();
  }
}

const x = Tensor.f32(
  [1, ...SIZES],
  Float32Array.from({ length: 64 }, (_, i) => Math.sin(i)),
);
const outputOf = async (model: Model): Promise<number[]> => [...(await runModel(model, { x })).y!.f32()];
const apart = (a: readonly number[], b: readonly number[]): number => Math.hypot(...a.map((each, i) => each - b[i]!));

describe("recoverWeights", () => {
  it("ends when its time is over, with what it has learned by then", async () => {
    const student = disturbed(net(), 0.3);
    const { history, before, after } = (await recovered(student, net(), { mostMs: 0 })) as Recovery;
    expect(history.map(({ step }) => step)).toEqual([0, 1]);
    expect(after).toBeLessThanOrEqual(before);
  });

  it("brings a student closer to its teacher, on samples that it has not learned from too", async () => {
    const student = disturbed(net(), 0.3);
    const wanted = await outputOf(net());
    const distance = apart(await outputOf(student), wanted);
    const result = (await recovered(student, net(), { steps: 250 })) as Recovery;
    expect(result.after).toBeLessThan(result.before / 2);
    expect(result.step).toBeGreaterThan(0);
    expect(apart(await outputOf(student), wanted)).toBeLessThan(distance / 2);
  });

  it("keeps a student that is its teacher as it is, bit for bit", async () => {
    const student = net();
    const before = student.graph.constants.map(({ constant }) => constant);
    const result = (await recovered(student, net(), { steps: 10 })) as Recovery;
    expect(result).toMatchObject({ step: 0, before: 0, after: 0 });
    expect(student.graph.constants.map(({ constant }) => constant)).toEqual(before);
  });

  it("takes one sample at a time where an input is a lone number", async () => {
    const text = NET.replace("(x: f32[N,1,8,8])", "(x: f32[N,1,8,8], k: f32[])").replace(
      "y = Softmax<axis=1>(g)",
      "y = Mul(g, k)",
    );
    const path = join(temporaryFolder(), "samples.npz");
    const random = seededRandom(9);
    const values = Array.from({ length: 48 * 64 }, () => random.normal());
    const scales = Array.from({ length: 48 }, (_, i) => 1 + (i % 3));
    writeFileSync(path, npz({ x: f32Npy([48, ...SIZES], values), k: f32Npy([48], scales) }));
    const inputs = [input("x", "f32", ["N", ...SIZES]), input("k", "f32", [])];
    const result = await recovered(disturbed(net(text), 0.3), net(text), { steps: 60, data: path, inputs });
    expect((result as Recovery).after).toBeLessThan((result as Recovery).before);
  });

  it("gives the same weights for the same seed", async () => {
    const [one, two] = [disturbed(net(), 0.3), disturbed(net(), 0.3)];
    const data = samples(48);
    await recovered(one, net(), { steps: 6, data });
    await recovered(two, net(), { steps: 6, data });
    const bytes = ({ graph }: Model) => graph.constants.map(({ constant }) => [...constant!.bytes()]);
    expect(bytes(one)).toEqual(bytes(two));
    expect(bytes(one)).not.toEqual(bytes(disturbed(net(), 0.3)));
  });

  it("learns one sample at a time where a model takes no more", async () => {
    const text = NET.replace("f = Flatten(p)", "f = Reshape(p, $s: i64[2] = {1, 4})");
    const result = (await recovered(disturbed(net(text), 0.3), net(text), { steps: 60 })) as Recovery;
    expect(result.after).toBeLessThan(result.before);
  });

  it("learns through sizes that are computed", async () => {
    const lines = "h = Shape<end=1>(p) s = Concat<axis=0>(h, $rest: i64[1] = {-1}) f = Reshape(p, s)";
    const text = NET.replace("f = Flatten(p)", lines);
    const result = (await recovered(disturbed(net(text), 0.3), net(text), { steps: 60 })) as Recovery;
    expect([...result.blocked]).toEqual([]);
    expect(result.after).toBeLessThan(result.before);
  });

  it("names what no gradient passes, and learns behind it", async () => {
    const text = NET.replace("r = Relu(c)", "r = Round(c)");
    const student = disturbed(net(text), 0.3);
    const result = (await recovered(student, net(text))) as Recovery;
    expect([...result.blocked.values()]).toEqual(["Round has no gradient here"]);
    expect(result.after).toBeLessThan(result.before);
  });

  it("says why when nothing can be learned", async () => {
    const text = "(x: f32[N,1,8,8]) -> (y) { a = Relu(x) y = Flatten(a) }";
    expect(await recovered(net(text), net(text))).toEqual({ reason: "there is nothing in it to learn" });
    const old = parseModel(NET, { opset: 13 });
    expect(await recovered(old, old)).toEqual({ reason: "its opset is below 16" });
  });
});

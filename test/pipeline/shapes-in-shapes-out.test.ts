/** Dimensions of inputs and outputs are the user's: no recipe changes them, and every size still runs. */
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, type Model, parseModel, saveModel, Tensor } from "../../src/ir/index.js";
import { runFp16 } from "../../src/pipeline/fp16/fp16.js";
import { runFuse } from "../../src/pipeline/prepare/fuse.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import { fuseConfig, graphConfig, realContext } from "../support/real-run.js";
import { runFile } from "../support/run-model.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

/** Attention over tokens with the shape arithmetic that exporters write, and a scalar behind an If. */
const text = `(ids: i64[batch,sequence], mask: f32[batch,sequence]) -> (y, pooled) {
  e = Gather($table: f32[8,12], ids)
  s = Shape(e)
  n = Gather(s, $i: i64[] = {0})
  m = Gather(s, $j: i64[] = {1})
  nu = Unsqueeze(n, $ax: i64[1] = {0})
  mu = Unsqueeze(m, $ay: i64[1] = {0})
  t = Concat<axis=0>(nu, mu, $heads: i64[1] = {3}, $size: i64[1] = {4})
  q = MatMul(e, $wq: f32[12,12])
  h = Reshape(q, t)
  p = Transpose<perm=[0,2,1,3]>(h)
  k = Transpose<perm=[0,2,3,1]>(h)
  a = MatMul(p, k)
  mm = Unsqueeze(mask, $mx: i64[2] = {1, 2})
  b = Add(a, mm)
  c = Softmax<axis=-1>(b)
  d = MatMul(c, p)
  f = Transpose<perm=[0,2,1,3]>(d)
  back = Concat<axis=0>(nu, mu, $flat: i64[1] = {-1})
  g = Reshape(f, back)
  r = Add(g, e)
  mean = ReduceMean<axes=[-1]>(r)
  x = Sub(r, mean)
  x2 = Mul(x, x)
  var = ReduceMean<axes=[-1]>(x2)
  ve = Add(var, $eps: f32[] = {0.00001})
  sd = Sqrt(ve)
  y = Div(x, sd)
  one = Equal(m, $single: i64[] = {1})
  pooled = If<then_branch=() -> (tb) { tb = Squeeze(y, $sq: i64[1] = {1}) }, else_branch=() -> (eb) { eb = ReduceMean<axes=[1], keepdims=0>(y) }>(one)
}`;

const sizes = [
  [1, 8],
  [3, 17],
  [16, 128],
] as const;

function attention(folder: string): string {
  const model = parseModel(text);
  const shapes = { y: ["batch", "sequence", 12], pooled: ["batch", "width"] };
  for (const { name, value } of model.graph.outputs) {
    value.type = { dtype: "f32", shape: shapes[name as keyof typeof shapes] };
  }
  const path = join(folder, "model.onnx");
  saveModel(model, path).commit();
  return path;
}

const portsOf = ({ graph }: Model) => ({
  inputs: graph.inputs.map(({ label, type }) => [label, type]),
  outputs: graph.outputs.map(({ name, value }) => [name, value.type]),
});

const feedsOf = (batch: number, sequence: number) => ({
  ids: Tensor.i64(
    [batch, sequence],
    Array.from({ length: batch * sequence }, (_, i) => (i * 5 + batch) % 8),
  ),
  mask: Tensor.f32(
    [batch, sequence],
    Array.from({ length: batch * sequence }, (_, i) => -(i % 3)),
  ),
});

async function expectSameAnswers(before: string, after: string, tolerance: number): Promise<void> {
  for (const [batch, sequence] of sizes) {
    const feeds = feedsOf(batch, sequence);
    const [a, b] = [await runFile(before, feeds), await runFile(after, feeds, "all")];
    for (const [name, tensor] of Object.entries(a)) {
      expect(b[name]!.dims).toEqual(tensor.dims);
      const other = b[name]!.f32();
      expect(Math.max(...tensor.f32().map((value, i) => Math.abs(value - other[i]!)))).toBeLessThan(tolerance);
    }
  }
}

describe("dimensions of inputs and outputs", () => {
  for (const [recipe, options] of [
    ["fold", {}],
    ["fuse", {}],
    ["fuse", { runtimeSpecific: true }],
    ["fp16", {}],
  ] as const) {
    it(`survive ${recipe} ${Object.keys(options).join()}`, async () => {
      const folder = temporaryFolder();
      const original = attention(folder);
      const out = join(folder, "out.onnx");
      const config = fuseConfig(original, out, { graph: graphConfig(options) });
      const context = realContext(runtime);
      if (recipe === "fp16") {
        await runFp16({ ...config, target: "f16", convertIo: false, selection: { include: [], exclude: [] } }, context);
      } else await runFuse({ ...config, recipe }, context);
      expect(portsOf(loadModel(out))).toEqual(portsOf(loadModel(original)));
      await expectSameAnswers(original, out, recipe === "fp16" ? 0.05 : 1e-5);
    });
  }

  it("become what --shape says, and what hangs on them folds", async () => {
    const folder = temporaryFolder();
    const original = attention(folder);
    const out = join(folder, "out.onnx");
    const graph = graphConfig({ shapes: new Map([["ids", ["batch", 17]]]) });
    const result = await runFuse({ ...fuseConfig(original, out, { graph }), recipe: "fuse" }, realContext(runtime));
    expect(result.shapes?.map(({ name, after }) => [name, after])).toEqual([
      ["ids", ["batch", 17]],
      ["mask", ["batch", 17]],
      ["y", ["batch", 17, 12]],
      ["pooled", ["batch", 12]],
    ]);
    const { graph: written } = loadModel(out);
    expect(written.inputs.map(({ shape }) => shape)).toEqual([
      ["batch", 17],
      ["batch", 17],
    ]);
    expect(written.outputs.map(({ value }) => value.shape)).toEqual([
      ["batch", 17, 12],
      ["batch", 12],
    ]);
    const ops = [...written.nodes()].map(({ op }) => op);
    for (const gone of ["Shape", "If", "Concat", "Equal"]) expect(ops).not.toContain(gone);
    const feeds = feedsOf(3, 17);
    const [a, b] = [await runFile(original, feeds), await runFile(out, feeds)];
    expect(b["y"]!.dims).toEqual(a["y"]!.dims);
    expect(Math.max(...a["y"]!.f32().map((value, i) => Math.abs(value - b["y"]!.f32()[i]!)))).toBeLessThan(1e-5);
  });
});

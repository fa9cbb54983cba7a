/** Layers that no least squares can fit, in a net that is pruned from end to end. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { check, loadModel, type Model } from "../../../src/ir/index.js";
import { runPrune } from "../../../src/pipeline/prune/run-prune.js";
import { startRuntime, temporaryFolder } from "../../runtime/ort/workbench.js";
import { modelFile } from "../../support/model-file.js";
import { f32Npy, npz } from "../../support/npz.js";
import { fuseConfig, graphConfig, realContext } from "../../support/real-run.js";
import { limitsOf } from "../../support/run-config.js";

const WIDTH = 64;

/** Three readers of narrowed groups: one reads zeros, one NaN, one everything twice. */
const net = `(x: f32[N,8]) -> (y) {
  h = MatMul(x, $w: f32[8,${WIDTH}])
  r = Relu(h)
  a = MatMul(r, $wa: f32[${WIDTH},${WIDTH}])
  a1 = Abs(a)
  a2 = Neg(a1)
  zeros = Relu(a2)
  reads_zeros = MatMul(zeros, $za: f32[${WIDTH},4])
  b = MatMul(r, $wb: f32[${WIDTH},${WIDTH}])
  b1 = Abs(b)
  b2 = Neg(b1)
  nan = Sqrt(b2)
  reads_nan = MatMul(nan, $zb: f32[${WIDTH},4])
  c = MatMul(r, $wc: f32[${WIDTH},${WIDTH}])
  once = Relu(c)
  twice = Concat<axis = 1>(once, once)
  reads_twice = MatMul(twice, $zc: f32[${2 * WIDTH},4])
  odd = IsNaN(reads_nan)
  sound = Where(odd, reads_twice, reads_nan)
  one = Cos(reads_zeros)
  y = Mul(sound, one)
}`;

function samples(folder: string, count: number, seed: number): string {
  const random = seededRandom(seed);
  const path = join(folder, `samples-${seed}.npz`);
  writeFileSync(
    path,
    npz({
      x: f32Npy(
        [count, 8],
        Array.from({ length: 8 * count }, () => random.normal()),
      ),
    }),
  );
  return path;
}

it("keeps the cut weights of layers that cannot be fitted, and names them", async () => {
  const folder = temporaryFolder();
  const model = modelFile(folder, net);
  const output = join(folder, "pruned.onnx");
  const config = fuseConfig(model, output, {
    graph: graphConfig({ verify: "none" }),
    data: {
      calibration: samples(folder, 200, 1),
      eval: samples(folder, 60, 2),
      metric: { kind: "builtin", name: "cosine" },
    },
    out: { output, externalData: false, keepRejected: true },
  });
  const result = await runPrune(
    {
      ...config,
      limits: limitsOf({ maxDrop: "none" }),
      prune: {
        ...{ targetSpeedup: null, keepRatio: 0.5, recover: false, sparsity: null, widths: null, goal: "speed" },
        ...{ selection: { include: [], exclude: [] }, budgetMs: null },
      },
    },
    realContext(startRuntime()),
  );
  const { unfitted, fitted } = result.pruning!;
  expect(new Map(unfitted.map(({ node, reason }) => [node, reason]))).toEqual(
    new Map([
      ["MatMul:reads_zeros", expect.stringContaining("constant")],
      ["MatMul:reads_nan", expect.stringContaining("NaN")],
    ]),
  );
  // Inputs of which each is another's copy say enough for a ridge.
  const twice = fitted.find(({ node }) => node === "MatMul:reads_twice")!;
  expect(twice.after).toBeLessThan(twice.before);
  const [original, pruned] = [loadModel(model), loadModel(result.output!.path)];
  check(pruned.graph);
  for (const label of ["reads_zeros", "reads_nan", "reads_twice"]) {
    const [whole, left] = [rowsBehind(original, label), rowsBehind(pruned, label)];
    expect(left.length).toBeLessThan(whole.length);
    expect(left.every((row) => whole.includes(row))).toBe(label !== "reads_twice");
  }
}, 60_000);

/** Of the weight of the layer that makes a value. */
function rowsBehind(model: Model, label: string): string[] {
  const node = [...model.graph.nodes()].find(({ output }) => output.label === label)!;
  const weight = node.inputs[1]!.constant!;
  const [rows = 0, columns = 0] = weight.dims;
  const values = weight.f32();
  return Array.from({ length: rows }, (_, r) => values.slice(r * columns, (r + 1) * columns).join());
}

import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, nodesWithin } from "../../../src/ir/index.js";
import { runFuse } from "../../../src/pipeline/prepare/fuse.js";
import type { RunResult } from "../../../src/pipeline/result.js";
import { runOptimize } from "../../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { modelFile } from "../../support/model-file.js";
import { fuseConfig, graphConfig, optimizeConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

const GELU = "(x: f32[N,6]) -> (y) { i = Identity(x)\n g = Gelu(i)\n y = MatMul(g, $w: f32[6,4]) }";

async function fuse(
  text: string,
  graph: Parameters<typeof graphConfig>[0],
  recipe: "fold" | "fuse" = "fuse",
): Promise<{ result: RunResult; ops: string[] }> {
  const folder = temporaryFolder();
  const output = join(folder, "out.onnx");
  const config = fuseConfig(modelFile(folder, text, { opset: 20 }), output, { graph: graphConfig(graph) });
  const result = await runFuse({ ...config, recipe }, realContext(runtime));
  return { result, ops: [...nodesWithin(loadModel(output).graph)].map(({ opName }) => opName) };
}

const appliedOf = ({ passes }: RunResult): number | undefined =>
  passes.find(({ name }) => name === "approximate-gelu")?.applied;

it("of optimize approximates before anything else is tried, and says so", async () => {
  const folder = temporaryFolder();
  const quantize = { mode: "weights", goal: "size" } as const;
  const graph = { graph: graphConfig({ lossy: true }) };
  const config = optimizeConfig(modelFile(folder, GELU, { opset: 20 }), join(folder, "out.onnx"), quantize, graph);
  const result = await runOptimize(config, realContext(runtime));
  expect(appliedOf(result)).toBe(1);
  expect(result.lossy!.applied).toBe(1);
  expect(result.verdict.summary).toMatch(/; 1 approximation, outputs move by up to/);
});

describe("fuse --lossy", () => {
  it("approximates, and says how far the outputs move", async () => {
    const { result } = await fuse(GELU, { lossy: true });
    expect(appliedOf(result)).toBe(1);
    expect(result.lossy!.applied).toBe(1);
    expect(result.lossy!.largestShift).toBeGreaterThan(1e-6);
    expect(result.lossy!.largestShift).toBeLessThan(1e-2);
    expect(result.verdict.summary).toMatch(
      /; 1 approximation, outputs move by up to \d\.\de-\d of their largest value$/,
    );
    expect(result.warnings).toEqual([]);
  });

  it("goes back to the exact graph where the results move too far", async () => {
    // What is left behind the point magnifies whatever moves.
    const text = `(x: f32[N,6]) -> (y) {
      g = Gelu(x)
      m = Mul(g, $k: f32[] = {10000.0})
      f = Floor(m)
      y = Sub(m, f)
    }`;
    const { result, ops } = await fuse(text, { lossy: true });
    expect(ops).toContain("Gelu");
    expect(result.lossy).toEqual({ applied: 0, largestShift: null });
    expect(result.warnings.join()).toMatch(/pass rejected: approximate-gelu/);
    expect(result.verdict.summary).toMatch(/; nothing approximated$/);
  });

  it("says that nothing was compared", async () => {
    const { result } = await fuse(GELU, { lossy: true, verify: "none" });
    expect(result.lossy).toEqual({ applied: 1, largestShift: null });
    expect(result.verdict.summary).toMatch(/; 1 approximation, not compared$/);
  });

  it("leaves the function as it is without the flag, and in fold", async () => {
    const plain = await fuse(GELU, {});
    expect(appliedOf(plain.result)).toBeUndefined();
    expect(plain.result.lossy).toBeUndefined();
    const folded = await fuse(GELU, { lossy: true }, "fold");
    expect(folded.result.lossy).toBeUndefined();
  });
});

/** An output that replaces the input, by its name or behind a link: nothing of the input is read after that. */
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel } from "../../src/ir/index.js";
import { runFp16 } from "../../src/pipeline/fp16/fp16.js";
import { runFuse } from "../../src/pipeline/prepare/fuse.js";
import type { RunResult } from "../../src/pipeline/result.js";
import { runQuantize } from "../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import { modelFile } from "../support/model-file.js";
import { f32Npy, npz } from "../support/npz.js";
import { fuseConfig, graphConfig, optimizeConfig, realContext, sha256 } from "../support/real-run.js";
import { limitsOf } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const runtime = ortRuntime();
afterAll(() => runtime.close());

/** Its weights stay where they are, however it is rewritten. */
const net = "(x: f32[N,64]) -> (y) { a = MatMul(x, $w: f32[64,64]) b = Relu(a) y = MatMul(b, $v: f32[64,64]) }";
const sized = { graph: graphConfig({ shapes: new Map([["x", ["batch", 64]]]) }) };

/** A copy of a model to replace, named as the user names it and as the command line passes its place on. */
function inPlace(source: string, isLinked: boolean): { model: string; output: string } {
  const folder = temporaryFolder();
  const output = join(folder, "model.onnx");
  copyFileSync(source, output);
  if (!isLinked) return { model: output, output };
  const model = join(folder, "link.onnx");
  symlinkSync(output, model);
  return { model, output };
}

function samples(): string {
  const path = join(temporaryFolder(), "x.npz");
  const values = Array.from({ length: 16 * 64 }, (_, i) => Math.sin(i * i));
  writeFileSync(path, npz({ x: f32Npy([16, 64], values) }));
  return path;
}

/** What a result says of the model that was written, without times. */
const saidOf = ({ verdict, quantization, calibration, shapes, output }: RunResult) => ({
  ...{ outcome: verdict.outcome, forms: quantization?.forms, calibration, shapes, sha256: output?.sha256 },
});

type Run = (model: string, output: string) => Promise<RunResult>;

const runs: Record<string, Run> = {
  quantize: (model, output) => {
    const data = { calibration: samples(), eval: null, metric: null };
    const limits = limitsOf({ maxDrop: "none" });
    return runQuantize(optimizeConfig(model, output, {}, { data, limits }), realContext(runtime));
  },
  fuse: (model, output) => runFuse({ ...fuseConfig(model, output, sized), recipe: "fuse" }, realContext(runtime)),
  fp16: (model, output) => {
    const half = { target: "f16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    return runFp16({ ...fuseConfig(model, output, sized), ...half }, realContext(runtime));
  },
  "fp16 but for its last weights": (model, output) => {
    const last = [...loadModel(model).graph.nodes()].findLast(({ inputs }) => inputs[1]?.constant)!;
    const half = { target: "f16", convertIo: false, selection: { include: [], exclude: [last.displayName] } } as const;
    return runFp16({ ...fuseConfig(model, output, sized), ...half }, realContext(runtime));
  },
};

describe.each(Object.entries(runs))("%s over its input", (_, run) => {
  it("tells and writes what it does beside it, behind a link too", async () => {
    const source = modelFile(temporaryFolder(), net);
    const beside = saidOf(await run(source, join(temporaryFolder(), "model.onnx")));
    for (const isLinked of [false, true]) {
      const { model, output } = inPlace(source, isLinked);
      expect(saidOf(await run(model, output))).toEqual(beside);
      expect(sha256(output)).toBe(beside.sha256);
    }
  });
});

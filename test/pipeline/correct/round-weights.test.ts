import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { loadModel } from "../../../src/ir/index.js";
import type { QuantizeConfig } from "../../../src/pipeline/config.js";
import { runQuantize } from "../../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import { modelFile } from "../../support/model-file.js";
import { f32Npy, npz } from "../../support/npz.js";
import { optimizeConfig, realContext } from "../../support/real-run.js";
import { limitsOf } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime();
afterAll(() => runtime.close());

const ROWS = 8;
const WIDTH = 64;

/** Inputs made of a few causes, so that they come together. */
function samples(folder: string, count: number): string {
  const chance = seededRandom(5);
  const bell = () => chance.next() + chance.next() - 1;
  const causes = Array.from({ length: 5 }, () => Array.from({ length: WIDTH }, bell));
  const values = Array.from({ length: count * ROWS }, () => {
    const strengths = causes.map(bell);
    return causes[0]!.map((_, i) => causes.reduce((sum, cause, c) => sum + cause[i]! * strengths[c]!, 0.05 * bell()));
  });
  const path = join(folder, "samples.npz");
  writeFileSync(path, npz({ x: f32Npy([count, ROWS, WIDTH], values.flat()) }));
  return path;
}

async function quantized(count: number, quantize: Partial<QuantizeConfig> = {}) {
  const folder = temporaryFolder();
  const text = `(x: f32[B,${ROWS},${WIDTH}]) -> (y) { a = MatMul(x, $w: f32[${WIDTH},96])
    b = Tanh(a)
    y = MatMul(b, $v: f32[96,${WIDTH}]) }`;
  const model = modelFile(folder, text);
  const output = join(folder, "out.onnx");
  const data = { calibration: samples(folder, count), eval: null, metric: null };
  const settings = { mode: "weights", bits: 4, corrections: ["rounding"], ...quantize } as const;
  const limits = limitsOf({ maxDrop: "none" });
  const result = await runQuantize(optimizeConfig(model, output, settings, { data, limits }), realContext(runtime));
  return { result, bytes: readFileSync(output), types: new Set(loadModel(output).graph.constants.map((c) => c.dtype)) };
}

describe("weights of 4 bits with samples at hand", () => {
  it("are rounded together where that is better on other samples, and the same each time", async () => {
    const first = await quantized(64);
    const [fact] = first.result.quantization!.corrections!;
    expect(fact).toMatchObject({ correction: "rounding", isKept: true, detail: "2 matrices of 4 bits" });
    expect(fact!.afterDb).toBeGreaterThan(fact!.beforeDb! + 3);
    expect(first.types).toContain("i4");
    expect((await quantized(64)).bytes.equals(first.bytes)).toBe(true);
  });

  it("are not where that was not asked for, or samples are too few to see it", async () => {
    for (const { result, types } of [await quantized(64, { corrections: [] }), await quantized(3)]) {
      expect(result.quantization!.corrections).toBeUndefined();
      expect(result.quantization!.notes.join()).not.toContain("rounding");
      expect(types).toContain("i4");
    }
  });

  it("are not where 8 bits were asked for", async () => {
    const { result, types } = await quantized(64, { bits: 8 });
    expect(result.quantization!.corrections).toBeUndefined();
    expect(types).not.toContain("i4");
  });
});

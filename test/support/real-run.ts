/** Runs of the pipeline with ONNX Runtime on the digits model, short enough for tests. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDataset } from "../../src/dataset/index.js";
import type { FuseConfig, GraphConfig, OptimizeConfig, QuantizeConfig } from "../../src/pipeline/config.js";
import type { Runtime } from "../../src/runtime/port.js";
import { type FakeContext, fakeContext } from "./fake-runtime.js";
import { f32Npy, i64Npy, npz } from "./npz.js";
import { limitsOf, runtimeConfig } from "./run-config.js";
import { temporaryFolder } from "./temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const digitsModel = join(root, "fixtures/models/digits.onnx");
const digitsSamples = join(root, "calibration/digits/evaluation.npz");

/** A context with a clock that runs and a scratch folder of its own. Call it inside a test. */
export const realContext = (runtime: Runtime): FakeContext =>
  fakeContext(runtime, { scratch: temporaryFolder(), now: () => performance.now() });

/** A few labelled digits as a file, from `from` on. */
export async function digits(folder: string, count: number, from = 0): Promise<string> {
  const dataset = await openDataset(digitsSamples);
  const images: number[] = [];
  const labels: number[] = [];
  for await (const sample of dataset.samples(Array.from({ length: count }, (_, i) => from + i))) {
    images.push(...sample.feeds.get("image")!.f32());
    labels.push(Number((sample.labels as { bigints(): bigint[] }).bigints()[0]));
  }
  const path = join(folder, `digits-${from}-${count}.npz`);
  writeFileSync(path, npz({ image: f32Npy([count, 1, 28, 28], images), labels: i64Npy([count], labels) }));
  return path;
}

export const graphConfig = (graph: Partial<GraphConfig> = {}): GraphConfig => ({
  skip: [],
  only: [],
  keepOpset: false,
  foldBudgetBytes: 2 ** 20,
  check: true,
  verify: "fast",
  bisect: false,
  runtimeSpecific: false,
  shapes: new Map(),
  ...graph,
});

export const fuseConfig = (model: string, output: string | null, config: Partial<FuseConfig> = {}): FuseConfig => ({
  model,
  runtime: runtimeConfig({ benchMs: 300 }),
  data: { calibration: null, eval: null, metric: null },
  out: { output, externalData: false, keepRejected: false },
  graph: graphConfig(),
  ...config,
});

/** Judged by size, which no noise touches. */
export const optimizeConfig = (
  model: string,
  output: string | null,
  quantize: Partial<QuantizeConfig> = {},
  config: Partial<OptimizeConfig> = {},
): OptimizeConfig => ({
  ...fuseConfig(model, output),
  limits: limitsOf(),
  quantize: {
    mode: "static",
    bits: 8,
    method: "minmax",
    ranges: null,
    selection: { include: [], exclude: [] },
    goal: "size",
    corrections: [],
    searchMs: 5000,
    ...quantize,
  },
  ...config,
});

export const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

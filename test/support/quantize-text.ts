/** A graph in text, quantized with ranges taken from one run on seeded inputs. */
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { check, loadModel, type Model, parseModel, saveModel, type Tensor } from "../../src/ir/index.js";
import { chooseRange, clampTap, newTap, observeTensor } from "../../src/observe/index.js";
import { effectiveRange } from "../../src/quantization/effective-range.js";
import { activationsOf, type InsertReport, insertQdq } from "../../src/quantization/insert-qdq.js";
import { makeNamesUnique } from "../../src/quantization/names.js";
import { type PlacementOptions, planStatic, type StaticPlan } from "../../src/quantization/plan-static.js";
import { type ActivationScheme, activationScheme } from "../../src/quantization/scheme.js";
import { annotateTypes } from "../../src/rewrite/index.js";
import { tapValues } from "../../src/rewrite/tap-model.js";
import type { IntegerTarget } from "../../src/target/integer-kernel.js";
import { integerTarget } from "../../src/target/integer-kernels.js";
import { describeModel } from "./ask-runtime.js";
import { type Feeds, runModel, seededFeeds } from "./run-model.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Weights whose sums do not saturate on any machine. */
export const safeTarget: IntegerTarget = { ...integerTarget("cpu", "x64", []), saturatesPairs: true };

export interface QuantizedText {
  readonly float: Model;
  readonly model: Model;
  readonly plan: StaticPlan;
  readonly report: InsertReport;
  readonly schemes: ReadonlyMap<string, ActivationScheme>;
  readonly feeds: Feeds;
}

/** Parsed, named and annotated as the pipeline does before it quantizes. */
export async function prepared(text: string, opset = 17): Promise<Model> {
  const model = parseModel(text, { opset });
  check(model.graph);
  makeNamesUnique(model);
  await annotateTypes(model, describeModel);
  return model;
}

/** Call it inside a test. */
export async function quantizeText(
  text: string,
  options: Partial<PlacementOptions> = {},
  target: IntegerTarget = safeTarget,
): Promise<QuantizedText> {
  const [float, model, tapped] = [await prepared(text), await prepared(text), await prepared(text)];
  const placement = { neighbours: true, depthwise: true, ...options };
  const plan = planStatic(model, target, placement);
  const feeds = seededFeeds(float);
  const taps = tapValues(tapped, activationsOf(planStatic(tapped, target, placement)));
  const results = { ...feeds, ...(await runModel(tapped, feeds)) };
  const schemes = new Map(
    activationsOf(plan).map((value) => {
      const tap = newTap(value.label);
      observeTensor(tap, results[taps.get(value.label)!]!.f32());
      const { low, high } = effectiveRange(value);
      return [
        value.label,
        activationScheme(chooseRange(clampTap(tap, low, high), { method: "minmax" }), target.activations),
      ] as const;
    }),
  );
  const report = insertQdq(model, plan, schemes, target);
  check(model.graph);
  return { float, model, plan, report, schemes, feeds };
}

/** What the runtime makes of a model at its highest optimization level. Call it inside a test. */
export async function optimizedByRuntime(model: Model): Promise<Model> {
  const folder = temporaryFolder();
  const path = join(folder, "model.onnx");
  const optimizedModelFilePath = join(folder, "optimized.onnx");
  saveModel(model, path).commit();
  const options = { graphOptimizationLevel: "all", logSeverityLevel: 4, intraOpNumThreads: 1 } as const;
  await (await ort.InferenceSession.create(path, { ...options, optimizedModelFilePath })).release();
  return loadModel(optimizedModelFilePath);
}

/** Error of a quantized model's outputs, as the runtime optimizes it, against the float one. Call it inside a test. */
export const errorOf = async (float: Model, quantized: Model, feeds: Feeds): Promise<number> =>
  relativeError(await runModel(float, feeds), await runModel(quantized, feeds, "all"));

/** Norm of the difference over norm of the first, over all outputs. */
export function relativeError(a: Readonly<Record<string, Tensor>>, b: Readonly<Record<string, Tensor>>): number {
  let difference = 0;
  let norm = 0;
  for (const [name, tensor] of Object.entries(a)) {
    const [x, y] = [tensor.toF32()!, b[name]!.toF32()!];
    if (x.length !== y.length) return Number.POSITIVE_INFINITY;
    x.forEach((value, i) => {
      difference += (value - y[i]!) ** 2;
      norm += value ** 2;
    });
  }
  return Math.sqrt(difference / norm);
}

export const opsOf = ({ graph }: Model): string[] => [...graph.nodes()].map(({ op }) => op);

/** What passes ask of a runtime, answered by ONNX Runtime in this process with its own optimizer off. */
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { InferOptError, messageOf } from "../../src/base/errors.js";
import { type DType, saveModel } from "../../src/ir/index.js";
import type { Describe, Evaluate } from "../../src/rewrite/index.js";
import { runModel } from "./run-model.js";
import { temporaryFolder } from "./temporary-folder.js";

const dtypes: Readonly<Record<string, DType>> = {
  float32: "f32",
  float64: "f64",
  float16: "f16",
  int64: "i64",
  int32: "i32",
  int8: "i8",
  uint8: "u8",
  bool: "bool",
};

/** Call it inside a test. */
export const evaluate: Evaluate = (model) =>
  asRuntimeFault(async () => new Map(Object.entries(await runModel(model, {}))));

/** Call it inside a test. */
export const describeModel: Describe = (model) =>
  asRuntimeFault(async () => {
    const path = join(temporaryFolder(), "probe.onnx");
    saveModel(model, path).commit();
    const options = { graphOptimizationLevel: "disabled", logSeverityLevel: 4, intraOpNumThreads: 1 } as const;
    const session = await ort.InferenceSession.create(path, options);
    const outputs = session.outputMetadata.map((port) => ({
      name: port.name,
      dtype: port.isTensor ? (dtypes[port.type] ?? null) : null,
      shape: port.isTensor ? port.shape.map((dim) => (dim === "" ? null : dim)) : null,
    }));
    await session.release();
    return { outputs };
  });

async function asRuntimeFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new InferOptError("RUNTIME_FAILED", "runtime", messageOf(cause), { cause });
  }
}

import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { f32ToF16 } from "../../src/base/f16.js";
import { seededRandom } from "../../src/base/random.js";
import { elementCount, type Model, saveModel, Tensor } from "../../src/ir/index.js";
import { temporaryFolder } from "./temporary-folder.js";

const arrays = {
  float32: ["f32", Float32Array],
  float64: ["f64", Float64Array],
  float16: ["f16", Uint16Array],
  int64: ["i64", BigInt64Array],
  int32: ["i32", Int32Array],
  int8: ["i8", Int8Array],
  uint8: ["u8", Uint8Array],
  bool: ["bool", Uint8Array],
} as const;

export type Feeds = Readonly<Record<string, Tensor>>;

/** Writes the model and runs the file in ONNX Runtime, with nothing optimized unless told otherwise. Call it inside a test. */
export async function runModel(model: Model, feeds: Feeds, level?: Level): Promise<Record<string, Tensor>> {
  const path = join(temporaryFolder(), "model.onnx");
  saveModel(model, path).commit();
  return runFile(path, feeds, level);
}

type Level = "disabled" | "all";

export async function runFile(path: string, feeds: Feeds, level: Level = "disabled"): Promise<Record<string, Tensor>> {
  const session = await ort.InferenceSession.create(path, {
    graphOptimizationLevel: level,
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const outputs = await session.run(
    Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, toOrt(tensor)])),
  );
  await session.release();
  return Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, fromOrt(tensor)]));
}

function toOrt(tensor: Tensor): ort.Tensor {
  const entry = Object.entries(arrays).find(([, [dtype]]) => dtype === tensor.dtype);
  if (!entry) throw new Error(`a test cannot feed ${tensor.dtype}`);
  const [type, [, ArrayType]] = entry;
  const bytes = Uint8Array.from(tensor.bytes());
  return new ort.Tensor(type as "float32", new ArrayType(bytes.buffer) as Float32Array, tensor.dims);
}

function fromOrt(tensor: ort.Tensor): Tensor {
  const [dtype] = arrays[tensor.type as keyof typeof arrays];
  return Tensor.ofArray(dtype, tensor.dims, tensor.data as unknown as ArrayBufferView);
}

/** Normal numbers for every float32 input, small whole ones for integers; symbols and unknown sizes are `size`. */
export function seededFeeds(model: Model, size = 2, seed = 5): Feeds {
  const random = seededRandom(seed);
  return Object.fromEntries(
    model.graph.inputs.map((value) => {
      const dims = (value.shape ?? []).map((dim) => (typeof dim === "number" ? dim : size));
      const values = Array.from({ length: elementCount(dims) }, () =>
        value.dtype === "f32" || value.dtype === "f16" ? random.normal() : random.below(2),
      );
      if (value.dtype === "f16") return [value.label, Tensor.ofArray("f16", dims, f32ToF16(Float32Array.from(values)))];
      if (value.dtype === "bool") return [value.label, Tensor.ofArray("bool", dims, Uint8Array.from(values))];
      return [value.label, value.dtype === "f32" ? Tensor.f32(dims, values) : Tensor.i64(dims, values)];
    }),
  );
}

/** Largest difference over all outputs, relative to magnitudes above 1; Infinity when shapes differ. Float16 counts as its value. */
export function largestDifference(a: Readonly<Record<string, Tensor>>, b: Readonly<Record<string, Tensor>>): number {
  let worst = Object.keys(a).join() === Object.keys(b).join() ? 0 : Number.POSITIVE_INFINITY;
  for (const [name, tensor] of Object.entries(a)) {
    const other = b[name];
    if (!other || String(other.dims) !== String(tensor.dims)) return Number.POSITIVE_INFINITY;
    const [x, y] = [numbers(tensor), numbers(other)];
    x.forEach((value, i) => {
      if (Object.is(value, y[i])) return;
      const difference = Math.abs(value - y[i]!) / Math.max(1, Math.abs(value));
      worst = Math.max(worst, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
    });
  }
  return worst;
}

const numbers = (tensor: Tensor): number[] => Array.from(tensor.toF32() ?? tensor.bigints() ?? [], Number);

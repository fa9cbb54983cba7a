/** ONNX Runtime in this process with its own optimizer off: fast enough for thousands of small models. */
import * as ort from "onnxruntime-node";
import { InferOptError, messageOf } from "../../src/base/errors.js";
import { f32ToF16Bits } from "../../src/base/f16.js";
import { type Random, seededRandom } from "../../src/base/random.js";
import { type DType, elementCount, type Model, Tensor, toOnnx, type Value } from "../../src/ir/index.js";
import { encodeModel } from "../../src/onnx/schema.js";
import { tensorsWithin } from "../../src/onnx/tensors-within.js";
import type { Describe, Evaluate } from "../../src/rewrite/index.js";

const arrays = {
  float32: ["f32", Float32Array],
  float64: ["f64", Float64Array],
  float16: ["f16", Uint16Array],
  int64: ["i64", BigInt64Array],
  uint64: ["u64", BigUint64Array],
  int32: ["i32", Int32Array],
  uint32: ["u32", Uint32Array],
  int16: ["i16", Int16Array],
  uint16: ["u16", Uint16Array],
  int8: ["i8", Int8Array],
  uint8: ["u8", Uint8Array],
  bool: ["bool", Uint8Array],
} as const;

type OrtType = keyof typeof arrays;

export type Feeds = Readonly<Record<string, Tensor>>;
export type Outputs = Readonly<Record<string, Tensor>>;

/** The file of a model, weights inside. */
export function bytesOf(model: Model): Uint8Array {
  const message = toOnnx(model);
  for (const { tensor } of tensorsWithin(message)) {
    if (!tensor.source) continue;
    tensor.raw_data = tensor.source.read();
    delete tensor.source;
  }
  return encodeModel(message);
}

/** What the runtime refused, in its words. */
export class Refusal extends Error {}

async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new Refusal(messageOf(cause), { cause });
  }
}

const open = (bytes: Uint8Array): Promise<ort.InferenceSession> =>
  refusable(() =>
    ort.InferenceSession.create(bytes, {
      graphOptimizationLevel: "disabled",
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      logSeverityLevel: 4,
      enableCpuMemArena: false,
    }),
  );

/** The outputs for each of the feeds; a Refusal in the place of those that cannot be run. Throws a Refusal when the model does not load. */
export async function runEach(bytes: Uint8Array, feeds: readonly Feeds[]): Promise<(Outputs | Refusal)[]> {
  const session = await open(bytes);
  try {
    const results: (Outputs | Refusal)[] = [];
    for (const each of feeds) results.push(await runOnce(session, each).catch(asRefusal));
    return results;
  } finally {
    await session.release();
  }
}

function asRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  throw thrown;
}

const runOnce = (session: ort.InferenceSession, feeds: Feeds): Promise<Outputs> =>
  refusable(async () => {
    const given = Object.entries(feeds).map(([name, tensor]) => [name, toOrt(tensor)]);
    const outputs = await session.run(Object.fromEntries(given));
    return Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, fromOrt(tensor)]));
  });

function toOrt(tensor: Tensor): ort.Tensor {
  const entry = Object.entries(arrays).find(([, [dtype]]) => dtype === tensor.dtype);
  if (!entry) throw new Refusal(`${tensor.dtype} cannot be fed`);
  const [type, [, ArrayType]] = entry;
  const bytes = Uint8Array.from(tensor.bytes());
  return new ort.Tensor(type as "float32", new ArrayType(bytes.buffer) as Float32Array, tensor.dims);
}

function fromOrt(tensor: ort.Tensor): Tensor {
  const known = arrays[tensor.type as OrtType];
  if (!known) throw new Refusal(`${tensor.type} cannot be read`);
  return Tensor.ofArray(known[0], tensor.dims, tensor.data as unknown as ArrayBufferView);
}

const runtimeFault = (thrown: unknown): never => {
  if (!(thrown instanceof Refusal)) throw thrown;
  throw new InferOptError("RUNTIME_FAILED", "runtime", thrown.message, { cause: thrown });
};

export const evaluate: Evaluate = async (model) => {
  const [outputs] = await runEach(bytesOf(model), [{}]).catch(runtimeFault);
  return outputs instanceof Refusal ? runtimeFault(outputs) : new Map(Object.entries(outputs!));
};

export const describeModel: Describe = async (model) => {
  const session = await open(bytesOf(model)).catch(runtimeFault);
  const outputs = session.outputMetadata.map((port) => ({
    name: port.name,
    dtype: port.isTensor ? dtypeOf(port.type) : null,
    shape: port.isTensor ? port.shape.map((dim) => (dim === "" ? null : dim)) : null,
  }));
  await session.release();
  return { outputs };
};

const dtypeOf = (type: string): DType | null => (type in arrays ? arrays[type as OrtType][0] : null);

/** What a symbolic dimension is in one run; called once a symbol, and once for each dimension without a name. */
export type SizeOf = (symbol: string) => number;

/** Values for every input without a default: normal numbers, small whole ones, coins. */
export function feedsFor(model: Model, sizeOf: SizeOf, seed: number): Feeds {
  const random = seededRandom(seed);
  const required = model.graph.inputs.filter(({ origin }) => !origin.defaultTensor);
  return Object.fromEntries(required.map((value) => [value.label, feedFor(value, sizeOf, random)]));
}

function feedFor(value: Value, sizeOf: SizeOf, random: Random): Tensor {
  const dims = (value.shape ?? []).map((dim, axis) =>
    typeof dim === "number" ? dim : sizeOf(dim ?? `${value.label}.${axis}`),
  );
  return randomTensor(value.dtype ?? "f32", dims, random);
}

export function randomTensor(dtype: DType, dims: readonly number[], random: Random): Tensor {
  const entry = Object.values(arrays).find(([known]) => known === dtype);
  if (!entry) throw new Refusal(`${dtype} has no random values`);
  const array = new entry[1](elementCount(dims));
  for (let i = 0; i < array.length; i++) {
    if (array instanceof BigInt64Array || array instanceof BigUint64Array) array[i] = BigInt(random.below(2));
    else if (dtype === "f16") array[i] = f32ToF16Bits(random.normal());
    else array[i] = dtype === "f32" || dtype === "f64" ? random.normal() : random.below(2);
  }
  return Tensor.ofArray(dtype, dims, array);
}

/** Tensors as users write them, `{ dims, data, type? }` by input name, and as the house has them. */
import { InferOptError, messageOf } from "../base/errors.js";
import { nearestName } from "../base/nearest.js";
import { aligned, type DType, elementCount, formatShape, type Shape, Tensor } from "../ir/index.js";
import type { PortWords } from "./pipeline-module.js";
import { shown, stageError } from "./stage-error.js";

/** What a model takes or gives under one name. */
export interface Port {
  readonly name: string;
  readonly dtype: DType | null;
  readonly shape: Shape | null;
}

interface ArrayClass {
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ArrayBufferView;
  readonly BYTES_PER_ELEMENT: number;
}

/** By dtype, as ONNX Runtime spells it; 16-bit floats are their bits. */
const arrays: Partial<Record<DType, readonly [type: string, array: ArrayClass]>> = {
  f32: ["float32", Float32Array],
  f64: ["float64", Float64Array],
  f16: ["float16", Uint16Array],
  i8: ["int8", Int8Array],
  u8: ["uint8", Uint8Array],
  i16: ["int16", Int16Array],
  u16: ["uint16", Uint16Array],
  i32: ["int32", Int32Array],
  u32: ["uint32", Uint32Array],
  i64: ["int64", BigInt64Array],
  u64: ["uint64", BigUint64Array],
  bool: ["bool", Uint8Array],
};

const typeName = (dtype: DType | null): string =>
  dtype === null ? "no tensor" : dtype === "string" ? "string" : (arrays[dtype]?.[0] ?? dtype);

export const portWords = ({ name, dtype, shape }: Port): PortWords => ({
  name,
  type: typeName(dtype),
  dims: shape === null ? null : shape.map((dim) => (typeof dim === "number" ? dim : null)),
});

interface UserTensor {
  readonly type?: unknown;
  readonly dims?: unknown;
  readonly data?: unknown;
}

/** Who gave the tensors, and for what. */
export interface FeedsSource {
  readonly path: string;
  /** As the module calls it; null when there was none before the model. */
  readonly stage: string | null;
  readonly request: number;
}

/**
 * Checked against the model's inputs; nothing is copied or converted. A model of one input also takes the bare tensor.
 * Throws PIPELINE_TENSORS.
 */
export function feedsFrom(value: unknown, inputs: readonly Port[], source: FeedsSource): ReadonlyMap<string, Tensor> {
  try {
    return checkedFeeds(value, inputs, source);
  } catch (cause) {
    // What the module gave may have getters, and these may throw.
    throw cause instanceof InferOptError ? cause : unreadable(source, cause);
  }
}

function checkedFeeds(value: unknown, inputs: readonly Port[], source: FeedsSource): ReadonlyMap<string, Tensor> {
  const given = byName(value, inputs);
  if (given === null) {
    const wanted = inputs.map(({ name }) => `"${name}"`).join(", ");
    throw refused(source, `gave ${shown(value)}, not tensors by the name of an input (${wanted})`, exampleFor(inputs));
  }
  const names = inputs.map(({ name }) => name);
  for (const name in given) {
    if (names.includes(name)) continue;
    const nearest = nearestName(name, names);
    const hint = nearest === null ? "The model takes no inputs." : `The nearest input is "${nearest}".`;
    throw refused(source, `gave "${name}", which is no input of the model`, hint);
  }
  return new Map(inputs.map((input) => [input.name, tensorFrom(given[input.name], input, source)]));
}

function byName(value: unknown, inputs: readonly Port[]): Readonly<Record<string, UserTensor | undefined>> | null {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Array.isArray(value)) return null;
  if (!isUserTensor(value)) return value as Record<string, UserTensor>;
  return inputs.length === 1 ? { [inputs[0]!.name]: value } : null;
}

function tensorFrom(given: UserTensor | undefined, input: Port, source: FeedsSource): Tensor {
  const { name, dtype, shape } = input;
  const wanted = `${typeName(dtype)}${shape === null ? "" : formatShape(shape)}`;
  const refuse = (what: string, hint: string) => refused(source, `${what} for "${name}", which takes ${wanted}`, hint);
  if (given === undefined || given === null) throw refuse("gave nothing", exampleFor([input]));
  const { data, dims, type } = given;
  if (!Array.isArray(dims) || dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0)) {
    throw refuse(`gave dims ${shown(dims)}`, "Give dims as a list of whole numbers.");
  }
  const [, array] = (dtype && arrays[dtype]) ?? [];
  if (dtype !== "string" && !array) throw refuse("cannot give a tensor", "Put a Cast to float32 at that input.");
  const isRight = dtype === "string" ? Array.isArray(data) : data instanceof array!;
  if (!isRight || (type !== undefined && type !== typeName(dtype))) {
    const got = type !== undefined && isRight ? `type ${shown(type)}` : `data ${kindOf(data)}`;
    const hint = dtype === "string" ? "Give data as a list of texts." : `Give data as a ${array!.name}.`;
    throw refuse(`gave ${got}`, hint);
  }
  const { length } = data as ArrayLike<unknown>;
  if (length !== elementCount(dims)) {
    const hint = "The sizes multiplied must be the number of elements.";
    throw refuse(`gave dims [${dims.join(",")}] and ${length} elements`, hint);
  }
  if (shape && !fits(dims, shape)) {
    const hint =
      dims.length === shape.length
        ? "Check the order of the axes (channels first or last) and the size that the image is brought to."
        : "Check the number of axes: models usually want a batch of 1 in front.";
    throw refuse(`gave dims [${dims.join(",")}]`, hint);
  }
  if (dtype !== "string") return Tensor.ofArray(dtype!, dims, data as unknown as ArrayBufferView);
  const encoder = new TextEncoder();
  return Tensor.strings(
    dims,
    (data as readonly string[]).map((text) => encoder.encode(text)),
  );
}

const fits = (dims: readonly number[], shape: Shape): boolean =>
  dims.length === shape.length && shape.every((dim, axis) => typeof dim !== "number" || dim === dims[axis]);

const kindOf = (data: unknown): string =>
  typeof data === "object" && data !== null ? `of ${data.constructor?.name ?? "no class"}` : shown(data);

function exampleFor(inputs: readonly Port[]): string {
  const [first] = inputs;
  if (!first) return "Return {}: the model takes no inputs.";
  const array = (first.dtype && arrays[first.dtype]?.[1].name) ?? "a list of texts";
  const dims = first.shape?.map((dim) => (typeof dim === "number" ? dim : 1)).join(", ") ?? "...";
  return `Return { "${first.name}": { dims: [${dims}], data: ${array} } }${inputs.length > 1 ? ", with every input" : ""}.`;
}

const refused = ({ path, stage, request }: FeedsSource, what: string, hint: string) =>
  stage === null
    ? stageError(
        "PIPELINE_TENSORS",
        `request ${request} of ${path}, which has no stage before the model, ${what}`,
        hint,
        {
          fields: { path, request },
        },
      )
    : stageError("PIPELINE_TENSORS", `stage ${stage} of ${path} ${what} (request ${request})`, hint, {
        fields: { path, stage, request },
      });

/** Reading what the stages gave ran code of theirs (a getter), which threw. */
const unreadable = (source: FeedsSource, cause: unknown) =>
  refused(source, `gave what cannot be read: ${messageOf(cause)}`, "Return plain objects: { dims, data }.");

/** Our tensors as a user sees them: what a request is where the data gives it. */
export function toUserTensors(tensors: ReadonlyMap<string, Tensor>): Record<string, UserTensor> {
  const decoder = new TextDecoder();
  return Object.fromEntries(
    Array.from(tensors, ([name, tensor]) => {
      const { dtype, dims } = tensor;
      const [type = "string", array] = arrays[dtype] ?? [];
      const data = array ? aligned(array, tensor.bytes()) : tensor.utf8().map((text) => decoder.decode(text));
      return [name, { type, dims: [...dims], data }];
    }),
  );
}

/** What can be handed to another thread: plain objects, each with no more memory than its elements take. */
export function portable(value: unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Array.isArray(value)) return value;
  if (isUserTensor(value)) return portableTensor(value);
  const entries = Object.entries(value).map(([name, each]) => [name, isUserTensor(each) ? portableTensor(each) : each]);
  return Object.fromEntries(entries);
}

const isUserTensor = (value: unknown): value is UserTensor =>
  typeof value === "object" && value !== null && "dims" in value && "data" in value;

function portableTensor({ type, dims, data }: UserTensor): UserTensor {
  const isPart = ArrayBuffer.isView(data) && data.byteLength < data.buffer.byteLength;
  return { ...(type !== undefined && { type }), dims, data: isPart ? (data as Float32Array).slice() : data };
}

/**
 * Which inputs and outputs of a node may go from float32 to a narrower type, by the type
 * constraints of its operator at the model's opset. What shares a type variable goes together.
 */
import type { DType, Node, Value } from "../../ir/index.js";
import { type Signature, signatureOf } from "../../ops/signature.js";
import type { HalfType } from "./narrow-tensor.js";

/** The float32 places of a node that may be narrowed. */
export interface NarrowablePlaces {
  readonly inputs: ReadonlySet<number>;
  readonly outputs: ReadonlySet<number>;
}

export type Narrowing = NarrowablePlaces | { readonly reason: string };

/**
 * Type variables that may be narrower by the schema and stay float32: coordinates, ratios and
 * indices, of which float16 has too few digits, and statistics whose type an attribute says.
 */
const keptVariables: Readonly<Record<string, string>> = {
  Dropout: "U",
  GridSample: "U",
  GroupNormalization: "U",
  LayerNormalization: "U",
  OneHot: "TU",
  Resize: "U",
};

const coordinates = "its coordinates need more digits than float16 has";
const scales = "quantization scales stay float32";

/** Operators that stay whole, by what they compute or because their scales must not lose digits. */
const keptOperators: Readonly<Record<string, string>> = {
  BitCast: "it reads bits, which are others in another type",
  DequantizeLinear: scales,
  MaxRoiPool: coordinates,
  MelWeightMatrix: "its frequencies need more digits than float16 has",
  QLinearConv: scales,
  QLinearMatMul: scales,
  QuantizeLinear: scales,
  RoiAlign: coordinates,
};

/**
 * Legal in float16 by the schema, and yet ONNX Runtime's CPU provider (1.30) opens no session
 * with one: its kernels make float32 only and have no input to cast, or, for
 * MeanVarianceNormalization before opset 22, it puts float32 constants into what it expands to.
 */
const rejectedByRuntime: ReadonlySet<string> = new Set([
  "BlackmanWindow",
  "EyeLike",
  "HammingWindow",
  "HannWindow",
  "MeanVarianceNormalization",
  "RandomNormal",
  "RandomUniform",
]);

const words = { f16: "float16", bf16: "bfloat16" } as const;

/**
 * The places of a node outside of control flow that may be narrowed, or why none may. Places
 * that never were float32 are no reason: for a node without float32 values both sets are empty.
 */
export function narrowablePlaces(
  node: Node,
  opset: number,
  target: HalfType,
  dtypes: ReadonlyMap<Value, DType>,
): Narrowing {
  const isF32 = (value: Value | null): boolean => value !== null && dtypes.get(value) === "f32";
  if (!node.inputs.some(isF32) && !node.outputs.some(isF32)) return { inputs: new Set(), outputs: new Set() };
  if (node.domain !== "") return { reason: `the types that ${node.opName} allows are not known` };
  const signature = signatureOf(node.op, opset);
  if (!signature) return { reason: `opset ${opset} has no ${node.op}` };
  if (!signature.tensorsOnly) return { reason: "it handles sequences or optionals" };
  const kept = keptOperators[node.op];
  if (kept) return { reason: kept };
  if (rejectedByRuntime.has(node.op))
    return { reason: `ONNX Runtime runs no ${node.op} in ${words[target]} on the CPU` };

  const fits = (place: ReturnType<Signature["input"]>): boolean =>
    place?.kind === "variable" && !keptVariables[node.op]?.includes(place.name) && signature.allows(place.name, target);
  const inputs = new Set(indices(node.inputs).filter((i) => isF32(node.inputs[i]!) && fits(signature.input(i))));
  const outputs = new Set(indices(node.outputs).filter((i) => isF32(node.outputs[i]!) && fits(signature.output(i))));
  if (inputs.size + outputs.size > 0) return { inputs, outputs };
  return { reason: `${node.op} of opset ${opset} takes no ${words[target]}` };
}

const indices = (list: readonly unknown[]): number[] => list.map((_, i) => i);

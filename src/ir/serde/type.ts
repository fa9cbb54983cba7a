import {
  bigintToLong,
  cloneMessage,
  type DimensionProto,
  hasField,
  longToBigint,
  type TypeProto,
  type ValueInfoProto,
} from "../../onnx/index.js";
import { dtypeCode, dtypeOfCode } from "../dtype.js";
import type { Dim, Shape } from "../shape.js";
import type { TensorType } from "../value.js";

/** The tensor type of a value description; null for sequences, maps, optionals and missing types. */
export function typeFromProto(proto: TypeProto | undefined): TensorType | null {
  const tensor = proto?.tensor_type;
  if (!tensor) return null;
  return {
    dtype: dtypeOfCode(tensor.elem_type ?? 0),
    shape: tensor.shape ? (tensor.shape.dim ?? []).map(dimFromProto) : null,
  };
}

function dimFromProto(dim: DimensionProto): Dim {
  if (hasField(dim, "dim_value")) {
    const size = Number(longToBigint(dim.dim_value!));
    return size >= 0 ? size : null;
  }
  return dim.dim_param || null;
}

/** The shape that a file promises for an output of a graph, by the description that came with it. */
export const promisedShape = (info: unknown): Shape | null =>
  typeFromProto((info as ValueInfoProto | null)?.type)?.shape ?? null;

/** What `first` says, with `second` where it says nothing. */
export function mergeTypes(first: TensorType | null, second: TensorType | null): TensorType | null {
  if (!first || !second) return first ?? second;
  return { dtype: first.dtype ?? second.dtype, shape: mergeShapes(first.shape, second.shape, (a, b) => a ?? b) };
}

function mergeShapes(first: Shape | null, second: Shape | null, merge: (a: Dim, b: Dim) => Dim): Shape | null {
  if (!first || !second) return first ?? second;
  return first.length === second.length ? first.map((dim, i) => merge(dim, second[i]!)) : first;
}

/** A description of a value; the one it came with when that still says the same. */
export function infoToProto(name: string, type: TensorType | null, original: ValueInfoProto | null): ValueInfoProto {
  const stands = original && (type === null || sameType(typeFromProto(original.type), type));
  if (stands) return cloneMessage(original, { name });
  // A tensor type without an element type is none: readers refuse it.
  return cloneMessage(original ?? {}, { name, type: type?.dtype ? typeToProto(type, original?.type) : original?.type });
}

/**
 * The description of a graph output. What the graph promised stands (names of free sizes
 * are public); where a size has become known, it is said.
 */
export function outputToProto(name: string, type: TensorType | null, promised: ValueInfoProto | null): ValueInfoProto {
  const before = typeFromProto(promised?.type);
  if (!type || !before) return infoToProto(name, type, promised);
  const known = (now: Dim, then: Dim): Dim => (typeof now === "number" ? now : (then ?? now));
  return infoToProto(
    name,
    { dtype: type.dtype ?? before.dtype, shape: mergeShapes(type.shape, before.shape, known) },
    promised,
  );
}

function typeToProto(type: TensorType, original: TypeProto | undefined): TypeProto {
  const dims = original?.tensor_type?.shape?.dim ?? [];
  const shape = type.shape?.map((dim, i) => {
    const denotation = dims.length === type.shape!.length ? dims[i]!.denotation : undefined;
    return { ...dimToProto(dim), ...(denotation && { denotation }) };
  });
  return {
    tensor_type: {
      ...(type.dtype && { elem_type: dtypeCode(type.dtype) }),
      ...(shape && { shape: { dim: shape } }),
    },
    ...(original?.denotation && { denotation: original.denotation }),
  };
}

function dimToProto(dim: Dim): DimensionProto {
  if (typeof dim === "number") return { dim_value: bigintToLong(BigInt(dim)) };
  return dim === null ? {} : { dim_param: dim };
}

function sameType(a: TensorType | null, b: TensorType | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.dtype !== b.dtype || (a.shape === null) !== (b.shape === null)) return false;
  return a.shape === null || (a.shape.length === b.shape!.length && a.shape.every((dim, i) => dim === b.shape![i]));
}

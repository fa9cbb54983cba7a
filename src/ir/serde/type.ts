import {
  bigintToLong,
  type DimensionProto,
  hasField,
  longToBigint,
  type TypeProto,
  type ValueInfoProto,
} from "../../onnx/index.js";
import { dtypeCode, dtypeOfCode } from "../dtype.js";
import type { Dim } from "../shape.js";
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

/** A description of a value; the one it came with when that still says the same. */
export function infoToProto(name: string, type: TensorType | null, original: ValueInfoProto | null): ValueInfoProto {
  if (original && (type === null || sameType(typeFromProto(original.type), type))) {
    const copy: ValueInfoProto = { ...original, name };
    if (original.$unknowns) Object.defineProperty(copy, "$unknowns", { value: original.$unknowns, enumerable: false });
    return copy;
  }
  return { ...(original && { doc_string: original.doc_string ?? "" }), name, ...(type && { type: typeToProto(type) }) };
}

function typeToProto(type: TensorType): TypeProto {
  return {
    tensor_type: {
      ...(type.dtype && { elem_type: dtypeCode(type.dtype) }),
      ...(type.shape && { shape: { dim: type.shape.map(dimToProto) } }),
    },
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

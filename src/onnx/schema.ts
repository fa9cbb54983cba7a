/**
 * The messages of ONNX as a table of their fields (onnx.proto, IR version 13).
 *
 * Only the fields that the house reads are named. Whatever a file holds beyond
 * them (training info, device configurations, sequence and map types, fields of
 * later versions) is kept as raw bytes and written back.
 *
 * Two liberties are taken with the table, both without effect on the wire:
 * - enums are plain int32, so that values unknown today survive;
 * - the packed arrays of TensorProto are `repeated bytes` (the wire type is the
 *   same), so that a large array stays a view on the file instead of a list of boxes.
 */
import type { FilePlace } from "../base/file-state.js";
import { decodeMessage, encodeMessage, type FieldSpec, type Long64, messageTypes } from "./wire-format.js";

export type { Long64 } from "./wire-format.js";

export interface StringEntry {
  key?: string;
  value?: string;
}

/** Where the bytes of a tensor lie: in memory, or in a range of a file that is read on demand. */
export interface ByteSource {
  readonly byteLength: number;
  /** All bytes. The result may be a view on memory shared with others: do not write. */
  read(): Uint8Array;
  /** The bytes in pieces of bounded size, for copying without holding the whole; each is good until the next is asked for. */
  chunks(chunkBytes?: number): Iterable<Uint8Array>;
  /** The file range, when there is one. */
  readonly file?: FilePlace;
}

export interface TensorProto {
  dims?: Long64[];
  data_type?: number;
  segment?: object;
  float_data?: Uint8Array[];
  int32_data?: Uint8Array[];
  string_data?: Uint8Array[];
  int64_data?: Uint8Array[];
  name?: string;
  doc_string?: string;
  raw_data?: Uint8Array;
  external_data?: StringEntry[];
  data_location?: number;
  double_data?: Uint8Array[];
  uint64_data?: Uint8Array[];
  metadata_props?: StringEntry[];
  /** Never on the wire: one more than an index into WireModel.ranges, 0 for none; set while reading (see scan-model.ts). */
  range?: number;
  /** Never on the wire: the bytes to write instead of `raw_data` (see write-model.ts). */
  source?: ByteSource;
  $unknowns?: Uint8Array[];
}

export interface SparseTensorProto {
  values?: TensorProto;
  indices?: TensorProto;
  dims?: Long64[];
  $unknowns?: Uint8Array[];
}

export interface DimensionProto {
  dim_value?: Long64;
  dim_param?: string;
  denotation?: string;
}

export interface TypeProto {
  tensor_type?: { elem_type?: number; shape?: { dim?: DimensionProto[] } };
  denotation?: string;
  $unknowns?: Uint8Array[];
}

export interface ValueInfoProto {
  name?: string;
  type?: TypeProto;
  doc_string?: string;
  metadata_props?: StringEntry[];
  $unknowns?: Uint8Array[];
}

export interface AttributeProto {
  name?: string;
  ref_attr_name?: string;
  doc_string?: string;
  type?: number;
  f?: number;
  i?: Long64;
  s?: Uint8Array;
  t?: TensorProto;
  g?: GraphProto;
  sparse_tensor?: SparseTensorProto;
  tp?: TypeProto;
  floats?: number[];
  ints?: Long64[];
  strings?: Uint8Array[];
  tensors?: TensorProto[];
  graphs?: GraphProto[];
  sparse_tensors?: SparseTensorProto[];
  type_protos?: TypeProto[];
  $unknowns?: Uint8Array[];
}

export interface NodeProto {
  input?: string[];
  output?: string[];
  name?: string;
  op_type?: string;
  domain?: string;
  overload?: string;
  attribute?: AttributeProto[];
  doc_string?: string;
  metadata_props?: StringEntry[];
  $unknowns?: Uint8Array[];
}

export interface TensorAnnotation {
  tensor_name?: string;
  quant_parameter_tensor_names?: StringEntry[];
}

export interface GraphProto {
  node?: NodeProto[];
  name?: string;
  initializer?: TensorProto[];
  sparse_initializer?: SparseTensorProto[];
  doc_string?: string;
  input?: ValueInfoProto[];
  output?: ValueInfoProto[];
  value_info?: ValueInfoProto[];
  quantization_annotation?: TensorAnnotation[];
  metadata_props?: StringEntry[];
  $unknowns?: Uint8Array[];
}

export interface FunctionProto {
  name?: string;
  domain?: string;
  overload?: string;
  input?: string[];
  output?: string[];
  attribute?: string[];
  attribute_proto?: AttributeProto[];
  node?: NodeProto[];
  doc_string?: string;
  opset_import?: OperatorSetId[];
  value_info?: ValueInfoProto[];
  metadata_props?: StringEntry[];
}

export interface OperatorSetId {
  domain?: string;
  version?: Long64;
  $unknowns?: Uint8Array[];
}

export interface ModelProto {
  ir_version?: Long64;
  opset_import?: OperatorSetId[];
  producer_name?: string;
  producer_version?: string;
  domain?: string;
  model_version?: Long64;
  doc_string?: string;
  graph?: GraphProto;
  metadata_props?: StringEntry[];
  functions?: FunctionProto[];
  $unknowns?: Uint8Array[];
}

/** The field number that stands for a tensor's bytes left on disk; outside what ONNX may ever use. */
export const RANGE_FIELD = 536_870_911;

const messages: Record<string, Record<string, FieldSpec>> = {
  StringStringEntryProto: { key: [1, "string"], value: [2, "string"] },
  TensorProto: {
    dims: [1, "int64", "repeated"],
    data_type: [2, "int32"],
    segment: [3, "Segment"],
    float_data: [4, "bytes", "repeated"],
    int32_data: [5, "bytes", "repeated"],
    string_data: [6, "bytes", "repeated"],
    int64_data: [7, "bytes", "repeated"],
    name: [8, "string"],
    raw_data: [9, "bytes"],
    double_data: [10, "bytes", "repeated"],
    uint64_data: [11, "bytes", "repeated"],
    doc_string: [12, "string"],
    external_data: [13, "StringStringEntryProto", "repeated"],
    data_location: [14, "int32"],
    metadata_props: [16, "StringStringEntryProto", "repeated"],
    range: [RANGE_FIELD, "uint32"],
  },
  Segment: { begin: [1, "int64"], end: [2, "int64"] },
  SparseTensorProto: { values: [1, "TensorProto"], indices: [2, "TensorProto"], dims: [3, "int64", "repeated"] },
  Dimension: { dim_value: [1, "int64"], dim_param: [2, "string"], denotation: [3, "string"] },
  TensorShapeProto: { dim: [1, "Dimension", "repeated"] },
  TensorTypeProto: { elem_type: [1, "int32"], shape: [2, "TensorShapeProto"] },
  TypeProto: { tensor_type: [1, "TensorTypeProto"], denotation: [6, "string"] },
  ValueInfoProto: {
    name: [1, "string"],
    type: [2, "TypeProto"],
    doc_string: [3, "string"],
    metadata_props: [4, "StringStringEntryProto", "repeated"],
  },
  AttributeProto: {
    name: [1, "string"],
    f: [2, "float"],
    i: [3, "int64"],
    s: [4, "bytes"],
    t: [5, "TensorProto"],
    g: [6, "GraphProto"],
    floats: [7, "float", "repeated"],
    ints: [8, "int64", "repeated"],
    strings: [9, "bytes", "repeated"],
    tensors: [10, "TensorProto", "repeated"],
    graphs: [11, "GraphProto", "repeated"],
    doc_string: [13, "string"],
    tp: [14, "TypeProto"],
    type_protos: [15, "TypeProto", "repeated"],
    type: [20, "int32"],
    ref_attr_name: [21, "string"],
    sparse_tensor: [22, "SparseTensorProto"],
    sparse_tensors: [23, "SparseTensorProto", "repeated"],
  },
  NodeProto: {
    input: [1, "string", "repeated"],
    output: [2, "string", "repeated"],
    name: [3, "string"],
    op_type: [4, "string"],
    attribute: [5, "AttributeProto", "repeated"],
    doc_string: [6, "string"],
    domain: [7, "string"],
    overload: [8, "string"],
    metadata_props: [9, "StringStringEntryProto", "repeated"],
  },
  TensorAnnotation: {
    tensor_name: [1, "string"],
    quant_parameter_tensor_names: [2, "StringStringEntryProto", "repeated"],
  },
  GraphProto: {
    node: [1, "NodeProto", "repeated"],
    name: [2, "string"],
    initializer: [5, "TensorProto", "repeated"],
    doc_string: [10, "string"],
    input: [11, "ValueInfoProto", "repeated"],
    output: [12, "ValueInfoProto", "repeated"],
    value_info: [13, "ValueInfoProto", "repeated"],
    quantization_annotation: [14, "TensorAnnotation", "repeated"],
    sparse_initializer: [15, "SparseTensorProto", "repeated"],
    metadata_props: [16, "StringStringEntryProto", "repeated"],
  },
  FunctionProto: {
    name: [1, "string"],
    input: [4, "string", "repeated"],
    output: [5, "string", "repeated"],
    attribute: [6, "string", "repeated"],
    node: [7, "NodeProto", "repeated"],
    doc_string: [8, "string"],
    opset_import: [9, "OperatorSetIdProto", "repeated"],
    domain: [10, "string"],
    attribute_proto: [11, "AttributeProto", "repeated"],
    value_info: [12, "ValueInfoProto", "repeated"],
    overload: [13, "string"],
    metadata_props: [14, "StringStringEntryProto", "repeated"],
  },
  OperatorSetIdProto: { domain: [1, "string"], version: [2, "int64"] },
  ModelProto: {
    ir_version: [1, "int64"],
    producer_name: [2, "string"],
    producer_version: [3, "string"],
    domain: [4, "string"],
    model_version: [5, "int64"],
    doc_string: [6, "string"],
    graph: [7, "GraphProto"],
    opset_import: [8, "OperatorSetIdProto", "repeated"],
    metadata_props: [14, "StringStringEntryProto", "repeated"],
    functions: [25, "FunctionProto", "repeated"],
  },
};

const types = messageTypes(messages);

const decodeAs =
  <T>(type: string) =>
  (bytes: Uint8Array): T =>
    decodeMessage(types.get(type)!, bytes) as T;

/** Decodes a message; bytes fields are views on `bytes`. Throws an Error for bytes that are none. */
export const decodeModel = decodeAs<ModelProto>("ModelProto");
export const decodeTensor = decodeAs<TensorProto>("TensorProto");

const encodeAs =
  <T extends object>(type: string) =>
  (message: T): Uint8Array =>
    encodeMessage(types.get(type)!, message);

export const encodeModel = encodeAs<ModelProto>("ModelProto");
export const encodeGraph = encodeAs<GraphProto>("GraphProto");
export const encodeTensor = encodeAs<TensorProto>("TensorProto");

/** Whether a message carries a field, be it with a value that is also its default. */
export const hasField = <T extends object>(message: T, field: keyof T): boolean =>
  Object.hasOwn(message, field) && message[field] !== undefined;

/** 64-bit integer from the wire, exact. */
export function longToBigint(value: Long64 | number): bigint {
  if (typeof value === "number") return BigInt(value);
  return (BigInt(value.high) << 32n) | BigInt(value.low >>> 0);
}

/** The wire form of a 64-bit integer; values are taken modulo 2^64. */
export function bigintToLong(value: bigint): Long64 {
  const wrapped = BigInt.asIntN(64, value);
  return { low: Number(BigInt.asIntN(32, wrapped)), high: Number(BigInt.asIntN(32, wrapped >> 32n)), unsigned: false };
}

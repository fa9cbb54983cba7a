/** TensorProto and Tensor, both ways. Typed fields become packed bytes, so a dtype is decoded in one way only. */
import { InferOptError } from "../../base/errors.js";
import {
  type ByteSource,
  bigintToLong,
  externalSource,
  fileSource,
  hasField,
  isExternal,
  longToBigint,
  memorySource,
  type TensorProto,
  type WireModel,
} from "../../onnx/index.js";
import { bitsOf, type DType, dtypeCode, dtypeOfCode, packedBytes } from "../dtype.js";
import { elementCount } from "../shape.js";
import { Tensor } from "../tensor.js";

/** What a tensor's bytes may depend on: the file that it came from. */
export type TensorHome = Pick<WireModel, "path" | "ranges" | "state">;

/** Throws TENSOR_TYPE, TENSOR_SIZE or one of the EXTERNAL_DATA codes, naming the tensor. */
export function tensorFromProto(proto: TensorProto, home: TensorHome): Tensor {
  const dtype = dtypeOfCode(proto.data_type ?? 0);
  const name = proto.name ?? "";
  if (!dtype) {
    throw new InferOptError(
      "TENSOR_TYPE",
      "input",
      `tensor "${name}" has data type ${proto.data_type ?? 0}, which ONNX does not define`,
      {
        hint: "The file is damaged or newer than this tool.",
        fields: { tensor: name, dataType: proto.data_type },
      },
    );
  }
  const dims = (proto.dims ?? []).map((dim) => Number(longToBigint(dim)));
  const count = elementCount(dims);
  if (!Number.isSafeInteger(count) || dims.some((dim) => dim < 0)) {
    throw sizeError(name, dtype, dims, "has no valid number of elements");
  }
  const extras = extrasOf(proto);
  if (dtype === "string") {
    const texts = proto.string_data ?? [];
    if (texts.length !== count) throw sizeError(name, dtype, dims, `holds ${texts.length} strings`);
    return Tensor.strings(dims, texts, extras);
  }
  const expected = packedBytes(dtype, count);
  const source = sourceOf(proto, dtype, count, expected, home);
  if (source.byteLength !== expected) {
    throw sizeError(name, dtype, dims, `holds ${source.byteLength} bytes instead of ${expected}`);
  }
  return Tensor.fromSource(dtype, dims, source, extras);
}

function sourceOf(proto: TensorProto, dtype: DType, count: number, expected: number, home: TensorHome): ByteSource {
  // Set on what was carried through unread, and on nothing that a file can say.
  if (proto.source) return proto.source;
  if (isExternal(proto)) return externalSource(home, proto, expected);
  if (proto.range) return rangeSource(proto, home);
  // A field that is present but empty counts as absent when elements are wanted: some writers set both.
  if (hasField(proto, "raw_data") && (proto.raw_data!.length > 0 || count === 0)) return memorySource(proto.raw_data!);
  return memorySource(fromTypedField(proto, dtype, count));
}

/** What the scanner left in the file. Throws MODEL_CORRUPT for a number that a file brought along itself. */
function rangeSource(proto: TensorProto, home: TensorHome): ByteSource {
  const range = home.ranges[proto.range! - 1];
  if (range) return fileSource(home.path, range.offset, range.length, home.state);
  throw new InferOptError(
    "MODEL_CORRUPT",
    "input",
    `tensor "${proto.name ?? ""}" has a field that ONNX does not define`,
    {
      hint: "The file is damaged: export or download it again.",
      fields: { tensor: proto.name ?? "" },
    },
  );
}

/** Which typed field holds a dtype, by onnx.proto: int32_data also carries every integer and float of up to 16 bits. */
function fromTypedField(proto: TensorProto, dtype: DType, count: number): Uint8Array {
  switch (dtype) {
    case "f32":
    case "c64":
      return concatenate(proto.float_data ?? []);
    case "f64":
    case "c128":
      return concatenate(proto.double_data ?? []);
    case "i64":
      return packVarints(concatenate(proto.int64_data ?? []), 64);
    case "u32":
    case "u64":
      return packVarints(concatenate(proto.uint64_data ?? []), bitsOf(dtype));
    default: {
      const bits = bitsOf(dtype);
      const packed = packVarints(concatenate(proto.int32_data ?? []), Math.max(bits, 8));
      // Elements of 4 or 2 bits are stored packed, several to an int32 entry's low byte.
      return bits < 8 ? packed.subarray(0, packedBytes(dtype, count)) : packed;
    }
  }
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : new Uint8Array(Buffer.concat(pieces));
}

/** Decodes packed varints to little-endian integers of `bits` bits each. */
function packVarints(bytes: Uint8Array, bits: number): Uint8Array {
  const width = bits / 8;
  let count = 0;
  for (const byte of bytes) if (byte < 0x80) count++;
  const out = new Uint8Array(count * width);
  const view = new DataView(out.buffer);
  let at = 0;
  for (let i = 0; i < count; i++) {
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      const part = byte & 0x7f;
      // Bits from 64 on are dropped, as protobuf does. JavaScript shifts by the amount modulo 32.
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high = part >>> 4;
      } else if (shift < 64) high |= part << (shift - 32);
      if (byte < 0x80) break;
    }
    const offset = i * width;
    if (width === 1) view.setInt8(offset, low);
    else if (width === 2) view.setInt16(offset, low, true);
    else view.setInt32(offset, low, true);
    if (width === 8) view.setInt32(offset + 4, high, true);
  }
  return out;
}

/**
 * Makes a tensor that is carried through unread independent of the file's layout:
 * its bytes become a source for the writer. Parts of sparse tensors may lack dims
 * that match, so nothing is checked beyond what reading needs.
 */
export function settleTensor(proto: TensorProto | undefined, home: TensorHome): void {
  if (!proto || (!proto.range && !isExternal(proto))) return;
  if (proto.range) {
    proto.source = rangeSource(proto, home);
    delete proto.range;
  } else {
    proto.source = externalSource(home, proto, null);
    delete proto.external_data;
    delete proto.data_location;
  }
}

/** What the wire holds besides type, dims and data. The name matters where no value gives one: in attributes. */
function extrasOf(proto: TensorProto): object | null {
  const { name, doc_string, metadata_props, segment, $unknowns } = proto;
  const extras = {
    ...(name && { name }),
    ...(doc_string && { doc_string }),
    ...(metadata_props?.length && { metadata_props }),
    ...(segment && { segment }),
  };
  if ($unknowns) Object.defineProperty(extras, "$unknowns", { value: $unknowns, enumerable: false });
  return $unknowns || Object.keys(extras).length > 0 ? extras : null;
}

/** The bytes stay where they are: the writer streams them from `source`. `name` null keeps the one that it was read with. */
export function tensorToProto(tensor: Tensor, name: string | null): TensorProto {
  const proto: TensorProto = {
    ...(tensor.extras as TensorProto | null),
    dims: tensor.dims.map((dim) => bigintToLong(BigInt(dim))),
    data_type: dtypeCode(tensor.dtype),
    ...(name !== null && { name }),
  };
  const unknowns = (tensor.extras as TensorProto | null)?.$unknowns;
  if (unknowns) Object.defineProperty(proto, "$unknowns", { value: unknowns, enumerable: false });
  if (tensor.dtype === "string") proto.string_data = [...tensor.utf8()];
  else proto.source = tensor.byteSource;
  return proto;
}

const sizeError = (name: string, dtype: DType, dims: readonly number[], what: string): InferOptError =>
  new InferOptError("TENSOR_SIZE", "input", `tensor "${name}" of type ${dtype} and shape [${dims.join(",")}] ${what}`, {
    hint: "The file is damaged: export or download it again.",
    fields: { tensor: name, dims },
  });

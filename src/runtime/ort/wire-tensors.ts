/** Tensors as plain data for the way between processes. */
import { type DType, Tensor } from "../../ir/index.js";
import type { Tensors } from "../port.js";

export interface WireTensor {
  readonly dtype: DType;
  readonly dims: readonly number[];
  /** Packed little-endian bytes, or UTF-8 texts for dtype string. */
  readonly content: Uint8Array | readonly Uint8Array[];
}

export type WireTensors = ReadonlyMap<string, WireTensor>;

export function toWireTensors(tensors: Tensors): WireTensors {
  return new Map(
    Array.from(tensors, ([name, tensor]) => {
      const { dtype, dims } = tensor;
      return [name, { dtype, dims, content: dtype === "string" ? tensor.utf8() : tensor.bytes() }];
    }),
  );
}

export function fromWireTensors(wire: WireTensors): Tensors {
  return new Map(
    Array.from(wire, ([name, { dtype, dims, content }]) => [
      name,
      content instanceof Uint8Array ? Tensor.fromBytes(dtype, dims, content) : Tensor.strings(dims, content),
    ]),
  );
}

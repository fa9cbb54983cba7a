/** The bytes of `input_*.pb` and `output_*.pb`. */
import { bigintToLong, encodeTensor } from "../../src/onnx/index.js";

/** `name` "" leaves it out; one axis where no dims are given. */
export const f32Proto = (
  name: string,
  values: readonly number[],
  dims: readonly number[] = [values.length],
): Uint8Array =>
  encodeTensor({
    ...(name && { name }),
    dims: dims.map((dim) => bigintToLong(BigInt(dim))),
    data_type: 1,
    raw_data: new Uint8Array(Float32Array.from(values).buffer),
  });

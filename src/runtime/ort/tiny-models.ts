/** Models of a few hundred bytes, made in code: to find out whether a runtime or a provider works at all. */
import { bigintToLong, encodeModel, type NodeProto, type TensorProto } from "../../onnx/index.js";

const F32 = 1;
const U8 = 2;
const I8 = 3;

const long = (value: number) => bigintToLong(BigInt(value));

/** What `tinyModel` and `tinyInt8Model` take as "x" (f32 [1,4]) and must answer as "y" (f32 [1,2]). */
export const tinyInput: readonly number[] = [1, -2, 3, 0.5];
export const tinyAnswer: readonly number[] = [4, -4.5];

/** Columns of the weight, [4,2] row by row; all multiples of 1/2, so that int8 holds them too. */
const weight = [1, 0.5, 0, 2, 1, -0.5, 0, 1];

/** y = x * W in float32. */
export function tinyModel(): Uint8Array {
  return encode([node("MatMul", ["x", "w"], "y")], [tensor("w", F32, [4, 2], new Float32Array(weight))]);
}

/** The same with activations in uint8 and weights in int8, as QuantizeLinear and DequantizeLinear pairs. Exact: all steps are 1/2. */
export function tinyInt8Model(): Uint8Array {
  return encode(
    [
      node("QuantizeLinear", ["x", "step", "zero"], "xq"),
      node("DequantizeLinear", ["xq", "step", "zero"], "xd"),
      node("DequantizeLinear", ["wq", "step", "wzero"], "wd"),
      node("MatMul", ["xd", "wd"], "m"),
      node("QuantizeLinear", ["m", "step", "zero"], "mq"),
      node("DequantizeLinear", ["mq", "step", "zero"], "y"),
    ],
    [
      tensor("step", F32, [], new Float32Array([0.5])),
      tensor("zero", U8, [], new Uint8Array([128])),
      tensor("wzero", I8, [], new Int8Array([0])),
      tensor(
        "wq",
        I8,
        [4, 2],
        Int8Array.from(weight, (value) => value * 2),
      ),
    ],
  );
}

function encode(nodes: NodeProto[], initializer: TensorProto[]): Uint8Array {
  const port = (name: string, columns: number) => ({
    name,
    type: { tensor_type: { elem_type: F32, shape: { dim: [{ dim_value: long(1) }, { dim_value: long(columns) }] } } },
  });
  return encodeModel({
    ir_version: long(8),
    opset_import: [{ domain: "", version: long(13) }],
    graph: { name: "tiny", node: nodes, initializer, input: [port("x", 4)], output: [port("y", 2)] },
  });
}

const node = (opType: string, input: string[], output: string): NodeProto => ({
  op_type: opType,
  name: output,
  input,
  output: [output],
});

function tensor(name: string, type: number, dims: number[], values: ArrayBufferView): TensorProto {
  const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, data_type: type, dims: dims.map(long), raw_data: raw };
}

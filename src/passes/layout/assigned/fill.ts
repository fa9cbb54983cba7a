/** Tensors all of whose elements are the same. */
import { type DType, Tensor, type Value } from "../../../ir/index.js";

/** What ONNX Runtime's Pad takes on the CPU. */
const paddable: ReadonlySet<DType> = new Set(["bool", "f32", "f64", "i32", "i64", "i8", "u8"]);

/** The element, as a scalar; null where there are several, or nothing can be padded with it. */
export function fillOf({ constant, producer }: Value): Tensor | null {
  if (constant) return onlyElement(constant);
  if (producer?.domain !== "") return null;
  if (movers.has(producer.op)) return fillOf(producer.inputs[0]!);
  if (producer.op !== "ConstantOfShape") return null;
  const value = producer.attributes.get("value");
  return value?.type === "tensor" ? onlyElement(value.value) : value ? null : Tensor.f32([], [0]);
}

/** Their results are made of elements of their first input. */
const movers = new Set(["Expand", "Flatten", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"]);

/** By its bytes: the sign of a zero counts. */
function onlyElement(tensor: Tensor): Tensor | null {
  const { dtype, elementCount } = tensor;
  if (elementCount === 0 || !paddable.has(dtype)) return null;
  const bytes = tensor.bytes();
  const size = bytes.byteLength / elementCount;
  for (let at = size; at < bytes.byteLength; at++) if (bytes[at] !== bytes[at - size]) return null;
  return Tensor.fromBytes(dtype, [], bytes.slice(0, size));
}

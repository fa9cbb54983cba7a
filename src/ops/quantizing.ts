import { type DType, isFloat, type Node } from "../ir/index.js";

/** Operators that quantize, widen or compute on integers, each with the form of quantization that it speaks of. */

export type QuantizedForm = "qdq" | "integer-operators" | "weights-only";

const forms: Readonly<Record<string, QuantizedForm>> = {
  QuantizeLinear: "qdq",
  DequantizeLinear: "weights-only",
  DynamicQuantizeLinear: "integer-operators",
  QLinearConv: "integer-operators",
  QLinearMatMul: "integer-operators",
  MatMulInteger: "integer-operators",
  ConvInteger: "integer-operators",
  "com.microsoft::QuantizeLinear": "qdq",
  "com.microsoft::DequantizeLinear": "weights-only",
  "com.microsoft::DynamicQuantizeLSTM": "integer-operators",
  "com.microsoft::DynamicQuantizeMatMul": "integer-operators",
  "com.microsoft::MatMulInteger16": "integer-operators",
  "com.microsoft::MatMulIntegerToFloat": "integer-operators",
  "com.microsoft::GatherBlockQuantized": "weights-only",
  "com.microsoft::MatMulBnb4": "weights-only",
  "com.microsoft::MatMulNBits": "weights-only",
};

/**
 * Null for an operator that knows nothing of quantization. `opName` holds the domain, as `Node.opName`
 * does. A DequantizeLinear alone widens weights; beside a QuantizeLinear it is half of a pair.
 */
export function quantizedFormOf(opName: string): QuantizedForm | null {
  if (Object.hasOwn(forms, opName)) return forms[opName]!;
  // QLinearAdd, QGemm, QAttention and their like; not QuickGelu.
  return /^com\.microsoft::Q[A-Z]/.test(opName) ? "integer-operators" : null;
}

/** Fewer elements are a table of something, or a lone number: not worth keeping small. */
const SMALLEST_WEIGHT = 1024;

const integerWeights = new Set<DType>(["i8", "u8", "i16", "u16"]);

/** Whether a node widens weights that are stored as integers of 8 or 16 bits: a Cast, with a Mul by their scales behind it. */
export function widensWeights(node: Node): boolean {
  const tensor = node.is("Cast") ? node.inputs[0]?.constant : null;
  if (!tensor || !integerWeights.has(tensor.dtype)) return false;
  return tensor.dims.length >= 2 && tensor.elementCount >= SMALLEST_WEIGHT && isFloat(node.output.dtype ?? "f32");
}

/** Which nodes of a quantized model hold weights that can saturate where sums of two products have 16 bits (pair-sums.ts). */
import { type Model, type Node, nodesWithin, type Tensor } from "../ir/index.js";
import { addsPairs, saturableChannels } from "./pair-sums.js";

/** Where integer operators have their weights. */
const weightSlots: Readonly<Record<string, readonly number[]>> = {
  QLinearConv: [3],
  QLinearMatMul: [3],
  MatMulInteger: [1],
  ConvInteger: [1],
  "com.microsoft::QGemm": [3],
  "com.microsoft::MatMulIntegerToFloat": [1],
  "com.microsoft::DynamicQuantizeMatMul": [1],
  "com.microsoft::DynamicQuantizeLSTM": [1, 2],
};

/** Names, in the order of the graph. Weights of unsigned integers, and those widened before float arithmetic, cannot. */
export function saturableNodes(model: Model): readonly string[] {
  return [...nodesWithin(model.graph)]
    .filter((node) => integerWeights(node).some((weight) => isSaturable(node, weight)))
    .map(({ displayName }) => displayName);
}

function isSaturable(node: Node, weight: Tensor): boolean {
  if (weight.dtype !== "i8" || !addsPairs(node, weight.dims)) return false;
  const { buffer, byteOffset, byteLength } = weight.bytes();
  const integers = new Int8Array(buffer, byteOffset, byteLength);
  const isConv = node.op.includes("Conv");
  if (node.op.endsWith("LSTM")) return anyMatrix(integers, weight.dims);
  if (weight.dims.length !== 2 && !isConv) return false;
  const isTurned = isConv || (node.op.endsWith("Gemm") && node.int("transB", 0) !== 0);
  return saturableChannels(integers, { dims: weight.dims, axis: isTurned ? 0 : 1 }) > 0;
}

/** One matrix per direction. */
function anyMatrix(integers: Int8Array, [directions = 0, rows = 0, columns = 0]: readonly number[]): boolean {
  const size = rows * columns;
  return Array.from({ length: directions }, (_, d) => integers.subarray(d * size, (d + 1) * size)).some(
    (matrix) => saturableChannels(matrix, { dims: [rows, columns], axis: 1 }) > 0,
  );
}

function integerWeights(node: Node): readonly Tensor[] {
  const slots = Object.hasOwn(weightSlots, node.opName) ? weightSlots[node.opName]! : null;
  if (slots) return slots.flatMap((slot) => node.inputs[slot]?.constant ?? []);
  if (!node.is("Conv") && !node.is("MatMul") && !node.is("Gemm")) return [];
  const [activation, weight] = node.inputs.map((value) => value?.producer);
  const isPaired = activation?.op === "DequantizeLinear" && weight?.op === "DequantizeLinear";
  const tensor = isPaired ? weight.inputs[0]?.constant : null;
  return tensor ? [tensor] : [];
}

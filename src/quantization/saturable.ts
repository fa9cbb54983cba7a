/** Which nodes of a quantized model hold weights that can saturate where sums of two products have 16 bits (pair-sums.ts). */
import { type Model, type Node, nodesWithin, type Tensor } from "../ir/index.js";
import { addsPairs, saturableChannels } from "./pair-sums.js";

/** Where integer operators have their weights. */
const weightSlots: Readonly<Record<string, number>> = {
  QLinearConv: 3,
  QLinearMatMul: 3,
  MatMulInteger: 1,
  ConvInteger: 1,
  "com.microsoft::QGemm": 3,
  "com.microsoft::MatMulIntegerToFloat": 1,
  "com.microsoft::DynamicQuantizeMatMul": 1,
};

/** Names, in the order of the graph. Weights of unsigned integers, and those widened before float arithmetic, cannot. */
export function saturableNodes(model: Model): readonly string[] {
  return [...nodesWithin(model.graph)]
    .filter((node) => {
      const weight = integerWeight(node);
      if (weight?.dtype !== "i8" || !addsPairs(node, weight.dims)) return false;
      const isMatrix = weight.dims.length === 2;
      if (!isMatrix && !node.op.includes("Conv")) return false;
      const isTurned = node.op.includes("Conv") || (node.op.endsWith("Gemm") && node.int("transB", 0) !== 0);
      const { buffer, byteOffset, byteLength } = weight.bytes();
      const integers = new Int8Array(buffer, byteOffset, byteLength);
      return saturableChannels(integers, { dims: weight.dims, axis: isTurned ? 0 : 1 }) > 0;
    })
    .map(({ displayName }) => displayName);
}

function integerWeight(node: Node): Tensor | null {
  const slot = Object.hasOwn(weightSlots, node.opName) ? weightSlots[node.opName]! : null;
  if (slot !== null) return node.inputs[slot]?.constant ?? null;
  if (!node.is("Conv") && !node.is("MatMul") && !node.is("Gemm")) return null;
  const [activation, weight] = node.inputs.map((value) => value?.producer);
  const isPaired = activation?.op === "DequantizeLinear" && weight?.op === "DequantizeLinear";
  return isPaired ? (weight.inputs[0]?.constant ?? null) : null;
}

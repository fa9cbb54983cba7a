/**
 * A product that stays float between integers:
 *
 *   DQ -> Conv(W) -> [Relu] -> Q
 *
 * From 1.22 on ONNX Runtime rounds its weights to 8 bits when it loads the model, all with one scale
 * (WeightBiasQuantization, onnxruntime pull requests 22969 and 24537), where the DequantizeLinear has one scale: what was
 * left in float for its accuracy is less accurate than as integers, and with a Relu behind it the weights are widened in every run.
 * With the same scale once for each channel it leaves the product alone.
 */
import { attr, type Graph, type Node, Tensor, type Value } from "../ir/index.js";
import { isQuantizedBehind } from "../target/quantized-behind.js";

const rounded = new Set(["Conv", "ConvTranspose", "Gemm"]);

/** Of all that a graph has, once pairs are written. */
export function keepProductsFloat(graph: Graph): void {
  for (const node of [...graph.nodes()]) {
    if (node.domain !== "" || !rounded.has(node.op) || !isQuantizedBehind(node.output)) continue;
    const weight = node.inputs[1];
    // Others have a DequantizeLinear.
    if (!weight || weight.producer?.is("DequantizeLinear") || weight.dtype !== "f32") continue;
    const dequantize = node.inputs[0]?.producer;
    const channels = channelsRead(node, weight);
    if (dequantize?.is("DequantizeLinear") && channels) spreadScale(node, dequantize, channels);
  }
}

/** On axis 1; null where it is not known, or there is none. */
function channelsRead(node: Node, { shape }: Value): number | null {
  const [first, second] = shape ?? [];
  if (typeof first !== "number" || typeof second !== "number") return null;
  if (node.is("Conv")) return second * node.int("group", 1);
  if (node.is("ConvTranspose")) return first;
  if (node.int("transA", 0) !== 0) return null;
  return node.int("transB", 0) !== 0 ? second : first;
}

function spreadScale(node: Node, dequantize: Node, channels: number): void {
  const { graph } = node;
  const [integers, scale, zeroPoint] = dequantize.inputs;
  const one = scale?.constant?.toF32();
  if (!integers || one?.length !== 1 || (zeroPoint && zeroPoint.constant?.elementCount !== 1)) return;
  const label = `${node.output.label}/input`;
  const inputs = [
    integers,
    graph.addConstant(`${label}/scale`, Tensor.f32([channels], new Float32Array(channels).fill(one[0]!))),
  ];
  if (zeroPoint) inputs.push(graph.addConstant(`${label}/zero_point`, repeated(zeroPoint.constant!, channels)));
  const { output } = dequantize;
  const spread = graph.addNode(
    {
      op: "DequantizeLinear",
      name: `${node.name}/input/DequantizeLinear`,
      inputs,
      attributes: { axis: attr.int(1) },
      outputs: [{ label, type: output.type }],
      provenance: dequantize.provenance,
    },
    node,
  );
  graph.setInput(node, 0, spread.output);
  if (output.useCount === 0) graph.removeNode(dequantize);
}

function repeated(tensor: Tensor, count: number): Tensor {
  const bytes = tensor.bytes();
  const all = new Uint8Array(bytes.length * count);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return Tensor.fromBytes(tensor.dtype, [count], all);
}

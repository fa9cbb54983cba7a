/**
 * Integer kernels multiply whole fours of input channels, and gather what an image of three or one has beforehand. Where
 * that takes longer, the image gets channels that stand for zero, and the weights zeros for them. Added to
 * integers, behind Q, a channel takes a byte for each place:
 *
 *   x -> Q -> DQ -> Conv(DQ(w))  =>  x -> Q -> Pad -> DQ -> Conv(DQ([w 0]))
 */
import { filledUp, type Graph, type Node, Tensor, taken } from "../ir/index.js";

/** Makes a Conv that reads `own` channels of a pair read `depth`. */
export function padImage(graph: Graph, conv: Node, own: number, depth: number): void {
  const dequantize = conv.inputs[0]!.producer!;
  const [image, scale, zeroPoint] = dequantize.inputs;
  const { shape, dtype } = image!;
  const { name, provenance } = conv;
  const deeper = shape?.map((dim, axis) => (axis === 1 ? depth : dim)) ?? null;
  const pads = graph.addConstant(`${name}/pads`, Tensor.i64([8], [0, 0, 0, 0, 0, depth - own, 0, 0]));
  const pad = graph.addNode(
    {
      op: "Pad",
      name: `${name}/Pad`,
      inputs: [image!, pads, zeroPoint!],
      outputs: [{ label: `${name}/padded`, type: dtype && { dtype, shape: deeper } }],
      provenance,
    },
    conv,
  );
  const read = graph.addNode(
    {
      op: "DequantizeLinear",
      name: `${name}/Pad/DequantizeLinear`,
      inputs: [pad.output, scale!, zeroPoint!],
      outputs: [{ label: `${name}/padded/dequantized`, type: { dtype: "f32", shape: deeper } }],
      provenance,
    },
    conv,
  );
  graph.setInput(conv, 0, read.output);
}

/** Integer weights of a Conv with zeros for the channels that are added. */
export const withZeroChannels = (weight: Tensor, depth: number): Tensor =>
  taken(weight, 1, filledUp(weight.dims[1]!, depth, null));

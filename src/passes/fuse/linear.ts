/**
 * Conv, ConvTranspose, Gemm and MatMul seen alike: a constant weight in which every
 * element belongs to one output channel, and a bias per channel.
 */
import { aligned, elementCount, type Node, type Tensor, type Value } from "../../ir/index.js";
import { type ChannelOrder, inTurn } from "./channel-order.js";

export interface Linear {
  readonly node: Node;
  readonly weight: Value;
  readonly weightTensor: Tensor;
  /** Output channels. */
  readonly channels: number;
  /** Output channels of the elements of the weight. */
  readonly order: ChannelOrder;
  /** What is added per channel, [channels]; zeros without a bias. */
  readonly bias: Float64Array;
  readonly biasLabel: string;
  /** Rank of the output; null when unknown (then at least 2). */
  readonly outputRank: number | null;
  /** Which output axis the channels lie along, counted from the end: -1 is the last. */
  readonly channelAxis: number;
}

/** The linear node seen as such; a reason when it is one and cannot be read. */
export function linearOf(node: Node): Linear | string {
  const weight = node.inputs[1];
  const weightTensor = weight?.constant;
  if (!weight || !weightTensor) return "the weight is no constant";
  if (!hasFloats(weightTensor)) return `the weight is ${weightTensor.dtype}; only f32, f16 and f64 are read`;
  const layout = layoutOf(node, weightTensor.dims);
  if (typeof layout === "string") return layout;
  const bias = biasOf(node, layout.channels, weightTensor);
  if (typeof bias === "string") return bias;
  return {
    node,
    weight,
    weightTensor,
    ...layout,
    bias,
    biasLabel: node.inputs[2]?.label ?? `${weight.label}.bias`,
  };
}

/** Whether the elements of a tensor can be read by `floatsOf` and written back. */
const hasFloats = ({ dtype }: Tensor): boolean => dtype === "f32" || dtype === "f16" || dtype === "f64";

/** Elements of a weight whose type we can also write, without loss; null for others. Shared: do not write. */
export function floatsOf(tensor: Tensor): Float32Array | Float64Array | null {
  if (tensor.dtype === "f64") return aligned(Float64Array, tensor.bytes());
  return hasFloats(tensor) ? tensor.toF32() : null;
}

type Layout = Pick<Linear, "channels" | "order" | "outputRank" | "channelAxis">;

function layoutOf(node: Node, dims: readonly number[]): Layout | string {
  const volume = elementCount(dims.slice(2));
  switch (node.op) {
    case "Conv": {
      // [M, C/group, ...kernel] -> [N, M, ...]
      const [channels = 0, perGroup = 0] = dims;
      if (dims.length < 3) return "the weight of a Conv has at least rank 3";
      if (channels % node.int("group", 1) !== 0) return "the channels do not make whole groups";
      const order = inTurn(perGroup * volume, channels);
      return { channels, order, outputRank: dims.length, channelAxis: 1 - dims.length };
    }
    case "ConvTranspose": {
      // [C, M/group, ...kernel] -> [N, M, ...]
      const [inputs = 0, perGroup = 0] = dims;
      if (dims.length < 3) return "the weight of a ConvTranspose has at least rank 3";
      const group = node.int("group", 1);
      if (inputs % group !== 0) return "the channels do not make whole groups";
      const order = { run: volume, count: perGroup, block: (volume * perGroup * inputs) / group };
      return { channels: perGroup * group, order, outputRank: dims.length, channelAxis: 1 - dims.length };
    }
    case "Gemm": {
      // [K, N], or [N, K] when transposed -> [M, N]
      if (dims.length !== 2) return "the weight of a Gemm has rank 2";
      const [rows = 0, columns = 0] = dims;
      const isTransposed = node.int("transB", 0) !== 0;
      const order = isTransposed ? inTurn(columns, rows) : inTurn(1, columns);
      return { channels: order.count, order, outputRank: 2, channelAxis: -1 };
    }
    default: {
      // MatMul: [K, N] -> [..., N]
      if (dims.length !== 2) return "the weight of the MatMul is no matrix";
      const columns = dims[1]!;
      const rank = node.inputs[0]?.shape?.length ?? null;
      if (rank === 1) return "MatMul of a vector";
      return { channels: columns, order: inTurn(1, columns), outputRank: rank, channelAxis: -1 };
    }
  }
}

function biasOf(node: Node, channels: number, weight: Tensor): Float64Array | string {
  const value = node.op === "MatMul" ? null : node.inputs[2];
  const factor = node.op === "Gemm" ? node.float("beta", 1) : 1;
  if (!value || factor === 0) return new Float64Array(channels);
  const tensor = value.constant;
  if (!tensor) return "the bias is no constant";
  const data = tensor.dtype === weight.dtype ? floatsOf(tensor) : null;
  // Gemm's C broadcasts to [M, N]; a Conv's bias is [M].
  const isPerChannel =
    data &&
    tensor.dims.length <= 2 &&
    (data.length === 1 || (tensor.dims.at(-1) === channels && data.length === channels));
  if (!isPerChannel) return "the bias is not one number per channel";
  return Float64Array.from({ length: channels }, (_, m) => factor * data[data.length === 1 ? 0 : m]!);
}

/** How units go through each operator. What is not here cannot be followed, and freezes what it reads. */
import type { Node } from "../../../ir/index.js";
import { familyOf } from "../../../ops/facts.js";
import type { Rule } from "../unit-trace.js";
import { attention, rotaryEmbedding } from "./attention.js";
import { conv, convTranspose } from "./convolution.js";
import {
  batchNormalization,
  broadcasting,
  dropout,
  groupNormalization,
  instanceNormalization,
  normalization,
  pooling,
  reduction,
  unary,
} from "./elementwise.js";
import { depthToSpace, expand, resize, shapeOf, spaceToDepth, tile, transpose } from "./movement.js";
import { gemm, matMul } from "./product.js";
import { recurrent } from "./recurrent.js";
import { reshape, squeeze } from "./reshape.js";
import { concat, gather, pad, slice, split } from "./selection.js";

const rules: Readonly<Record<string, Rule>> = {
  Attention: attention,
  AveragePool: pooling,
  BatchNormalization: batchNormalization,
  Cast: unary,
  Clip: unary,
  Concat: concat,
  Conv: conv,
  ConvTranspose: convTranspose,
  DepthToSpace: depthToSpace,
  Dropout: dropout,
  Expand: expand,
  Flatten: reshape,
  Gather: gather,
  Gemm: gemm,
  GRU: recurrent,
  GlobalAveragePool: pooling,
  GlobalLpPool: pooling,
  GlobalMaxPool: pooling,
  GroupNormalization: groupNormalization,
  Hardmax: normalization,
  InstanceNormalization: instanceNormalization,
  LSTM: recurrent,
  LayerNormalization: normalization,
  LogSoftmax: normalization,
  LpNormalization: normalization,
  LpPool: pooling,
  LRN: normalization,
  MatMul: matMul,
  MaxPool: pooling,
  MeanVarianceNormalization: normalization,
  Pad: pad,
  RMSNormalization: normalization,
  RNN: recurrent,
  ReduceL1: reduction,
  ReduceL2: reduction,
  ReduceLogSum: reduction,
  ReduceLogSumExp: reduction,
  ReduceMax: reduction,
  ReduceMean: reduction,
  ReduceMin: reduction,
  ReduceProd: reduction,
  ReduceSum: reduction,
  ReduceSumSquare: reduction,
  Reshape: reshape,
  Resize: resize,
  RotaryEmbedding: rotaryEmbedding,
  Shape: shapeOf,
  Size: shapeOf,
  Slice: slice,
  Softmax: normalization,
  SpaceToDepth: spaceToDepth,
  Split: split,
  Squeeze: squeeze,
  Tile: tile,
  Transpose: transpose,
  Unsqueeze: squeeze,
  Upsample: resize,
};

export function ruleOf(node: Node): Rule | null {
  if (node.domain !== "") return null;
  if (Object.hasOwn(rules, node.op)) return rules[node.op]!;
  const family = familyOf(node);
  if (family === "unary") return unary;
  return family === "broadcasting" ? broadcasting : null;
}

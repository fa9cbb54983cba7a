/** What operators of the runtime do, whatever form they have: Conv, FusedConv and QLinearConv are all convolutions. */
import { ownEntry } from "../base/own-entry.js";

const families: Readonly<Record<string, string>> = {
  QuantizeLinear: "Quantize/Dequantize",
  DequantizeLinear: "Quantize/Dequantize",
  DynamicQuantizeLinear: "Quantize/Dequantize",
  ReorderInput: "reorder",
  ReorderOutput: "reorder",
  QGemm: "Gemm",
  DynamicQuantizeMatMul: "MatMul",
  MatMulIntegerToFloat: "MatMul",
  MatMulInteger: "MatMul",
  MatMulNBits: "MatMul",
  TransposeMatMul: "MatMul",
  ConvInteger: "Conv",
  QAttention: "Attention",
  MultiHeadAttention: "Attention",
  SkipLayerNormalization: "LayerNormalization",
  SimplifiedLayerNormalization: "LayerNormalization",
  EmbedLayerNormalization: "LayerNormalization",
  DynamicQuantizeLSTM: "LSTM",
  FastGelu: "Gelu",
  BiasGelu: "Gelu",
  QuickGelu: "Gelu",
};

/** `FusedConv` and `QLinearConv` are `Conv`; what has no other form is itself. */
export const operatorFamily = (op: string): string =>
  ownEntry(families, op) ?? op.replace(/^(?:QLinear|Nhwc|Fused)+(?=[A-Z])/, "");

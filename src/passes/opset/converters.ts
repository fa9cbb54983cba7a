/** Every change of meaning or form of an ai.onnx operator from opset 8 to 25, in order of version. What is not here is in compatible.ts. */
import { axisReductions } from "../../ops/facts.js";
import { reduceAxesToInput, squeezeAxesToInput, unsqueezeAxesToInput } from "./axes.js";
import { clipToInputs } from "./clip.js";
import type { Converter } from "./converter.js";
import {
  batchNormSpatial,
  batchNormTrainingMode,
  dropoutMaskType,
  dropoutRatioToInput,
  groupNormPerChannel,
} from "./normalization.js";
import { castToFloat8, castToFloat8Like, erfOfFloats, scalesPerChannel, scanBatches } from "./refused.js";
import { dftAxisToInput, gridSampleModes, roiAlignCoordinates, scatterToScatterElements } from "./renamed.js";
import { resizeCoordinates, resizeOptionalInputs, upsampleScalesToInput, upsampleToResize } from "./resize.js";
import { padToInputs, sliceToInputs, splitNumOutputs, splitToInput, topKToInput } from "./slicing.js";
import { softmaxSingleAxis } from "./softmax.js";

export const converters: Readonly<Record<string, readonly Converter[]>> = {
  BatchNormalization: [batchNormSpatial, batchNormTrainingMode],
  Cast: [castToFloat8],
  CastLike: [castToFloat8Like],
  Clip: [clipToInputs],
  DFT: [dftAxisToInput],
  DequantizeLinear: [scalesPerChannel],
  Dropout: [dropoutMaskType, dropoutRatioToInput],
  Erf: [erfOfFloats],
  GridSample: [gridSampleModes],
  GroupNormalization: [groupNormPerChannel],
  Hardmax: [softmaxSingleAxis],
  LogSoftmax: [softmaxSingleAxis],
  Pad: [padToInputs],
  QuantizeLinear: [scalesPerChannel],
  ...Object.fromEntries(axisReductions.map((op) => [op, [reduceAxesToInput(op === "ReduceSum" ? 13 : 18)]])),
  Resize: [resizeCoordinates, resizeOptionalInputs],
  RoiAlign: [roiAlignCoordinates],
  Scan: [scanBatches],
  Scatter: [scatterToScatterElements],
  Slice: [sliceToInputs],
  Softmax: [softmaxSingleAxis],
  Split: [splitToInput, splitNumOutputs],
  Squeeze: [squeezeAxesToInput],
  TopK: [topKToInput],
  Unsqueeze: [unsqueezeAxesToInput],
  Upsample: [upsampleScalesToInput, upsampleToResize],
};

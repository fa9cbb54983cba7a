export { type Attribute, attr } from "./attribute.js";
export { check } from "./check.js";
export { bitsOf, type DType, dtypeCode, dtypeOfCode, dtypes, isFloat, packedBytes } from "./dtype.js";
export { Graph, type NewNode, type NewOutput } from "./graph.js";
export { importDomain, type Model, opsetOf } from "./model.js";
export type { Node } from "./node.js";
export { fromOnnx, loadModel, loadWritten } from "./serde/from-onnx.js";
export {
  bigintToLong,
  dropFunctions,
  functionBody,
  functionCalled,
  functionsCalledBy,
  type LocalFunction,
  type Long64,
  longToBigint,
  operatorsOf,
} from "./serde/function.js";
export { linkModel, type SavedModel, saveModel, toOnnx } from "./serde/to-onnx.js";
export { promisedShape } from "./serde/type.js";
export { type Dim, elementCount, formatShape, fromFront, isStatic, type Shape } from "./shape.js";
export { filledUp, taken } from "./taken.js";
export { aligned, Tensor } from "./tensor.js";
export { parseGraph, parseModel } from "./text/parse.js";
export { type PrintOptions, printGraph, quote } from "./text/print.js";
export type { TensorType, Use, Value } from "./value.js";
export { countNodes, graphsWithin, nodesWithin, soleReader } from "./walk.js";

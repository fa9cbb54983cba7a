export { bitsOf, type DType, dtypeCode, dtypeOfCode, dtypes, isFloat, packedBytes } from "./dtype.js";
export { broadcastsInto, type Dim, elementCount, formatShape, isStatic, type Shape, sameDim, sameShape } from "./shape.js";
export { aligned, Tensor } from "./tensor.js";

/**
 * Types of values that rewrites create, by small rules; what they do not cover is
 * unknown, and the runtime can tell later (annotate-types.ts).
 */
import type { DType, Node, Shape, TensorType, Value } from "../ir/index.js";
import { familyOf } from "../ops/facts.js";

const boolean = new Set(
  "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor OptionalHasElement".split(" "),
);

const sameAsFirst = new Set(
  (
    "BatchNormalization Cast Clip GroupNormalization InstanceNormalization LayerNormalization LogSoftmax LpNormalization " +
    "MeanVarianceNormalization RMSNormalization Softmax"
  ).split(" "),
);

const typedAsFirst = new Set([
  ..."AveragePool Conv ConvTranspose Gemm MatMul Reshape Transpose".split(" "),
  ...[...sameAsFirst].filter((op) => op !== "Cast"),
]);

/** The type of the first output of a node, null where no rule knows it. */
export function outputTypeOf(node: Node): TensorType | null {
  const shape = outputShapeOf(node);
  const dtype = outputDTypeOf(node);
  return shape === null && dtype === null ? null : { dtype, shape };
}

function outputDTypeOf(node: Node): DType | null {
  if (node.domain !== "" || node.op === "Cast" || node.op === "Shape" || node.op === "Size") return null;
  if (boolean.has(node.op)) return "bool";
  const family = familyOf(node);
  if (family === "unary" || typedAsFirst.has(node.op)) return dtypeOf(node.inputs[0]);
  if (family === "broadcasting") return dtypeOf(node.inputs[node.op === "Where" ? 1 : 0]);
  return null;
}

function outputShapeOf(node: Node): Shape | null {
  const family = familyOf(node);
  if (family === "unary" || (node.domain === "" && sameAsFirst.has(node.op))) return node.inputs[0]?.shape ?? null;
  if (family === "broadcasting") return broadcastShape(node.inputs);
  return null;
}

const dtypeOf = (value: Value | null | undefined): DType | null => value?.dtype ?? null;

/** The shape of numpy broadcasting; null when a rank is unknown, unknown dimensions where sizes are. */
export function broadcastShape(values: readonly (Value | null)[]): Shape | null {
  const shapes = values.map((value) => value?.shape ?? null);
  if (shapes.some((shape) => shape === null)) return null;
  const rank = Math.max(0, ...shapes.map((shape) => shape!.length));
  return Array.from({ length: rank }, (_, axis) => {
    const dims = shapes.flatMap((shape) => {
      const at = axis - (rank - shape!.length);
      return at < 0 || shape![at] === 1 ? [] : [shape![at]!];
    });
    if (dims.length === 0) return 1;
    const known = dims.find((dim) => typeof dim === "number");
    if (known !== undefined) return known;
    return dims.every((dim) => dim !== null && dim === dims[0]) ? dims[0]! : null;
  });
}

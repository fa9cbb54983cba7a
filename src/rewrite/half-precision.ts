/**
 * Where float16 and bfloat16 values go through operators that make much of little.
 *
 * A runtime without kernels for them computes in float32 and rounds only between some operators, so that merging or
 * removing nodes moves the places where values are rounded: by half a thousandth of the value. Downstream that is
 * nothing, unless an operator divides by the value, compares it, cuts its fraction off or takes its tangent.
 */
import type { DType, Node, Value } from "../ir/index.js";
import { familyOf } from "../ops/facts.js";

/** Steps, jumps, and curves that are steep somewhere. */
const magnifying = new Set(
  (
    "Acos Acosh ArgMax ArgMin Asin Atanh Ceil Cos Equal Exp Floor Greater GreaterOrEqual Hardmax Less LessOrEqual Log Mod " +
    "NonZero Reciprocal Round Shrink Sign Sin Tan ThresholdedRelu TopK"
  ).split(" "),
);

/** Values looked at before the answer is no: what is further away stands behind sums that even rounding out. */
const MOST_VALUES = 64;

const isHalfType = (dtype: DType | null): boolean => dtype === "f16" || dtype === "bf16";

export const isHalf = (value: Value | null | undefined): value is Value => isHalfType(value?.dtype ?? null);

/**
 * The operator that magnifies how a half-precision value was rounded, reached from it element by element; null when
 * there is none. Sums, products of matrices and normalizations on the way end the search.
 */
export function magnifierOf(value: Value): Node | null {
  const seen = new Set<Value>([value]);
  for (const each of seen) {
    for (const use of each.uses) {
      if (use.kind === "output") continue;
      const { node, index } = use;
      if (node.domain !== "") continue;
      if (magnifies(node, index)) return node;
      if (!passesOn(node)) continue;
      for (const output of node.outputs) if (output && seen.size < MOST_VALUES) seen.add(output);
    }
  }
  return null;
}

function magnifies(node: Node, index: number): boolean {
  if (magnifying.has(node.op)) return true;
  if (node.op === "Div") return index === 1;
  if (node.op === "Pow") return index === 1 || !node.inputs[1]?.constant;
  return node.op === "Cast" && !isReal(node.output.dtype);
}

const isReal = (dtype: DType | null): boolean => isHalfType(dtype) || dtype === "f32" || dtype === "f64";

/** Each element of the result is one of the inputs', or comes of those in its place. */
function passesOn(node: Node): boolean {
  const family = familyOf(node);
  return (
    family === "unary" || family === "broadcasting" || family === "movement" || node.op === "Cast" || node.op === "Clip"
  );
}

/**
 * Where float16 and bfloat16 values go through operators that make much of little.
 *
 * A runtime without kernels for them computes in float32 and rounds only between some operators, so that merging or
 * removing nodes moves the places where values are rounded: by half a thousandth of the value. Downstream that is
 * nothing, unless an operator divides by the value, compares it, cuts its fraction off or takes its tangent.
 */
import { type DType, elementCount, isStatic, type Node, type Value } from "../ir/index.js";
import { familyOf } from "../ops/facts.js";

/** Steps, jumps, and curves that are steep somewhere. */
const magnifying = new Set(
  (
    "Acos Acosh ArgMax ArgMin Asin Atanh Ceil Cos Equal Exp Floor Greater GreaterOrEqual Hardmax Less LessOrEqual Log Mod " +
    "NonZero Reciprocal Round Shrink Sign Sin Tan ThresholdedRelu TopK"
  ).split(" "),
);

const products = new Set("Conv ConvTranspose Gemm MatMul".split(" "));

/** Values looked at before the answer is no: what is further away stands behind sums that even rounding out. */
const MOST_VALUES = 64;

export const isHalfType = (dtype: DType | null): dtype is "f16" | "bf16" => dtype === "f16" || dtype === "bf16";

export const isHalf = (value: Value | null | undefined): value is Value => isHalfType(value?.dtype ?? null);

const steps = new Set(["Ceil", "Floor", "Round", "Sign"]);

/** Whether a half-precision value comes of a node that cuts fractions off, and may do so before or after rounding. */
export const isStep = (value: Value): boolean => isHalf(value) && steps.has(value.producer?.op ?? "");

interface SearchOptions {
  readonly beyondProducts?: boolean;
  /** A node that goes, with what lies behind it. */
  readonly except?: Node | null;
}

/**
 * The operator that magnifies how a half-precision value was rounded, reached from it element by element; null when
 * there is none. Sums and normalizations on the way end the search, and so do products of matrices, which are sums of
 * many; but not of an error that all elements share, as that of a weight.
 */
export function magnifierOf(value: Value, { beyondProducts = false, except = null }: SearchOptions = {}): Node | null {
  const seen = new Set<Value>([value]);
  for (const each of seen) {
    for (const use of each.uses) {
      if (use.kind === "output") continue;
      const { node, index } = use;
      if (node.domain !== "") continue;
      if (node === except) continue;
      if (magnifies(node, index)) return node;
      if (!passesOn(node) && !(beyondProducts && products.has(node.op))) continue;
      for (const output of node.outputs) if (output && seen.size < MOST_VALUES) seen.add(output);
    }
  }
  return null;
}

/** Why a node must stay that may be what a half-precision value is rounded by, in words; null where it may go. */
export function roundingReason(value: Value | null | undefined, options: SearchOptions = {}): string | null {
  const reader = isHalf(value) ? magnifierOf(value, options) : null;
  return reader && `${reader.displayName} magnifies where its ${value!.dtype} result is rounded`;
}

function magnifies(node: Node, index: number): boolean {
  if (magnifying.has(node.op)) return true;
  if (node.op === "Div") return index === 1;
  if (node.op === "Pow") return index === 1 || !node.inputs[1]?.constant;
  return node.op === "Cast" && !isReal(node.output.dtype);
}

const isReal = (dtype: DType | null): boolean => isHalfType(dtype) || dtype === "f32" || dtype === "f64";

/** Each element of the result comes of few elements of the inputs, or of one. */
function passesOn(node: Node): boolean {
  const family = familyOf(node);
  if (family === "unary" || family === "broadcasting" || family === "movement" || local.has(node.op)) return true;
  // Roundings of a handful of elements do not even out.
  const shape = node.inputs[0]?.shape;
  return family === "reduction" && !!shape && isStatic(shape) && elementCount(shape) <= HANDFUL;
}

/** Of few elements, or of one that they pick out of many. */
const local = new Set("AveragePool Cast Clip GlobalMaxPool LpPool MaxPool ReduceMax ReduceMin Resize".split(" "));
const HANDFUL = 64;

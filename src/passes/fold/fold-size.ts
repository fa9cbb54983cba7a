/** How large the result of a constant node can become, told before it is computed. */
import { bitsOf, elementCount, isStatic, type Node, type Value } from "../../ir/index.js";
import { familyOf, isExpanding } from "../../ops/facts.js";
import { constantIntegers, constantScalar } from "../../rewrite/match.js";
import { broadcastShape } from "../../rewrite/output-type.js";

/** The widest element that folding meets: an int64, when the type is not known. */
const WIDEST_BYTES = 8;

/**
 * An upper bound in bytes for one output; null when it hangs on a value that is not
 * known yet. `bytesOf` gives the bound of an input.
 */
export function estimatedBytes(node: Node, bytesOf: (value: Value) => number): number | null {
  const shape = node.output.shape;
  if (isStatic(shape)) return elementCount(shape) * elementBytes(node.output);
  const inputs = node.inputs.filter((value): value is Value => value !== null);
  if (isExpanding(node)) return expandedBytes(node, bytesOf);
  const family = familyOf(node);
  if (family === "broadcasting") {
    const broadcast = broadcastShape(inputs);
    if (isStatic(broadcast)) return elementCount(broadcast) * WIDEST_BYTES;
    return product(inputs.map(bytesOf)) * WIDEST_BYTES;
  }
  const all = inputs.reduce((sum, value) => sum + bytesOf(value), 0);
  if (node.op === "Gather") return gatheredBytes(node, bytesOf);
  if (family === "computation" || node.op === "GatherND") return product(inputs.map(bytesOf)) * WIDEST_BYTES;
  // What is moved or computed in place keeps its type; the rest may widen it.
  return family === "movement" || family === "unary" ? all : all * WIDEST_BYTES;
}

/** One slice of the data per index. */
function gatheredBytes(node: Node, bytesOf: (value: Value) => number): number {
  const [data, indices] = node.inputs;
  const shape = data?.shape;
  const count = indices?.constant?.elementCount;
  const axis = node.int("axis", 0);
  const dim = shape?.[axis < 0 ? axis + shape.length : axis];
  if (!data || !indices) return 0;
  if (count === undefined || typeof dim !== "number" || dim === 0) return bytesOf(data) * bytesOf(indices);
  return Math.ceil((bytesOf(data) / dim) * count);
}

function expandedBytes(node: Node, bytesOf: (value: Value) => number): number | null {
  const [first, second, third] = node.inputs;
  switch (node.op) {
    case "ConstantOfShape": {
      const dims = constantIntegers(first);
      return dims && product(dims) * WIDEST_BYTES;
    }
    case "Expand":
    case "Tile": {
      const amounts = constantIntegers(second);
      return amounts && first ? product(amounts.map((n) => Math.max(1, n))) * bytesOf(first) : null;
    }
    case "Range": {
      const [start, limit, delta] = [first, second, third].map(constantScalar);
      if (start == null || limit == null || !delta) return null;
      return Math.max(0, Math.ceil((limit - start) / delta)) * WIDEST_BYTES;
    }
    default:
      return null;
  }
}

const elementBytes = (value: Value): number => (value.dtype ? Math.max(1, bitsOf(value.dtype) / 8) : WIDEST_BYTES);

const product = (factors: readonly number[]): number => factors.reduce((all, factor) => all * Math.max(1, factor), 1);

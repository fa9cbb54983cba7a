/** Over which axes a reduction goes, and which values are means. */
import { elementCount, type Node, type Value } from "../../ir/index.js";
import {
  constantIntegers,
  isKnown,
  producerOf,
  scalarBeside,
  soleProducer,
  splitConstant,
} from "../../rewrite/match.js";

/**
 * The axes of a Reduce node, counted from the back (-1 is the last) and in order; null when they are
 * computed or cannot be counted from the back for want of a rank.
 */
export function reducedAxes(node: Node): number[] | null {
  const given = node.inputs[1] ? constantIntegers(node.inputs[1]) : (node.ints("axes") ?? []);
  const rank = node.inputs[0]?.shape?.length ?? null;
  if (!given) return null;
  if (given.length === 0) {
    if (rank === null || node.int("noop_with_empty_axes", 0) !== 0) return null;
    return Array.from({ length: rank }, (_, i) => i - rank);
  }
  if (rank === null && given.some((axis) => axis >= 0)) return null;
  const axes = given.map((axis) => (axis < 0 ? axis : axis - rank!)).sort((a, b) => a - b);
  const isLegal = axes.every((axis) => axis < 0 && (rank === null || axis >= -rank));
  return isLegal && new Set(axes).size === axes.length ? axes : null;
}

export const isSameAxes = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((axis, i) => axis === b[i]);

export interface Mean {
  readonly of: Value;
  /** From the back, in order. */
  readonly axes: readonly number[];
}

/**
 * What a value is the mean of, with the reduced axes kept as ones: ReduceMean, GlobalAveragePool, or ReduceSum
 * over n elements and a division by n.
 */
export function meanOf(value: Value): Mean | null {
  const mean = value.producer && producerOf(value, "ReduceMean", value.graph);
  if (mean) return reductionOf(mean);
  const pooled = producerOf(value, "GlobalAveragePool", value.graph)?.inputs[0];
  if (pooled) return pooledMean(pooled);
  return shareOf(value, "ReduceSum");
}

/** What a value is the mean of the squares of: ReduceSumSquare over n elements and a division by n. */
export const meanSquareOf = (value: Value): (Mean & { readonly sum: Node }) | null => shareOf(value, "ReduceSumSquare");

function shareOf(value: Value, op: "ReduceSum" | "ReduceSumSquare"): (Mean & { readonly sum: Node }) | null {
  const scaled = value.producer;
  if (!scaled?.is("Div") && !scaled?.is("Mul")) return null;
  const operands = splitConstant(scaled);
  const number = operands && scalarBeside(operands.constant, operands.other);
  const sum = operands && soleProducer(operands.other, op);
  const reduction = sum && reductionOf(sum);
  if (!operands || number === null || !sum || !reduction) return null;
  if (scaled.is("Div") && operands.index !== 1) return null;
  const { shape } = reduction.of;
  const dims = reduction.axes.map((axis) => shape?.at(axis));
  if (!shape || !dims.every(isKnown)) return null;
  const count = elementCount(dims);
  const factor = scaled.is("Div") ? 1 / number! : number!;
  return Math.abs(factor * count - 1) <= 1e-6 ? { ...reduction, sum } : null;
}

/** Over all axes but batch and channels; as tf2onnx writes a mean along the last of three. */
function pooledMean(of: Value): Mean | null {
  const rank = of.shape?.length ?? 0;
  return rank > 2 ? { of, axes: Array.from({ length: rank - 2 }, (_, i) => i + 2 - rank) } : null;
}

function reductionOf(node: Node): Mean | null {
  const of = node.inputs[0];
  const axes = reducedAxes(node);
  return of && axes && node.int("keepdims", 1) === 1 ? { of, axes } : null;
}

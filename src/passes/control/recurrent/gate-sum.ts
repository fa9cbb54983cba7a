/**
 * What a gate of a recurrent cell is made of: products by constant matrices, and constant rows, added up.
 *
 *   Slice(x W + b)[columns] + h R[columns]   and   [x, h] W + b   and   x W + h R + b
 *
 * and whatever else Add, Split, Slice, Concat, MatMul and Gemm make of these. What belongs to x may be computed for all steps at once.
 */
import type { Graph, Node, Tensor, Value } from "../../../ir/index.js";
import { constantIntegers, hasRank, inputOrders, normalizeAxes, producerOf } from "../../../rewrite/match.js";
import { pickedRowOf } from "../../layout/picked-row.js";
import { boundsOf, stretchOf, TO_THE_END } from "../../layout/slice-bounds.js";

/** `input` [batch, elements] by a part of a matrix: `elements` rows from `row` on, and columns from `column` on. */
export interface Term {
  readonly input: Value;
  readonly weights: Tensor;
  readonly isTransposed: boolean;
  readonly row: number;
  readonly elements: number;
  readonly column: number;
  /** Where `input` is a row of the product already, which all steps have together. */
  readonly projection: Projection | null;
}

/** Whether two inputs are multiplied by the same. */
export const isSameProduct = (one: Term, other: Term): boolean =>
  one.weights === other.weights &&
  one.isTransposed === other.isTransposed &&
  one.row === other.row &&
  one.column === other.column &&
  one.elements === other.elements &&
  (one.projection === null) === (other.projection === null);

export interface Projection {
  /** [steps, batch, elements], or with the first two the other way round. */
  readonly of: Value;
  readonly isBatchFirst: boolean;
}

/** Elements of a row from `column` on; one element is added to each column. */
export interface Row {
  readonly tensor: Tensor;
  readonly column: number;
}

export interface GateSum {
  readonly terms: readonly Term[];
  readonly rows: readonly Row[];
  /** Columns; null where a single number stands for however many. */
  readonly width: number | null;
}

/** As many nodes on end as a gate may have. */
const FARTHEST = 32;

/** Null for what is made in another way, or of what a run computes. */
export function sumOf(value: Value, graph: Graph, left = FARTHEST): GateSum | null {
  if (left === 0) return null;
  if (value.constant) return rowOf(value.constant);
  const node = value.producer;
  if (!node || node.graph !== graph) return null;
  const [first, second, third] = node.inputs;
  if (!first) return null;
  if (node.is("Split") || node.is("Slice")) return partOf(sumOf(first, graph, left - 1), node, value);
  if (!second) return null;
  if (node.is("Gather") || node.is("Squeeze")) return projectedOf(value);
  if (node.is("Add")) {
    const sum = sumOf(first, graph, left - 1);
    return sum && both(sum, sumOf(second, graph, left - 1));
  }
  if (node.is("MatMul")) return productOf(first, second.constant, false, graph);
  if (!node.is("Gemm") || !isPlain(node)) return null;
  const product = productOf(first, second.constant, node.int("transB", 0) !== 0, graph);
  return third && node.float("beta", 1) !== 0 ? both(product, sumOf(third, graph, left - 1)) : product;
}

const isPlain = (gemm: Node): boolean =>
  gemm.float("alpha", 1) === 1 && [0, 1].includes(gemm.float("beta", 1)) && gemm.int("transA", 0) === 0;

/** Of more axes than two it would give these to the sum. */
function rowOf(tensor: Tensor): GateSum | null {
  const { dims, dtype, elementCount } = tensor;
  if (dtype !== "f32" || dims.length > 2) return null;
  if (elementCount === 1) return { terms: [], rows: [{ tensor, column: 0 }], width: null };
  return dims.at(-1) === elementCount ? { terms: [], rows: [{ tensor, column: 0 }], width: elementCount } : null;
}

/** No gate has more, and a sum of sums of the same may have any number. */
const MOST_PARTS = 8;

function both(a: GateSum | null, b: GateSum | null): GateSum | null {
  if (!a || !b || a.terms.length + a.rows.length + b.terms.length + b.rows.length > MOST_PARTS) return null;
  if (a.width !== null && b.width !== null && a.width !== b.width) return null;
  return { terms: [...a.terms, ...b.terms], rows: [...a.rows, ...b.rows], width: a.width ?? b.width };
}

function productOf(input: Value, weights: Tensor | null, isTransposed: boolean, graph: Graph): GateSum | null {
  if (weights?.dtype !== "f32" || weights.dims.length !== 2) return null;
  const [elements, width] = (isTransposed ? weights.dims.toReversed() : weights.dims) as [number, number];
  const parts = besideIn(input, graph);
  const sizes = sizesOf(parts, elements);
  if (!sizes) return null;
  const terms = parts.map((part, at): Term => {
    const row = sizes.slice(0, at).reduce((sum, size) => sum + size, 0);
    return { input: part, weights, isTransposed, row, elements: sizes[at]!, column: 0, projection: null };
  });
  return { terms, rows: [], width };
}

/** A row of X W + b or of Transpose<perm=[1,0,2]>(X W + b), with or without the b. */
function projectedOf(row: Value): GateSum | null {
  const picked = pickedRowOf(row);
  if (!picked || picked.axis > 1) return null;
  const { rows, axis } = picked;
  const turned = producerOf(rows, "Transpose", rows.graph);
  if (turned && String(turned.ints("perm")) !== "1,0,2") return null;
  const made = turned ? turned.inputs[0]! : rows;
  const sums = inputOrders(producerOf(made, "Add", made.graph));
  for (const [product, addend] of [[made, null] as const, ...sums]) {
    const [of, factor] = producerOf(product, "MatMul", product.graph)?.inputs ?? [];
    const weights = factor?.constant;
    if (!of || !weights || !hasRank(of, 3) || weights.dtype !== "f32" || weights.dims.length !== 2) continue;
    const [elements, width] = weights.dims as [number, number];
    const projection = { of, isBatchFirst: (turned !== null) !== (axis === 1) };
    const term = { input: row, weights, isTransposed: false, row: 0, elements, column: 0, projection };
    const sum = { terms: [term], rows: [], width };
    return addend ? both(sum, addend.constant && rowOf(addend.constant)) : sum;
  }
  return null;
}

/** Elements of each, of so many together; one of them may not be known otherwise. */
function sizesOf(parts: readonly Value[], elements: number): number[] | null {
  const known = parts.map((part) => part.shape?.at(-1)).map((size) => (typeof size === "number" ? size : null));
  const rest = known.reduce<number>((left, size) => left - (size ?? 0), elements);
  const sizes = known.map((size) => size ?? rest);
  const isWhole = sizes.reduce((sum, size) => sum + size, 0) === elements;
  return isWhole && sizes.every((size) => size > 0) ? sizes : null;
}

/** What stands beside each other in the rows of a matrix. */
function besideIn(input: Value, graph: Graph): readonly Value[] {
  const concat = producerOf(input, "Concat", graph);
  const isOfRows = concat && normalizeAxes([concat.int("axis", 0)], 2)?.[0] === 1;
  return isOfRows ? concat.inputs.filter((part) => part !== null) : [input];
}

/** Columns of a sum, by a Split or a Slice of the last of two axes. */
function partOf(sum: GateSum | null, node: Node, value: Value): GateSum | null {
  if (sum?.width == null) return null;
  const part = node.is("Split") ? splitPart(node, value, sum.width) : slicePart(node, sum.width);
  if (!part) return null;
  const [start, width] = part;
  return {
    terms: sum.terms.map((term) => ({ ...term, column: term.column + start })),
    rows: sum.rows.map((row) => ({ ...row, column: row.column + start })),
    width,
  };
}

function splitPart(node: Node, value: Value, width: number): [start: number, width: number] | null {
  if (normalizeAxes([node.int("axis", 0)], 2)?.[0] !== 1) return null;
  const count = node.outputs.length;
  const sizes = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.outputs.map(() => width / count);
  const at = node.outputs.indexOf(value);
  if (sizes?.length !== count || !sizes.every(Number.isInteger)) return null;
  return [sizes.slice(0, at).reduce((sum, size) => sum + size, 0), sizes[at]!];
}

function slicePart(node: Node, width: number): [start: number, width: number] | null {
  const bounds = boundsOf(node);
  const axes = bounds && normalizeAxes(bounds.axes, 2);
  if (!bounds || !axes) return null;
  // Of rows all, however many they are.
  const rows = axes.indexOf(0);
  if (rows >= 0 && !(bounds.starts[rows] === 0n && bounds.ends[rows]! >= TO_THE_END && bounds.steps[rows] === 1n))
    return null;
  const at = axes.indexOf(1);
  const part = at < 0 ? null : stretchOf(bounds.starts[at]!, bounds.ends[at]!, bounds.steps[at]!, width);
  return part && part.step === 1 ? [part.start, part.end - part.start] : null;
}

/**
 * l, r = Split(d);  Concat((c - l + c + r) / 2, (c + r) - (c - l))
 *   =>  Add(MatMul([[-1/2 I, 1/2 I], [I, I]], d), [c; 0])
 *
 * Sums of parts of one tensor, scaled, moved by constants and joined again along the axis along
 * which they were cut, the last or the one before: boxes of detectors, from distances to corners
 * or from centres and sizes. Only where the axis is short and many nodes go.
 */
import { elementCount, type Node, type TensorType, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { affineOf } from "./affine.js";
import { combineGrids, type Grid, mapGrid } from "./grid.js";

/** Elements of the matrix: with more, what it multiplies by zero would count. */
const MOST_ELEMENTS = 64;
/** Nodes that must go for a MatMul and an Add. */
const LEAST_NODES = 5;
const DEEPEST = 8;

export const fuseLinearParts = defineRewrite({
  name: "fuse-linear-parts",
  summary: "Multiply by one small matrix instead of scaling, adding and joining parts of a tensor",
  numerics: "rounding",
  roots: ["Concat"],
  minOpset: 7,
  rewrite(root, { create, constant, opset }) {
    const { shape, dtype } = root.output;
    const rank = shape?.length ?? 0;
    const axis = axisOf(root, rank);
    if ((dtype !== "f32" && dtype !== "f64") || rank < 2 || axis < rank - 2) return null;
    const reader = new Reader(axis, rank, opset);
    const forms = root.inputs.map((input) => input && reader.formOf(input, root));
    const { split, size } = reader;
    const d = split?.inputs[0];
    if (!split || !d || !forms.every((form) => form !== null) || reader.leaks(root)) return null;
    const [rows, columns] = [forms.length * size, split.outputs.length * size];
    if (rows * columns > MOST_ELEMENTS || reader.nodes.size + 1 < LEAST_NODES) return null;
    const isLast = axis === rank - 1;
    const matrix = new Float64Array(rows * columns);
    for (const [i, { factors }] of forms.entries()) {
      for (const [part, factor] of factors.entries()) {
        for (let t = 0; t < size; t++) {
          const [row, column] = [i * size + t, part * size + t];
          matrix[isLast ? column * rows + row : row * columns + column] = factor;
        }
      }
    }
    const shift = joinGrids(
      forms.map((form) => form.shift),
      axis,
      size,
      rank,
    );
    if (shift === null) return null;
    const weights = tensorLike(dtype, isLast ? [columns, rows] : [rows, columns], matrix);
    if (!weights) return null;
    const weight = constant(`${root.output.label}/matrix`, weights);
    const types: readonly (TensorType | null)[] = [root.output.type];
    const product = create("MatMul", isLast ? [d, weight] : [weight, d], {}, { types });
    if (shift.data.every((value) => value === 0)) return product;
    const addend = tensorLike(dtype, shift.dims, shift.data);
    return addend && create("Add", [product.output, constant(`${root.output.label}/shift`, addend)], {}, { types });
  },
});

/** The sum of the parts, each times its factor, and of a constant. */
interface Form {
  readonly factors: readonly number[];
  readonly shift: Grid | null;
}

/** Reads what stands between one Split and the root. */
class Reader {
  split: Node | null = null;
  /** Of each part, along the axis. */
  size = 0;
  readonly nodes = new Set<Node>();

  constructor(
    readonly axis: number,
    readonly rank: number,
    readonly opset: number,
  ) {}

  formOf(value: Value, root: Node, depth = 0): Form | null {
    const node = value.producer;
    if (!node || node.graph !== root.graph || node.domain !== "" || depth > DEEPEST) return null;
    if (node.op === "Split") return this.#partOf(value, node);
    const affine = affineOf(node, this.opset);
    if (typeof affine === "string") return null;
    if (affine) {
      const inner = this.formOf(affine.x, root, depth + 1);
      const { scale, shift } = affine.affine;
      if (!inner || scale?.data.some((each) => each !== scale.data[0])) return null;
      this.nodes.add(node);
      return sumOf(inner, scale?.data[0] ?? 1, { factors: [], shift }, 1);
    }
    const [a, b] = node.inputs;
    if ((node.op !== "Add" && node.op !== "Sub") || !a || !b) return null;
    const [left, right] = [this.formOf(a, root, depth + 1), this.formOf(b, root, depth + 1)];
    if (!left || !right) return null;
    this.nodes.add(node);
    return sumOf(left, 1, right, node.op === "Sub" ? -1 : 1);
  }

  #partOf(value: Value, split: Node): Form | null {
    const size = split.outputs[0]?.shape?.[this.axis];
    if ((this.split !== null && this.split !== split) || axisOf(split, this.rank) !== this.axis || !isKnown(size))
      return null;
    if (!split.outputs.every((part) => part?.shape?.length === this.rank && part.shape[this.axis] === size))
      return null;
    this.split = split;
    this.size = size;
    this.nodes.add(split);
    return { factors: split.outputs.map((part) => (part === value ? 1 : 0)), shift: null };
  }

  /** Whether anybody else reads something on the way. */
  leaks(root: Node): boolean {
    return [...this.nodes].some((node) =>
      node.outputs.some((output) =>
        output?.uses.some((use) => use.kind === "output" || (use.node !== root && !this.nodes.has(use.node))),
      ),
    );
  }
}

/** a * s + b * t; null where the constants do not fit together. */
function sumOf(a: Form, s: number, b: Form, t: number): Form | null {
  const factors = a.factors.map((factor, i) => s * factor + t * (b.factors[i] ?? 0));
  const [one, other] = [a.shift && mapGrid(a.shift, (x) => s * x), b.shift && mapGrid(b.shift, (x) => t * x)];
  if (!one || !other) return { factors, shift: one ?? other };
  const shift = combineGrids(one, other, (x, y) => x + y);
  return shift && { factors, shift };
}

/** One after the other along an axis, each `size` long; nothing is zero. Null where they are too large or do not fit. */
function joinGrids(grids: readonly (Grid | null)[], axis: number, size: number, rank: number): Grid | null {
  const dims = Array.from({ length: rank }, (_, i) =>
    i === axis ? size : Math.max(1, ...grids.map((grid) => grid?.dims[i] ?? 1)),
  );
  const zero: Grid = { dims: dims.map((dim, i) => (i === axis ? dim : 1)), data: new Float64Array(size) };
  const full: Grid = {
    dims: dims.map((dim, i) => (i === axis ? 1 : dim)),
    data: new Float64Array(elementCount(dims) / size),
  };
  const inner = elementCount(dims.slice(axis));
  const data = new Float64Array(elementCount(dims) * grids.length);
  for (const [k, grid] of grids.entries()) {
    const row = combineGrids(grid ?? zero, zero, (x, y) => x + y);
    const wide = row && combineGrids(row, full, (x, y) => x + y);
    if (!wide) return null;
    for (let i = 0; i < wide.data.length; i += inner) {
      data.set(wide.data.subarray(i, i + inner), i * grids.length + k * inner);
    }
  }
  return { dims: dims.map((dim, i) => (i === axis ? dim * grids.length : dim)), data };
}

function axisOf(node: Node, rank: number): number {
  const axis = node.int("axis", 0);
  return axis < 0 ? axis + rank : axis;
}

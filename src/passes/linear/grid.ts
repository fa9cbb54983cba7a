/**
 * Small constants beside a tensor of the same rank: along each axis they have one
 * element or as many as the tensor. Elements are doubles, so that what is folded twice is
 * rounded once.
 */
import { elementCount, type Shape, type Tensor } from "../../ir/index.js";
import { isKnown, isSameDim } from "../../rewrite/match.js";
import { floatsOf } from "../fuse/linear.js";

export interface Grid {
  readonly dims: readonly number[];
  readonly data: Float64Array;
}

/** Constants up to this size are computed with; beyond, they are data. */
const MOST_ELEMENTS = 1 << 20;

/** A float constant with ones in front up to `rank`; null when it is no such thing. */
export function gridOf(tensor: Tensor, rank: number): Grid | null {
  if (tensor.dims.length > rank || tensor.elementCount > MOST_ELEMENTS) return null;
  const data = floatsOf(tensor);
  const dims = [...new Array<number>(rank - tensor.dims.length).fill(1), ...tensor.dims];
  return data && { dims, data: Float64Array.from(data) };
}

/** A vector along one axis. */
export const gridAlong = (axis: number, data: Float64Array, rank: number): Grid => ({
  dims: Array.from({ length: rank }, (_, i) => (i === axis ? data.length : 1)),
  data,
});

export const isUniform = ({ data }: Grid): boolean => data.length === 1;

export const mapGrid = ({ dims, data }: Grid, change: (element: number) => number): Grid => ({
  dims,
  data: data.map(change),
});

/** `change` of each pair, by numpy broadcasting; null where the shapes do not fit. */
export function combineGrids(a: Grid, b: Grid, change: (x: number, y: number) => number): Grid | null {
  const rank = Math.max(a.dims.length, b.dims.length);
  const [one, other] = [widen(a, rank), widen(b, rank)];
  if (one.dims.some((dim, i) => dim !== other.dims[i] && dim !== 1 && other.dims[i] !== 1)) return null;
  const dims = one.dims.map((dim, i) => (dim === 1 ? other.dims[i]! : dim));
  if (elementCount(dims) > MOST_ELEMENTS) return null;
  const [pickOne, pickOther] = [pickerOf(one.dims, dims), pickerOf(other.dims, dims)];
  const data = Float64Array.from({ length: elementCount(dims) }, (_, i) =>
    change(one.data[pickOne(i)]!, other.data[pickOther(i)]!),
  );
  return { dims, data };
}

const widen = ({ dims, data }: Grid, rank: number): Grid => ({
  dims: [...new Array<number>(rank - dims.length).fill(1), ...dims],
  data,
});

/** From the place in a broadcast result to the place in `from`. */
function pickerOf(from: readonly number[], to: readonly number[]): (i: number) => number {
  return (i) => {
    let rest = i;
    let place = 0;
    let stride = 1;
    for (let axis = to.length - 1; axis >= 0; axis--) {
      if (from[axis] !== 1) {
        place += (rest % to[axis]!) * stride;
        stride *= from[axis]!;
      }
      rest = Math.floor(rest / to[axis]!);
    }
    return place;
  };
}

/** Axis j of the result is axis `order[j]` of the grid. */
export function permuteGrid(grid: Grid, order: readonly number[]): Grid {
  const dims = order.map((axis) => grid.dims[axis]!);
  const strides = grid.dims.map((_, axis) => elementCount(grid.dims.slice(axis + 1)));
  const data = Float64Array.from({ length: grid.data.length }, (_, i) => {
    let rest = i;
    let place = 0;
    for (let j = dims.length - 1; j >= 0; j--) {
      place += (rest % dims[j]!) * strides[order[j]!]!;
      rest = Math.floor(rest / dims[j]!);
    }
    return grid.data[place]!;
  });
  return { dims, data };
}

/** The part [begin, end) along an axis; the grid itself where it has one element there. */
export function sliceGrid(grid: Grid, axis: number, begin: number, end: number): Grid {
  if (grid.dims[axis] === 1) return grid;
  const inner = elementCount(grid.dims.slice(axis + 1));
  const size = grid.dims[axis]!;
  const data = grid.data.filter((_, i) => {
    const at = Math.floor(i / inner) % size;
    return at >= begin && at < end;
  });
  return { dims: grid.dims.map((dim, i) => (i === axis ? end - begin : dim)), data };
}

/** The elements along one axis, [size]; null when the grid varies along another, or is of another size. */
export function vectorAlong({ dims, data }: Grid, axis: number, size: number): Float64Array | null {
  if (data.length === 1) return new Float64Array(size).fill(data[0]!);
  return dims[axis] === size && data.length === size ? data : null;
}

/**
 * The grid beside the same elements in another shape: one number stays one number; a
 * vector finds its axis again, also where that was merged with axes behind it
 * ([N,C,H,W] to [N,C*H*W]). Null where nothing is sure.
 */
export function reshapeGrid(grid: Grid, from: Shape, to: Shape): Grid | null {
  if (isUniform(grid)) return { dims: to.map(() => 1), data: grid.data };
  const axis = grid.dims.findIndex((dim) => dim !== 1);
  if (grid.dims[axis] !== grid.data.length || from[axis] !== grid.data.length) return null;
  for (let at = 0; at < to.length; at++) {
    const size = to[at];
    if (!isKnown(size) || size === 1) continue;
    const startsAlike = isSameList(to.slice(0, at), from.slice(0, axis));
    const endsAlike = isSameList(to.slice(at + 1), from.slice(axis + 1));
    if (size === grid.data.length && (startsAlike || endsAlike)) return gridAlong(at, grid.data, to.length);
    if (!startsAlike) continue;
    // Row-major: an element of the vector covers the axes that were merged behind it.
    let merged = 1;
    for (let behind = axis + 1; behind < from.length && isKnown(from[behind]); behind++) {
      merged *= from[behind] as number;
      if (size !== grid.data.length * merged) continue;
      const data = Float64Array.from({ length: size }, (_, i) => grid.data[Math.floor(i / merged)]!);
      return gridAlong(at, data, to.length);
    }
  }
  return null;
}

function isSameList(a: Shape, b: Shape): boolean {
  const [one, other] = [a.filter((dim) => dim !== 1), b.filter((dim) => dim !== 1)];
  return one.length === other.length && one.every((dim, i) => isSameDim(dim, other[i]));
}

import { aligned, bitsOf, type DType, elementCount, Tensor } from "../../ir/index.js";
import { type Permutation, permuted } from "./permutation.js";

const viewBySize = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

/** Whether the elements of a tensor can be moved one by one: not texts, and not packed into less than a byte. */
export const isMovable = ({ dtype }: { readonly dtype: DType }): boolean =>
  dtype !== "string" && bitsOf(dtype) / 8 in viewBySize;

/** Transpose<perm>(tensor). */
export function permutedTensor(tensor: Tensor, perm: Permutation): Tensor {
  const dims = permuted(tensor.dims, perm) as number[];
  // Only the order of the axes with more than one element says where an element lies.
  const moving = perm.filter((axis) => tensor.dims[axis] !== 1);
  if (moving.every((axis, i) => i === 0 || axis > moving[i - 1]!)) return tensor.withDims(dims);
  const strides = stridesOf(tensor.dims);
  return stridedTensor(tensor, { dims, from: 0, steps: perm.map((axis) => strides[axis]!) });
}

/** How far apart neighbours along each axis lie. */
export const stridesOf = (dims: readonly number[]): number[] =>
  dims.map((_, axis) => elementCount(dims.slice(axis + 1)));

/** The elements of a tensor whose number is `from` plus position times step, for each axis of the result. */
export interface Strided {
  readonly dims: readonly number[];
  readonly from: number;
  readonly steps: readonly number[];
}

/** A tensor of some elements of another that is movable. */
export function stridedTensor(tensor: Tensor, { dims, from: first, steps }: Strided): Tensor {
  const View = viewBySize[(bitsOf(tensor.dtype) / 8) as keyof typeof viewBySize];
  const source = aligned(View as typeof Uint32Array, tensor.bytes());
  const target = new View(elementCount(dims)) as Uint32Array;
  const position = dims.map(() => 0);
  // Neighbours are copied together.
  const run = steps.at(-1) === 1 ? dims.at(-1)! : 1;
  const outer = run > 1 ? dims.length - 1 : dims.length;
  let from = first;
  for (let i = 0; i < target.length; i += run) {
    if (run === 1) target[i] = source[from]!;
    else target.set(source.subarray(from, from + run), i);
    for (let axis = outer - 1; axis >= 0; axis--) {
      from += steps[axis]!;
      if (++position[axis]! < dims[axis]!) break;
      from -= steps[axis]! * dims[axis]!;
      position[axis] = 0;
    }
  }
  return Tensor.ofArray(tensor.dtype, dims, target);
}

import { bitsOf, elementCount, Tensor } from "../../ir/index.js";
import { type Permutation, permuted } from "./permutation.js";

const viewBySize = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

/** Whether the elements of a tensor can be moved one by one: not texts, and not packed into less than a byte. */
export const isMovable = ({ dtype }: Tensor): boolean => dtype !== "string" && bitsOf(dtype) / 8 in viewBySize;

/** Transpose<perm>(tensor). */
export function permutedTensor(tensor: Tensor, perm: Permutation): Tensor {
  const dims = permuted(tensor.dims, perm) as number[];
  // Only the order of the axes with more than one element says where an element lies.
  const moving = perm.filter((axis) => tensor.dims[axis] !== 1);
  if (moving.every((axis, i) => i === 0 || axis > moving[i - 1]!)) return tensor.withDims(dims);
  const View = viewBySize[(bitsOf(tensor.dtype) / 8) as keyof typeof viewBySize];
  // A copy, since the bytes of a file lie at any address.
  const bytes = new Uint8Array(tensor.bytes());
  const source = new View(bytes.buffer) as Uint32Array;
  const target = new View(elementCount(dims)) as Uint32Array;
  const strides = tensor.dims.map((_, axis) => elementCount(tensor.dims.slice(axis + 1)));
  const steps = perm.map((axis) => strides[axis]!);
  const position = dims.map(() => 0);
  let from = 0;
  for (let i = 0; i < target.length; i++) {
    target[i] = source[from]!;
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      from += steps[axis]!;
      if (++position[axis]! < dims[axis]!) break;
      from -= steps[axis]! * dims[axis]!;
      position[axis] = 0;
    }
  }
  return Tensor.ofArray(tensor.dtype, dims, target);
}

/**
 * Operators that move or repeat the elements of constants, computed as ONNX Runtime's kernels do. Null for what they refuse
 * and for what is rare: then the runtime is asked.
 */
import { elementCount, type Node, Tensor } from "../../ir/index.js";
import { normalizeAxes } from "../../rewrite/match.js";
import { isMovable, permutedTensor, stridedTensor, stridesOf } from "../layout/permuted-tensor.js";

/** Tensors behind the inputs of a node; null where one is left out. */
export type Operands = readonly (Tensor | null | undefined)[];

export type Computation = (node: Node, operands: Operands) => Tensor | null;

export const movements: Readonly<Record<string, Computation>> = {
  Identity: (_, [data]) => data ?? null,

  Reshape(node, [data, shape]) {
    const wanted = shape?.integers();
    if (!data || !wanted || node.int("allowzero", 0) !== 0) return null;
    return reshaped(data, wanted);
  },

  Flatten(node, [data]) {
    const rank = data?.dims.length ?? 0;
    const axis = node.int("axis", 1);
    if (!data || axis < 0 || axis > rank) return null;
    return data.withDims([elementCount(data.dims.slice(0, axis)), elementCount(data.dims.slice(axis))]);
  },

  Squeeze(node, [data, axes]) {
    const given = axes ? axes.integers() : node.ints("axes");
    if (!data || (axes && !given)) return null;
    const gone = given ? normalizeAxes(given, data.dims.length) : allOnes(data.dims);
    if (!gone?.every((axis) => data.dims[axis] === 1)) return null;
    return data.withDims(data.dims.filter((_, axis) => !gone.includes(axis)));
  },

  Unsqueeze(node, [data, axes]) {
    const given = axes ? axes.integers() : node.ints("axes");
    if (!data || !given) return null;
    const rank = data.dims.length + given.length;
    const added = normalizeAxes(given, rank);
    if (!added) return null;
    const left = [...data.dims];
    return data.withDims(Array.from({ length: rank }, (_, axis) => (added.includes(axis) ? 1 : left.shift()!)));
  },

  Transpose(node, [data]) {
    if (!data || !isMovable(data)) return null;
    const perm = node.ints("perm") ?? data.dims.map((_, axis) => data.dims.length - 1 - axis);
    const isPermutation = perm.length === data.dims.length && data.dims.every((_, axis) => perm.includes(axis));
    return isPermutation ? permutedTensor(data, perm) : null;
  },

  Slice(node, [data, starts, ends, axes, steps]) {
    if (!data || !isMovable(data)) return null;
    const from = starts ? starts.bigints() : node.ints("starts")?.map(BigInt);
    const to = ends ? ends.bigints() : node.ints("ends")?.map(BigInt);
    const along = axes ? axes.integers() : (node.ints("axes") ?? from?.map((_, i) => i));
    const by = steps ? steps.integers() : from?.map(() => 1);
    const cut = along && normalizeAxes(along, data.dims.length);
    if (!from || !to || !by || !cut || [to, by, cut].some(({ length }) => length !== from.length)) return null;
    return sliced(
      data,
      cut.map((axis, i) => ({ axis, start: from[i]!, end: to[i]!, step: by[i]! })),
    );
  },

  Concat(node, operands) {
    const parts = operands.filter((part) => part != null);
    const [first] = parts;
    const axis = first && normalizeAxes([node.int("axis", 1)], first.dims.length)?.[0];
    if (!first || axis === undefined || parts.length !== operands.length || !parts.every(isMovable)) return null;
    const fits = parts.every(
      ({ dtype, dims }) =>
        dtype === first.dtype &&
        dims.length === first.dims.length &&
        dims.every((dim, i) => i === axis || dim === first.dims[i]),
    );
    return fits ? joined(parts, axis) : null;
  },

  Gather(node, [data, indices]) {
    const rows = indices?.integers();
    const axis = data && normalizeAxes([node.int("axis", 0)], data.dims.length)?.[0];
    if (!data || !rows || typeof axis !== "number" || !isMovable(data)) return null;
    const size = data.dims[axis]!;
    if (!rows.every((row) => row >= -size && row < size)) return null;
    const inner = elementCount(data.dims.slice(axis + 1));
    const outer = elementCount(data.dims.slice(0, axis));
    const dims = [...data.dims.slice(0, axis), ...indices!.dims, ...data.dims.slice(axis + 1)];
    const numbers = Array.from({ length: outer }, (_, block) =>
      rows.map((row) => (block * size + (row < 0 ? row + size : row)) * inner),
    ).flat();
    return blocks(data, numbers, inner, dims);
  },

  Expand(_, [data, shape]) {
    const wanted = shape?.integers();
    if (!data || !wanted || !isMovable(data) || shape!.dims.length !== 1) return null;
    return expanded(data, wanted);
  },

  ConstantOfShape(node, [shape]) {
    const dims = shape?.integers();
    const value = node.attributes.get("value");
    if (!dims || dims.some((dim) => dim < 0) || (value && value.type !== "tensor")) return null;
    const element = value?.type === "tensor" ? value.value : Tensor.f32([1], [0]);
    return isMovable(element) && element.elementCount === 1 ? expanded(element.withDims([]), dims) : null;
  },
};

const allOnes = (dims: readonly number[]): number[] => dims.flatMap((dim, axis) => (dim === 1 ? [axis] : []));

/** 0 stands for the dimension in its place, -1 for what is left. */
function reshaped(data: Tensor, wanted: readonly number[]): Tensor | null {
  const dims = wanted.map((dim, axis) => (dim === 0 ? data.dims[axis] : dim));
  const open = dims.indexOf(-1);
  const rest = dims.reduce<number>((product, dim, axis) => (axis === open ? product : product * (dim ?? -1)), 1);
  if (open >= 0) {
    if (!(rest > 0) || data.elementCount % rest !== 0) return null;
    dims[open] = data.elementCount / rest;
  }
  if (!dims.every((dim) => dim !== undefined && dim >= 0)) return null;
  return elementCount(dims as number[]) === data.elementCount ? data.withDims(dims as number[]) : null;
}

interface Cut {
  readonly axis: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly step: number;
}

/** Which mean "to the end" in whichever direction a slice goes. */
const endless = new Set([2n ** 31n - 1n, 2n ** 63n - 1n]);

function sliced(data: Tensor, cuts: readonly Cut[]): Tensor | null {
  const dims = [...data.dims];
  const steps = stridesOf(data.dims);
  let from = 0;
  for (const { axis, start, end, step } of cuts) {
    const size = data.dims[axis]!;
    if (step === 0 || (step < 0 && endless.has(end))) return null;
    const last = step < 0 ? size - 1 : size;
    const first = clamp(start, size, 0, last);
    const beyond = clamp(end, size, step < 0 ? -1 : 0, size);
    dims[axis] = Math.max(0, Math.ceil((beyond - first) / step));
    from += first * steps[axis]!;
    steps[axis]! *= step;
  }
  return stridedTensor(data, { dims, from, steps });
}

/** A position that may be counted from the end. */
function clamp(at: bigint, size: number, least: number, most: number): number {
  const counted = at < 0n ? at + BigInt(size) : at;
  return counted < BigInt(least) ? least : counted > BigInt(most) ? most : Number(counted);
}

function joined(parts: readonly Tensor[], axis: number): Tensor {
  const [{ dtype, dims }] = parts as [Tensor];
  const outer = elementCount(dims.slice(0, axis));
  const pieces = parts.map((part) => ({ bytes: part.bytes(), length: outer === 0 ? 0 : part.byteLength / outer }));
  const result = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let to = 0;
  for (let block = 0; block < outer; block++) {
    for (const { bytes, length } of pieces) {
      result.set(bytes.subarray(block * length, (block + 1) * length), to);
      to += length;
    }
  }
  const along = parts.reduce((sum, part) => sum + part.dims[axis]!, 0);
  return Tensor.fromBytes(
    dtype,
    dims.map((dim, i) => (i === axis ? along : dim)),
    result,
  );
}

/** Runs of `length` elements that begin at these. */
function blocks(data: Tensor, numbers: readonly number[], length: number, dims: readonly number[]): Tensor {
  const bytes = data.bytes();
  const element = data.elementCount === 0 ? 0 : bytes.byteLength / data.elementCount;
  const result = new Uint8Array(numbers.length * length * element);
  numbers.forEach((from, i) => {
    result.set(bytes.subarray(from * element, (from + length) * element), i * length * element);
  });
  return Tensor.fromBytes(data.dtype, dims, result);
}

/** Broadcast both ways, as Expand does. */
export function expanded(data: Tensor, wanted: readonly number[]): Tensor | null {
  const rank = Math.max(data.dims.length, wanted.length);
  const own = [...new Array<number>(rank - data.dims.length).fill(1), ...data.dims];
  const asked = [...new Array<number>(rank - wanted.length).fill(1), ...wanted];
  const dims = own.map((dim, axis) => (dim === 1 ? asked[axis]! : dim));
  if (dims.some((dim, axis) => dim < 0 || (asked[axis] !== 1 && asked[axis] !== dim))) return null;
  const strides = stridesOf(own);
  return stridedTensor(data, { dims, from: 0, steps: strides.map((stride, axis) => (own[axis] === 1 ? 0 : stride)) });
}

/** A dimension: a known size, a symbol that stands for one unknown size wherever it occurs, or unknown. */
export type Dim = number | string | null;

export type Shape = readonly Dim[];

export const isStatic = (shape: Shape | null | undefined): shape is readonly number[] =>
  shape?.every((dim) => typeof dim === "number") ?? false;

export const elementCount = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** Same size for sure: equal numbers, or the same symbol. Two unknowns are not. */
export const sameDim = (a: Dim | undefined, b: Dim | undefined): boolean => a != null && a === b;

export const sameShape = (a: Shape | null, b: Shape | null): boolean =>
  a !== null && b !== null && a.length === b.length && a.every((dim, i) => sameDim(dim, b[i]));

/**
 * True when adding a tensor of shape `small` to one of shape `big` surely gives shape `big`
 * (numpy broadcasting, aligned at the end).
 */
export function broadcastsInto(small: Shape | null, big: Shape | null): boolean {
  if (!small || !big || small.length > big.length) return false;
  const skip = big.length - small.length;
  return small.every((dim, i) => dim === 1 || sameDim(dim, big[skip + i]));
}

export const formatShape = (shape: Shape | null): string =>
  shape === null ? "[...]" : `[${shape.map((dim) => dim ?? "?").join(",")}]`;

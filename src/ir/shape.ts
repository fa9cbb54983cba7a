/** A dimension: a known size, a symbol that stands for one unknown size wherever it occurs, or unknown. */
export type Dim = number | string | null;

export type Shape = readonly Dim[];

export const isStatic = (shape: Shape | null | undefined): shape is readonly number[] =>
  shape?.every((dim) => typeof dim === "number") ?? false;

export const elementCount = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

export const formatShape = (shape: Shape | null): string =>
  shape === null ? "[...]" : `[${shape.map((dim) => dim ?? "?").join(",")}]`;

/** Counts a negative axis, or another place, from the end. */
export const fromFront = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

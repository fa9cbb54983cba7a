/** Orders of axes. Output axis i of Transpose<perm> is input axis perm[i]. */
import type { Node, Shape } from "../../ir/index.js";

export type Permutation = readonly number[];

/** The order that a Transpose gives; null when the rank is needed and unknown, or the attribute is no permutation. */
export function permutationOf(transpose: Node): Permutation | null {
  const perm = transpose.ints("perm");
  if (perm) return perm.every((_, axis) => perm.includes(axis)) ? perm : null;
  const rank = transpose.inputs[0]?.shape?.length ?? transpose.output.shape?.length;
  return rank === undefined ? null : Array.from({ length: rank }, (_, i) => rank - 1 - i);
}

export const isIdentity = (perm: Permutation): boolean => perm.every((axis, i) => axis === i);

export const inverseOf = (perm: Permutation): Permutation => perm.map((_, axis) => perm.indexOf(axis));

/** The order of Transpose<second>(Transpose<first>(x)). */
export const compose = (first: Permutation, second: Permutation): Permutation => second.map((axis) => first[axis]!);

/** Of axes, or of what else they are called by. */
export const isSameOrder = <Axis>(a: readonly Axis[], b: readonly Axis[]): boolean =>
  a.length === b.length && a.every((axis, i) => axis === b[i]);

/** The shape of Transpose<perm> of a tensor of shape `shape`. */
export const permuted = (shape: Shape, perm: Permutation): Shape => perm.map((axis) => shape[axis]!);

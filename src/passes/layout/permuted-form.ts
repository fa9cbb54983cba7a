/** What changes about a node when its operands are stored in another order of axes. */
import { type Attribute, attr, type Node, Tensor } from "../../ir/index.js";
import { givenAxes, normalizeAxes } from "../../rewrite/match.js";
import type { Permutation } from "./permutation.js";

export interface PermutedForm {
  /** The order in which each input is stored; null for one that is read as it is. */
  readonly inputs: readonly (Permutation | null)[];
  readonly outputs: readonly Permutation[];
  /** Inputs that become other constants. */
  readonly constants: ReadonlyMap<number, () => Tensor>;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export type Rule = (node: Node, order: Permutation) => PermutedForm | null;

/** The form of a node of which only the first input is a tensor with axes in that order. */
export const dataOnly = (
  node: Node,
  order: Permutation,
  outputs: readonly Permutation[],
  changes: Partial<Pick<PermutedForm, "constants" | "attributes">> = {},
): PermutedForm | null =>
  node.inputs[0]?.shape?.length === order.length
    ? {
        inputs: node.inputs.map((_, i) => (i === 0 ? order : null)),
        outputs,
        constants: changes.constants ?? new Map(),
        attributes: changes.attributes ?? {},
      }
    : null;

export const axisOf = (axis: number, order: Permutation): number | undefined =>
  order[axis < 0 ? axis + order.length : axis];

/** Axes of a node, from an input since some opset or an attribute before; null when computed or out of range. */
export function axesOf(node: Node, input: number, rank: number): number[] | null {
  const given = givenAxes(node, input);
  return given && normalizeAxes(given, rank);
}

export const axesChange = (node: Node, input: number, axes: readonly number[]): Partial<PermutedForm> =>
  node.inputs[input]
    ? { constants: new Map([[input, () => Tensor.i64([axes.length], axes)]]) }
    : { attributes: { axes: attr.ints(axes) } };

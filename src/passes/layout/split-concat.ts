/**
 * a1, a2 = Split(a), b1, b2 = Split(b), Concat<axis>(a1, b1), Concat<axis>(a2, b2)
 *   =>  Split(Concat<axis>(a, b))
 *
 * along another axis than that of the Splits, which cut alike and are read by the Concats alone.
 */
import { attr, type Dim, type Node, soleReader, type TensorType, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";

export const fuseSplitConcat = defineRewrite({
  name: "fuse-split-concat",
  summary: "Join tensors before they are split instead of joining each of their parts",
  numerics: "exact",
  roots: ["Concat"],
  minOpset: 13,
  rewrite(root, { create, alsoReplace }) {
    const splits = root.inputs.map((input) => (input?.producer?.is("Split") ? input.producer : null));
    const [first] = splits;
    const rank = root.output.shape?.length;
    if (!first || !rank || splits.length < 2 || new Set(splits).size !== splits.length) return null;
    const along = axisOf(root, 0, rank);
    const cut = axisOf(first, 0, rank);
    const sizes = first.outputs.map((part) => part?.shape?.[cut]);
    if (along === cut || !areKnown(sizes)) return null;
    for (const split of splits) {
      if (split?.graph !== root.graph || split.inputs[0]?.shape?.length !== rank) return null;
      if (axisOf(split, 0, rank) !== cut || split.outputs.length !== sizes.length) return null;
      if (split.outputs.some((part, i) => part?.shape?.[cut] !== sizes[i])) return null;
    }
    const concats = sizes.map((_, i) => concatOf(splits as Node[], i));
    if (!concats.includes(root)) return null;
    if (concats.some((concat) => concat === null || axisOf(concat, 0, rank) !== along)) return null;
    const before = [...root.graph.nodes()].find((node) => concats.includes(node))!;
    const whole = create(
      "Concat",
      splits.map((split) => split!.inputs[0]!),
      { axis: attr.int(along) },
      { before, types: [typeOfWhole(root.output.type, cut, sizes)] },
    );
    const joined = create("Split", [whole.output, ...first.inputs.slice(1)], first.attributes, {
      like: first,
      before,
      labels: concats.map((concat) => concat!.output.label),
      types: concats.map((concat) => concat!.output.type),
    });
    for (const [i, concat] of concats.entries()) if (concat !== root) alsoReplace(concat!.output, joined.outputs[i]!);
    return [joined.outputs[concats.indexOf(root)]!];
  },
});

const areKnown = (sizes: readonly (Dim | undefined)[]): sizes is number[] => sizes.every(isKnown);

function typeOfWhole(part: TensorType | null, axis: number, sizes: readonly number[]): TensorType | null {
  const all = sizes.reduce((sum, size) => sum + size, 0);
  return part && { dtype: part.dtype, shape: part.shape?.map((dim, i) => (i === axis ? all : dim)) ?? null };
}

function axisOf(node: Node, otherwise: number, rank: number): number {
  const axis = node.int("axis", otherwise);
  return axis < 0 ? axis + rank : axis;
}

/** The Concat that joins part `part` of each Split, in their order, and alone reads them. */
function concatOf(splits: readonly Node[], part: number): Node | null {
  const values: (Value | null)[] = splits.map((split) => split.outputs[part] ?? null);
  const concat = values[0] ? soleReader(values[0]) : null;
  if (!concat?.is("Concat") || concat.inputs.length !== values.length) return null;
  return values.every((value, i) => value && soleReader(value) === concat && concat.inputs[i] === value)
    ? concat
    : null;
}

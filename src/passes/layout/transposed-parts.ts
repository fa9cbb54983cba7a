/**
 * Reshape(Transpose<perm=[0,3,4,1,2]>(Reshape(x: [N,A*K,H,W], [N,A,K,H,W])), [N,-1,K])
 *   =>  Reshape(Transpose<perm=[0,2,3,1]>(x), [N,-1,K])
 *
 * Where the parts of an axis stay together and in order, the axis goes along as a whole: heads of
 * detectors take their channels apart so. And a Transpose that only moves axes of one element
 * changes no order, so that a Reshape behind it can read what it reads.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, soleProducer } from "../../rewrite/match.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { PartialShape } from "../fold/size-rules.js";
import { permutationOf } from "./permutation.js";
import { axisApart } from "./reshape-around.js";

export const fuseTransposedParts = defineRewrite({
  name: "fuse-transposed-parts",
  summary: "Transpose an axis as a whole where its parts stay together, and no axes of one element",
  numerics: "exact",
  roots: ["Reshape"],
  minOpset: 5,
  rewrite(root, context) {
    const transpose = soleProducer(root.inputs[0], "Transpose");
    const perm = transpose && permutationOf(transpose);
    const source = transpose?.inputs[0];
    const shape = constantIntegers(root.inputs[1]);
    if (!transpose || !perm || !source || !shape) return null;
    const { shapeOf } = context.shared(sizeFacts);
    const within = shapeOf(source);
    if (within?.length !== perm.length) return null;
    if (movesOnesOnly(perm, within)) return reshaped(root, source, shape, context, (axis) => perm[axis] === axis);

    const first = soleProducer(source, "Reshape");
    const x = first?.inputs[0];
    const own = shapeOf(x);
    const at = own && axisApart(own, within);
    if (!x || !own || at === null) return null;
    const count = within.length - own.length + 1;
    const place = perm.indexOf(at);
    // Parts that stay together are one after the other, in the order that they have.
    if (!Array.from({ length: count }, (_, i) => perm[place + i] === at + i).every(Boolean)) return null;
    const whole = perm
      .filter((axis) => axis <= at || axis >= at + count)
      .map((axis) => (axis > at ? axis - count + 1 : axis));
    const moved = context.create(
      "Transpose",
      [x],
      { perm: attr.ints(whole) },
      { like: transpose, types: [{ dtype: x.dtype, shape: whole.map((axis) => x.shape?.[axis] ?? null) }] },
    );
    return reshaped(root, moved.output, shape, context, (axis) => axis < place);
  },
});

/** Whether the axes of more than one element keep their order. */
function movesOnesOnly(perm: readonly number[], shape: PartialShape): boolean {
  const kept = perm.filter((axis) => shape[axis] !== 1);
  return kept.every((axis, i) => i === 0 || kept[i - 1]! < axis);
}

/** A Reshape of another view of the same elements, in the same order; `keeps` says which axes a 0 still copies. */
function reshaped(
  root: Node,
  data: Value,
  shape: readonly number[],
  { create, constant }: RewriteContext,
  keeps: (axis: number) => boolean,
): Node | null {
  const copies = root.int("allowzero", 0) === 0;
  const target = shape.map((size, axis) => {
    if (size !== 0 || !copies || keeps(axis)) return size;
    const known = root.inputs[0]!.shape?.[axis];
    return typeof known === "number" && known > 0 ? known : null;
  });
  if (target.some((size) => size === null)) return null;
  const isSame = target.every((size, axis) => size === shape[axis]);
  const sizes = isSame
    ? root.inputs[1]!
    : constant(`${root.output.label}/shape`, Tensor.i64([target.length], target as number[]));
  return create("Reshape", [data, sizes], root.attributes, { types: [root.output.type] });
}

/**
 * Reshape(Transpose<perm=[1,0,2]>(Reshape(x: [T,B,C], [T,B*H,D])), [B,H,T,D])
 *   =>  Transpose<perm=[1,2,0,3]>(Reshape(x, [T,B,H,D]))
 *
 * An axis that is taken apart after a Transpose is taken apart before it, by the Reshape
 * that is there.
 */
import { attr, Tensor, type TensorType, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { areSame, multiply, type Size } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import { permutationOf } from "./permutation.js";

export const fuseReshapeAround = defineRewrite({
  name: "fuse-reshape-around",
  summary: "Take an axis apart before a Transpose, in the Reshape that is there",
  numerics: "exact",
  roots: ["Reshape"],
  minOpset: 5,
  rewrite(root, context) {
    const transpose = soleProducer(root.inputs[0], "Transpose");
    const first = soleProducer(transpose?.inputs[0], "Reshape");
    const x = first?.inputs[0];
    const perm = transpose && permutationOf(transpose);
    const { shapeOf } = context.shared(sizeFacts);
    const [own, merged, moved, to] = [x, first?.output, transpose?.output, root.output].map(shapeOf);
    if (!x || !perm || !own || !merged || !moved || !to || merged.length !== perm.length) return null;
    const at = axisApart(moved, to);
    if (at === null) return null;
    const more = to.length - moved.length;
    const place = perm[at]!;
    const target = merged.flatMap((size, axis) => (axis === place ? to.slice(at, at + more + 1) : [size]));
    const shape = targetOf(target, own);
    if (!shape) return null;
    // Axes behind the one that is taken apart move on.
    const apart = perm.flatMap((axis) => {
      if (axis !== place) return [axis > place ? axis + more : axis];
      return Array.from({ length: more + 1 }, (_, i) => place + i);
    });
    return made(x, shape, apart, target, root.output, context);
  },
});

/** The axis that `to` has as several, all others being the same; null when it is not that. */
export function axisApart(from: readonly Size[], to: readonly Size[]): number | null {
  const more = to.length - from.length;
  if (more < 1) return null;
  for (const [at, size] of from.entries()) {
    const isSame = from.every((other, i) => i === at || areSame(other, to[i < at ? i : i + more]));
    const product = to.slice(at, at + more + 1).reduce<Size | null>((all, each) => all && multiply(all, each), 1);
    if (isSame && areSame(product, size)) return at;
  }
  return null;
}

/** What to tell a Reshape of `own` so that it gives `target`: at most one size may be left over. */
function targetOf(target: readonly Size[], own: readonly Size[]): number[] | null {
  const shape = target.map((size, i) => (typeof size === "number" ? size : areSame(size, own[i]) ? 0 : -1));
  // A zero that means no elements is not for here.
  if (target.includes(0)) return null;
  return shape.filter((size) => size === -1).length <= 1 ? shape : null;
}

function made(
  x: Value,
  shape: readonly number[],
  perm: readonly number[],
  sizes: readonly Size[],
  output: Value,
  { create, constant }: RewriteContext,
): ReturnType<RewriteContext["create"]> {
  const dims = sizes.map((size) => (typeof size === "number" ? size : null));
  const type: TensorType = { dtype: output.dtype, shape: dims };
  const sizesOf = constant(`${output.label}/shape`, Tensor.i64([shape.length], shape));
  const reshape = create("Reshape", [x, sizesOf], {}, { types: [type] });
  return create("Transpose", [reshape.output], { perm: attr.ints(perm) }, { types: [output.type] });
}

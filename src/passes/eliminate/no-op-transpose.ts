import { attr, type Shape } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";
import { isIdentity, type Permutation, permutationOf } from "../layout/permutation.js";

/**
 * Transpose<identity>(x)            =>  x
 * Transpose<[1,0,2]>(x: [1,1,n])    =>  x
 * Transpose<q>(Transpose<p>(x))     =>  Transpose<p[q[i]]>(x), or x
 */
export const eliminateNoOpTranspose = defineRewrite({
  name: "eliminate-no-op-transpose",
  summary: "Remove Transposes that keep the order of axes, and merge two in a row",
  numerics: "exact",
  roots: ["Transpose"],
  rewrite(outer, { create }) {
    const input = outer.inputs[0];
    const last = permutationOf(outer);
    if (!input || !last) return null;
    if (isIdentity(last) || exchangesOnlyOnes(input.shape, last)) return input;
    const inner = producerOf(input, "Transpose", outer.graph);
    const source = inner?.inputs[0];
    const first = inner && permutationOf(inner);
    if (!source || !first || first.length !== last.length) return null;
    const perm = last.map((axis) => first[axis]!);
    if (isIdentity(perm)) return source;
    if (input.useCount !== 1) return null;
    return create("Transpose", [source], { perm: attr.ints(perm) });
  },
});

/** Whether each axis stays or is, like the one that takes its place, of one element. */
const exchangesOnlyOnes = (shape: Shape | null, perm: Permutation): boolean =>
  !!shape && perm.every((axis, i) => axis === i || (shape[axis] === 1 && shape[i] === 1));

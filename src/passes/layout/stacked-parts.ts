/**
 *   Concat<axis=b>(Unsqueeze(Gather<axis=a>(x, 0), b), Unsqueeze(Gather<axis=a>(x, 1), b))  =>  Transpose(x), which moves a to b
 *
 * All parts of a tensor, or some of them, that are stacked along another axis, or the same: real and imaginary parts, coordinates,
 * queries and keys.
 */
import { attr, type Node } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { givenAxes, normalizeAxes, producerOf } from "../../rewrite/match.js";
import { isIdentity, permuted } from "./permutation.js";
import { pickedRowsOf } from "./picked-row.js";
import { takeRows } from "./take-rows.js";

export const fuseStackedParts = defineRewrite({
  name: "fuse-stacked-parts",
  summary: "Move an axis whose parts are picked and stacked again",
  numerics: "exact",
  roots: ["Concat"],
  // Of Slice with inputs.
  minOpset: 10,
  rewrite(root, context) {
    const axis = stackedAxis(root);
    const picked = axis === null ? null : pickedRowsOf(root.inputs.map((input) => input!.producer!.inputs[0]!));
    const shape = picked?.rows.shape;
    if (axis === null || !picked || !shape) return null;
    const parts = takeRows(picked, {
      constant: context.constant,
      create: (op, inputs, attributes, made) =>
        context.create(op, inputs, attributes, { types: [{ dtype: inputs[0]!.dtype, shape: made }] }).output,
    });
    const others = shape.map((_, at) => at).filter((at) => at !== picked.axis);
    const perm = others.toSpliced(axis, 0, picked.axis);
    if (isIdentity(perm)) return parts === picked.rows ? context.create("Identity", [parts]) : parts;
    const types = [{ dtype: parts.dtype, shape: permuted(parts.shape!, perm) }];
    return context.create("Transpose", [parts], { perm: attr.ints(perm) }, { types });
  },
});

/** The axis that each input gets for the stack, from the front. */
function stackedAxis(concat: Node): number | null {
  const rank = concat.output.shape?.length;
  if (rank === undefined || concat.inputs.length < 2) return null;
  const [axis] = normalizeAxes([concat.int("axis", 0)], rank) ?? [];
  const isStacked = concat.inputs.every((input) => {
    const unsqueeze = producerOf(input, "Unsqueeze", concat.graph);
    const given = unsqueeze && normalizeAxes(givenAxes(unsqueeze) ?? [], rank);
    return given?.length === 1 && given[0] === axis;
  });
  return isStacked ? axis! : null;
}

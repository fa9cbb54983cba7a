/**
 *   Transpose<[1,0,2,4,3]>(x: [N,3,H,D,L])  =>  rows along L by one Transpose, then rows and columns of [3*N*H,D,L] by another
 *
 * ONNX Runtime's CPU looks up each element of a Transpose that neither keeps rows together nor moves one axis alone: 2.2 ns an
 * element, and 0.2 to 0.4 in two steps (1.32, Zen 5, 1 thread). Reshapes between them keep its optimizer from putting them
 * together again. For the same reason one stands behind a Transpose whose parts are transposed once more: it would
 * be moved behind them, and become one that is slow.
 */
import { attr, bitsOf, type Node, type Shape, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { isKnown, producerOf } from "../../rewrite/match.js";
import { permutationOf, permuted } from "./permutation.js";
import { cheapestSteps, type Move, moveNs, savesTime } from "./transpose-steps.js";
import { becomesLess, becomesSlow } from "./transposes-behind.js";

export const splitTranspose = defineRewrite({
  name: "split-transpose",
  summary: "Move rows by one Transpose and exchange rows and columns by another",
  numerics: "exact",
  roots: ["Transpose"],
  // Of a Reshape by a computed shape.
  minOpset: 5,
  onlyOnCpu: "its kernel for Transpose looks up elements one by one where several axes change their places",
  // Two Transposes, and Reshapes that say nothing new, are one where nobody asks how long that takes.
  runsLast: true,
  rewrite(transpose, context) {
    const x = transpose.inputs[0];
    const perm = permutationOf(transpose);
    const dims = x?.shape;
    // Strings are copied one by one whatever they stand in.
    if (!x?.dtype || x.dtype === "string" || !dims || perm?.length !== dims.length || dims.includes(0)) return null;
    if (dims.filter((dim) => !isKnown(dim)).length > 1) return null;
    const { output } = transpose;
    const move = { dims, perm, bytes: bitsOf(x.dtype) / 8 };
    const { steps, ns } = cheapestSteps(move);
    const before = moveNs(move);
    if (ns < before / 2 && savesTime(before - ns, dims))
      return becomesLess(transpose, move, ns) ? null : inSteps(x, steps, permuted(dims, perm), context);
    return becomesSlow(output, move) ? apart(transpose, permuted(dims, perm), context) : null;
  },
});

function inSteps(x: Value, steps: readonly Move[], made: Shape, context: RewriteContext): Value {
  const reshape = producerOf(x, "Reshape", x.graph);
  let value = reshape?.inputs[0] ?? x;
  for (const step of steps) value = moved(view(value, step.dims, context), step, context);
  return view(value, made, context);
}

const moved = (value: Value, { dims, perm }: Move, { create }: RewriteContext): Value =>
  create(
    "Transpose",
    [value],
    { perm: attr.ints(perm) },
    { types: [{ dtype: value.dtype, shape: permuted(dims, perm) }] },
  ).output;

/** The value in another shape, of one size at most that is not known. */
function view(value: Value, shape: Shape, context: RewriteContext): Value {
  if (value.shape && isSameShape(value.shape, shape)) return value;
  const target = Tensor.i64(
    [shape.length],
    shape.map((dim) => (isKnown(dim) ? dim : -1)),
  );
  const types = [{ dtype: value.dtype, shape }];
  return context.create("Reshape", [value, context.constant(`${value.label}/shape`, target)], {}, { types }).output;
}

const isSameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((dim, axis) => dim === b[axis] || !(isKnown(dim) || isKnown(b[axis])));

/** The same with a Reshape behind it, which nothing is moved past. */
function apart(transpose: Node, made: Shape, { create, constant }: RewriteContext): Node {
  const { inputs, attributes, output } = transpose;
  const types = [{ dtype: inputs[0]!.dtype, shape: made }];
  const moved = create("Transpose", inputs, attributes, { types });
  const sizes = made.map((dim) => (isKnown(dim) ? dim : 0));
  return create(
    "Reshape",
    [moved.output, constant(`${output.label}/shape`, Tensor.i64([sizes.length], sizes))],
    {},
    { types },
  );
}

/**
 * Axes around a reduction:
 *
 *   Squeeze(Reduce<keepdims=1>(x))            =>  Reduce<keepdims=0>(x)
 *   Reduce(Reshape(x: [N,C,H,W], [N,C,H*W]))  =>  Reduce(x) over both axes
 *   ReduceSum(ReduceSum(x))                   =>  ReduceSum(x) over the axes of both
 *   Reduce(Transpose(x))                      =>  Transpose(Reduce(x)), which has fewer elements to move, or none
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { axisReductions } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { givenAxes, isKnown, isSameDim, normalizeAxes, soleProducer } from "../../rewrite/match.js";
import { reducedAxes } from "../fuse/reduced-axes.js";
import { isIdentity, permutationOf, permuted } from "./permutation.js";

/** Reductions of reductions that are one; a mean of means too, since all groups have one size. */
const NESTABLE = ["ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"];

interface Reduction {
  readonly node: Node;
  readonly source: Value;
  readonly rank: number;
  /** From the front; all of them where the node names none. */
  readonly axes: readonly number[];
  readonly keeps: boolean;
}

function reductionOf(node: Node | null): Reduction | null {
  const source = node?.inputs[0];
  const rank = source?.shape?.length;
  if (!node || !source || rank === undefined) return null;
  const axes = reducedAxes(node)?.map((axis) => axis + rank);
  return axes ? { node, source, rank, axes, keeps: node.int("keepdims", 1) === 1 } : null;
}

/** A reduction of the same kind over other axes; their place among inputs or attributes is that of the old one's opset. */
function reduce(
  { node }: Reduction,
  source: Value,
  axes: readonly number[],
  keeps: boolean,
  { create, constant, opset }: RewriteContext,
): Node {
  const others = [...node.attributes].filter(([name]) => !["axes", "keepdims", "noop_with_empty_axes"].includes(name));
  const keepdims = ["keepdims", attr.int(keeps ? 1 : 0)] as const;
  const takesInput = opset >= 18 || (node.op === "ReduceSum" && opset >= 13);
  if (!takesInput) return create(node.op, [source], [...others, ["axes", attr.ints(axes)], keepdims]);
  return create(node.op, [source, constant("axes", Tensor.i64([axes.length], axes))], [...others, keepdims]);
}

/** The reduction that alone feeds a value. */
function soleReduction(value: Value | null | undefined): Reduction | null {
  const op = value?.producer?.op ?? "";
  return axisReductions.includes(op) ? reductionOf(soleProducer(value, op)) : null;
}

const argAxis = (value: Value | null | undefined): { node: Node; axis: number; keeps: boolean } | null => {
  const node = soleProducer(value, "ArgMax") ?? soleProducer(value, "ArgMin");
  const rank = node?.inputs[0]?.shape?.length;
  const axis = node && rank ? normalizeAxes([node.int("axis", 0)], rank)?.[0] : undefined;
  return axis === undefined ? null : { node: node!, axis, keeps: node!.int("keepdims", 1) === 1 };
};

export const fuseReduceSqueeze = defineRewrite({
  name: "fuse-reduce-squeeze",
  summary: "Let reductions drop their axes themselves instead of by Squeeze",
  numerics: "exact",
  roots: ["Squeeze"],
  rewrite(root, context) {
    const [input] = root.inputs;
    const given = givenAxes(root);
    if (!given || given.length === 0) return null;
    const matches = (rank: number, axes: readonly number[], keeps: boolean): boolean =>
      keeps &&
      normalizeAxes(given, rank)
        ?.sort((a, b) => a - b)
        .join() === axes.join();
    const reduction = soleReduction(input);
    if (reduction) {
      const { source, rank, axes, keeps } = reduction;
      return matches(rank, axes, keeps) ? reduce(reduction, source, axes, false, context) : null;
    }
    const arg = argAxis(input);
    if (!arg || !matches(arg.node.inputs[0]!.shape!.length, [arg.axis], arg.keeps)) return null;
    return context.create(arg.node.op, arg.node.inputs, [
      ...[...arg.node.attributes].filter(([name]) => name !== "keepdims"),
      ["keepdims", attr.int(0)],
    ]);
  },
});

export const fuseReduceReduce = defineRewrite({
  name: "fuse-reduce-reduce",
  summary: "Reduce over all axes at once instead of one after the other, or after a Reshape that merges them",
  numerics: "rounding",
  roots: axisReductions,
  rewrite(root, context) {
    const outer = reductionOf(root);
    if (!outer) return null;
    return afterReshape(outer, context) ?? nested(outer, context);
  },
});

/** Integers may wrap in another order, but to the same sum; a mean of integers rounds at every step. */
const isFloatOrExact = ({ node, source }: Reduction): boolean =>
  node.op !== "ReduceMean" || ["f32", "f64", "f16", "bf16"].includes(source.dtype ?? "");

function nested(outer: Reduction, context: RewriteContext): Node | null {
  const inner = soleReduction(outer.source);
  if (!inner || inner.node.op !== outer.node.op || !NESTABLE.includes(inner.node.op) || !isFloatOrExact(inner))
    return null;
  const left = Array.from({ length: inner.rank }, (_, axis) => axis).filter((axis) => !inner.axes.includes(axis));
  const second = inner.keeps ? outer.axes : outer.axes.map((axis) => left[axis]!);
  const axes = [...new Set([...inner.axes, ...second])].sort((a, b) => a - b);
  // Axes that one of them drops and the other keeps would need a Reshape.
  if (inner.keeps !== outer.keeps) return null;
  return reduce(outer, inner.source, axes, outer.keeps, context);
}

function afterReshape(outer: Reduction, context: RewriteContext): Node | null {
  const reshape = soleProducer(outer.source, "Reshape") ?? soleProducer(outer.source, "Flatten");
  const source = reshape?.inputs[0];
  const [before, after] = [source?.shape, outer.source.shape];
  if (!source || !before || !after || outer.keeps || outer.axes.length !== 1) return null;
  const [axis] = outer.axes as [number];
  const merged = before.length - after.length + 1;
  if (merged < 2) return null;
  const isKept = after.every((dim, i) => i === axis || isSameDim(dim, before[i < axis ? i : i + merged - 1]));
  // With a size of 0 elsewhere, the merged one may be anything.
  const rest = after.filter((_, i) => i !== axis);
  if (!isKept || rest.includes(0)) return null;
  const axes = Array.from({ length: merged }, (_, i) => axis + i);
  return reduce(outer, source, axes, false, context);
}

export const sinkReducedTranspose = defineRewrite({
  name: "sink-reduced-transpose",
  summary: "Reduce first and put what is left into another order then",
  numerics: "rounding",
  roots: axisReductions,
  rewrite(root, context) {
    const reduction = reductionOf(root);
    const transpose = reduction && soleProducer(reduction.source, "Transpose");
    const [perm, x] = transpose ? [permutationOf(transpose), transpose.inputs[0]] : [];
    if (!reduction || !perm || !x?.shape || perm.length !== reduction.rank) return null;
    const axes = reduction.axes.map((axis) => perm[axis]!).sort((a, b) => a - b);
    if (!axes.some((axis) => isKnown(x.shape![axis]) && x.shape![axis] > 1)) return null;
    const reduced = reduce(reduction, x, axes, reduction.keeps, context);
    const left = reduction.keeps ? perm : perm.filter((axis) => !axes.includes(axis));
    const order = left.map((axis) => (reduction.keeps ? axis : axis - axes.filter((each) => each < axis).length));
    if (isIdentity(order)) return reduced;
    const shape = reduction.keeps
      ? x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size))
      : x.shape.filter((_, axis) => !axes.includes(axis));
    const types = [{ dtype: x.dtype, shape: permuted(shape, order) }];
    return context.create("Transpose", [reduced.output], { perm: attr.ints(order) }, { types });
  },
});

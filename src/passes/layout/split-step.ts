/**
 * Split(x) with the same step after each part  =>  Split(step(x))
 *
 * for operators that go element by element, a Transpose, and a Reshape that takes the axis
 * of the Split, the last one, apart:
 *
 *   Reshape(part: [N,T,32], [0,0,4,8]), 3 times  =>  Split<axis=2>(Reshape(x: [N,T,96], [0,0,12,8]))
 *
 * One kernel goes over the whole where several went over parts of it.
 */
import { attr, type Node, soleReader, Tensor, type TensorType, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, isKnown, isSameStep, normalizeAxes } from "../../rewrite/match.js";
import { permutationOf } from "./permutation.js";

export const hoistSplitStep = defineRewrite({
  name: "hoist-split-step",
  summary: "Do once before a Split what is done to each of its parts",
  numerics: "rounding",
  roots: ["*"],
  minOpset: 13,
  rewrite(root, context) {
    const split = root.inputs[0]?.producer;
    const source = split?.inputs[0];
    if (!split?.is("Split") || split.graph !== root.graph || !source || source.constant) return null;
    const steps = split.outputs.map((part) => part && soleReader(part));
    if (steps.length < 2 || !steps.every((step) => step !== null && isStep(step))) return null;
    const all = steps as Node[];
    if (all.some((step, i) => step.inputs[0] !== split.outputs[i] || !isSameStep(all[0]!, step))) return null;
    const rank = source.shape?.length;
    const [axis] = (rank !== undefined && normalizeAxes([split.int("axis", 0)], rank)) || [];
    if (axis === undefined) return null;
    const moved = moveUp(all[0]!, source, split, axis, context);
    if (!moved) return null;
    const labels = all.map((step) => step.output.label);
    const inputs = moved.sizes ? [moved.value, moved.sizes] : [moved.value];
    const attributes = new Map(split.attributes).set("axis", attr.int(moved.axis));
    // Sizes say how many parts there are.
    if (moved.sizes) attributes.delete("num_outputs");
    const types = all.map((step) => step.output.type);
    const parts = context.create("Split", inputs, attributes, { labels, types, like: split, before: split }).outputs;
    for (const [i, step] of all.entries()) if (step !== root) context.alsoReplace(step.output, parts[i]!);
    return [parts[all.indexOf(root)]!];
  },
});

interface Moved {
  readonly value: Value;
  /** The axis of the Split after the step. */
  readonly axis: number;
  readonly sizes: Value | null;
}

const isStep = (node: Node): boolean =>
  familyOf(node) === "unary" || node.is("Cast") || node.is("Transpose") || node.is("Reshape");

/** The step on the whole tensor; null where it does not work on the parts as it does on the whole. */
function moveUp(step: Node, source: Value, split: Node, axis: number, context: RewriteContext): Moved | null {
  const sizes = split.inputs[1] ?? null;
  const options = { like: step, before: split };
  if (step.op === "Reshape") return reshaped(step, source, split, axis, context);
  if (step.op === "Transpose") {
    const perm = permutationOf(step);
    if (perm?.length !== source.shape!.length) return null;
    const type = { dtype: source.dtype, shape: perm.map((from) => source.shape![from]!) };
    const value = context.create("Transpose", [source], step.attributes, { ...options, types: [type] }).output;
    return { value, axis: perm.indexOf(axis), sizes };
  }
  const type = { dtype: step.output.dtype, shape: source.shape };
  const inputs = [source, ...step.inputs.slice(1)];
  return { value: context.create(step.op, inputs, step.attributes, { ...options, types: [type] }).output, axis, sizes };
}

/** [..., C] as [..., h, w], where each part of C is [..., some of h, w]. */
function reshaped(step: Node, source: Value, split: Node, axis: number, context: RewriteContext): Moved | null {
  const target = constantIntegers(step.inputs[1]);
  const [from, to] = [split.outputs[0]!.shape, step.output.shape];
  const count = split.outputs.length;
  const [size, heads, width] = [from?.[axis], to?.[axis], to?.[axis + 1]];
  if (!target || !from || axis !== from.length - 1 || to?.length !== from.length + 1) return null;
  if (!isKnown(size) || !isKnown(heads) || !isKnown(width) || size < 1 || heads * width !== size) return null;
  // The same target for all parts means the same size for all of them, but for what -1 may stand for.
  if (split.outputs.some((part) => part!.shape?.[axis] !== size)) return null;
  // The axes in front must come out as they went in, of whatever size they are.
  const isKept = target.slice(0, axis).every((given, i) => keepsAxis(given, i, target, from[i]!, step));
  if (!isKept) return null;
  const wanted = [...target.slice(0, axis), heads * count, width];
  const type: TensorType = { dtype: source.dtype, shape: [...source.shape!.slice(0, axis), heads * count, width] };
  const label = step.inputs[1]!.label;
  const value = context.create(
    "Reshape",
    [source, context.constant(label, Tensor.i64([wanted.length], wanted))],
    step.attributes,
    { like: step, before: split, types: [type] },
  ).output;
  return { value, axis, sizes: context.constant(`${label}/sizes`, Tensor.i64([count], Array(count).fill(heads))) };
}

/** Whether a Reshape to `target` gives axis `i` the size that it has: named, copied, or the one that is left over. */
function keepsAxis(given: number, i: number, target: readonly number[], own: unknown, step: Node): boolean {
  if (given === 0) return step.int("allowzero", 0) === 0;
  if (given > 0) return given === own;
  return target.every((other, j) => j === i || other > 0 || (other === 0 && step.int("allowzero", 0) === 0));
}

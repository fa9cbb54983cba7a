/**
 * Concat and Split that meet:
 *
 *   Concat(Split(x) in order)         =>  x
 *   Concat(Concat(a, b), c)           =>  Concat(a, b, c)
 *   Split(Concat(a, b)) in the parts  =>  a, b
 *   Slice(Concat(a, b)) of one part   =>  a
 *   Slice(Concat(a, b, c)) of several =>  Concat(a, b)
 *   Split with one part that is read  =>  Slice
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, normalizeAxes, producerOf, soleProducer } from "../../rewrite/match.js";
import { boundInputs, onlyStretch } from "./slice-bounds.js";

const axisOf = (node: Node, absent: number, value: Value | null | undefined): number | null => {
  const rank = value?.shape?.length;
  return rank === undefined ? null : (normalizeAxes([node.int("axis", absent)], rank)?.[0] ?? null);
};

export const fuseConcat = defineRewrite({
  name: "fuse-concat",
  summary: "Merge a Concat into the Concat that reads it, and remove one that restores what a Split took apart",
  numerics: "exact",
  roots: ["Concat"],
  rewrite(root, { create }) {
    const axis = axisOf(root, 0, root.inputs[0] ?? root.output);
    if (axis === null) return null;
    const whole = splitWhole(root, axis);
    if (whole) return whole;
    const parts = root.inputs.map((input) => {
      const inner = soleProducer(input, "Concat");
      return inner && axisOf(inner, 0, input) === axis ? inner : null;
    });
    if (parts.every((part) => part === null)) return null;
    const inputs = root.inputs.flatMap((input, i) => parts[i]?.inputs ?? [input]);
    return create("Concat", inputs, { axis: attr.int(axis) });
  },
});

/** The tensor whose parts a Concat puts together again, all of them and in order. */
function splitWhole(root: Node, axis: number): Value | null {
  const split = root.inputs[0]?.producer;
  const source = split?.inputs[0];
  if (!split?.is("Split") || !source || split.graph !== root.graph) return null;
  const isAll =
    split.outputs.length === root.inputs.length && split.outputs.every((part, i) => part === root.inputs[i]);
  return isAll && axisOf(split, 0, source) === axis ? source : null;
}

/** Sizes of the inputs of a Concat along its axis; null when one is not known. */
function partSizes(concat: Node, axis: number): number[] | null {
  const sizes = concat.inputs.map((input) => input?.shape?.[axis]);
  return sizes.every((size) => typeof size === "number") ? sizes : null;
}

export const eliminateConcatParts = defineRewrite({
  name: "eliminate-concat-parts",
  summary: "Take parts of a Concat from where they come",
  numerics: "exact",
  roots: ["Split", "Slice"],
  rewrite(root, { create, constant, opset }) {
    const concat = producerOf(root.inputs[0], "Concat", root.graph);
    const axis = concat && axisOf(concat, 0, concat.inputs[0] ?? root.inputs[0]);
    const sizes = axis === null ? null : concat && partSizes(concat, axis);
    if (!concat || axis === null || !sizes) return null;
    if (root.op === "Split") {
      if (axisOf(root, 0, root.inputs[0]) !== axis) return null;
      const wanted = root.outputs.map((output) => output?.shape?.[axis] ?? null);
      return wanted.join() === sizes.join() ? concat.inputs : null;
    }
    const stretch = onlyStretch(root);
    if (stretch?.axis !== axis) return null;
    const borders = [0];
    for (const size of sizes) borders.push(borders.at(-1)! + size);
    const [first, last] = [borders.lastIndexOf(stretch.start), borders.indexOf(stretch.end)];
    if (stretch.step === 1 && first >= 0 && last - first > 1 && last - first < sizes.length)
      return create("Concat", concat.inputs.slice(first, last), { axis: attr.int(axis) });
    for (const [i, size] of sizes.entries()) {
      const [from, to] = [stretch.start - borders[i]!, stretch.end - borders[i]!];
      if (from < 0 || to > size || to <= from) continue;
      if (from === 0 && to === size && stretch.step === 1) return concat.inputs[i]!;
      // Before, a Slice had attributes.
      if (opset < 10) return null;
      const bounds = { starts: [BigInt(from)], ends: [BigInt(to)], axes: [axis], steps: [BigInt(stretch.step)] };
      return create("Slice", [concat.inputs[i]!, ...boundInputs(bounds, constant)]);
    }
    return null;
  },
});

export const eliminateUnusedPart = defineRewrite({
  name: "eliminate-unused-part",
  summary: "Cut out the one part of a Split that is read by a Slice",
  numerics: "exact",
  roots: ["Split"],
  minOpset: 10,
  rewrite(split, { create, constant }) {
    const read = split.outputs.flatMap((output, i) => (output && output.useCount > 0 ? [i] : []));
    const [index] = read;
    const source = split.inputs[0];
    const axis = axisOf(split, 0, source);
    if (index === undefined || read.length !== 1 || split.outputs.length < 2 || !source || axis === null) return null;
    const sizes = split.inputs[1] ? constantIntegers(split.inputs[1]) : split.ints("split");
    const given = sizes ?? split.outputs.map((output) => output?.shape?.[axis]);
    if (given.length !== split.outputs.length || given.some((size) => typeof size !== "number")) return null;
    const start = (given as number[]).slice(0, index).reduce((sum, size) => sum + size, 0);
    const end = start + (given[index] as number);
    const label = split.outputs[index]!.label;
    const bounds = { starts: [BigInt(start)], ends: [BigInt(end)], axes: [axis], steps: [1n] };
    const slice = create("Slice", [source, ...boundInputs(bounds, constant)], {}, { labels: [label] });
    return split.outputs.map((_, i) => (i === index ? slice.output : null));
  },
});

/**
 * Moves along one axis, by indices that are known, in one Gather:
 *
 *   Squeeze(Slice(x, i:i+1))                        =>  Gather(x, i)
 *   Concat(Slice(x, 5:8), Slice(x, 0:5))  (a roll)  =>  Gather(x, [5,6,7,0,1,2,3,4])
 *   Reshape(Transpose(Reshape(x)))  (channels shuffled between groups)  =>  Gather(x, [0,4,1,5,...])
 *
 * A Gather copies one row per index. Short rows are left: there the others are faster on CPU.
 */
import { attr, type Shape, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { givenAxes, hasSameShape, isSameDim, normalizeAxes, soleProducer } from "../../rewrite/match.js";
import { permutationOf } from "./permutation.js";
import { onlyStretch } from "./slice-bounds.js";

/** Elements in a row from which on a Gather was not slower than what it replaces. */
const MIN_ROW = 48;
const MIN_SINGLE_ROW = 96;
const MAX_INDICES = 4096;

/** What a size that is not known is taken for. */
const UNKNOWN_SIZE = 8;

const elementsOf = (dims: Shape): number =>
  dims.reduce<number>((count, dim) => count * (typeof dim === "number" ? dim : UNKNOWN_SIZE), 1);

/** Whether what lies side by side behind an axis is worth a copy of its own. */
const hasLongRows = (shape: Shape, axis: number, least = MIN_ROW): boolean =>
  elementsOf(shape.slice(axis + 1)) >= least;

export const fuseSliceSqueeze = defineRewrite({
  name: "fuse-slice-squeeze",
  summary: "Take one element of an axis by one Gather",
  numerics: "exact",
  roots: ["Squeeze"],
  rewrite(squeeze, { create, constant, skip }) {
    const slice = soleProducer(squeeze.inputs[0], "Slice");
    const source = slice?.inputs[0];
    const shape = source?.shape;
    const given = givenAxes(squeeze);
    const axes = shape && given && normalizeAxes(given, shape.length);
    const stretch = slice && onlyStretch(slice);
    if (!source || !stretch || axes?.length !== 1 || axes[0] !== stretch.axis) return null;
    if (stretch.end - stretch.start !== 1) return null;
    // One row in all is one copy, however short.
    const isOne = shape!.slice(0, stretch.axis).every((dim) => dim === 1);
    if (!isOne && !hasLongRows(shape!, stretch.axis, MIN_SINGLE_ROW)) return skip("its rows are short");
    const index = constant("index", Tensor.i64([], [stretch.start]));
    return create("Gather", [source, index], { axis: attr.int(stretch.axis) });
  },
});

export const fuseRoll = defineRewrite({
  name: "fuse-roll",
  summary: "Put slices of one tensor together in another order by one Gather",
  numerics: "exact",
  roots: ["Concat"],
  rewrite(concat, { create, constant, skip }) {
    const parts = concat.inputs.map((input) => {
      const slice = soleProducer(input, "Slice");
      const stretch = slice && onlyStretch(slice);
      return stretch && { ...stretch, source: slice.inputs[0]! };
    });
    const [first] = parts;
    const shape = first?.source.shape;
    const axis = shape && normalizeAxes([concat.int("axis", 0)], shape.length)?.[0];
    if (!first || parts.length < 2 || axis === undefined) return null;
    if (parts.some((part) => part?.source !== first.source || part.axis !== axis)) return null;
    const indices = parts.flatMap((part) => rangeOf(part!.start, part!.end, part!.step));
    if (indices.length > MAX_INDICES) return null;
    if (!hasLongRows(shape!, axis!)) return skip("its rows are short");
    const rows = constant("rows", Tensor.i64([indices.length], indices));
    return create("Gather", [first.source, rows], { axis: attr.int(axis!) });
  },
});

const rangeOf = (start: number, end: number, step: number): number[] =>
  Array.from({ length: Math.ceil((end - start) / step) }, (_, i) => start + i * step);

export const fuseChannelShuffle = defineRewrite({
  name: "fuse-channel-shuffle",
  summary: "Exchange groups and their members along one axis by one Gather",
  numerics: "exact",
  roots: ["Reshape"],
  rewrite(last, { create, constant, skip }) {
    const transpose = soleProducer(last.inputs[0], "Transpose");
    const first = soleProducer(transpose?.inputs[0], "Reshape");
    const source = first?.inputs[0];
    if (!transpose || !first || !source || !hasSameShape(source, last.output)) return null;
    const axis = exchangedAxis(source, first.output, permutationOf(transpose));
    if (axis === null) return null;
    if (!hasLongRows(source.shape!, axis)) return skip("its rows are short");
    const [groups, members] = first.output.shape!.slice(axis, axis + 2) as [number, number];
    if (groups * members > MAX_INDICES) return null;
    const order = Array.from({ length: groups * members }, (_, i) => (i % groups) * members + Math.floor(i / groups));
    return create("Gather", [source, constant("order", Tensor.i64([order.length], order))], { axis: attr.int(axis) });
  },
});

/** The axis that is taken apart into two, which then trade places; null when anything else happens. */
function exchangedAxis(whole: Value, apart: Value, perm: readonly number[] | null): number | null {
  const [shape, parts] = [whole.shape, apart.shape];
  if (!shape || !perm || parts?.length !== shape.length + 1 || perm.length !== parts.length) return null;
  const axis = perm.findIndex((from, to) => from !== to);
  if (axis < 0 || !perm.every((from, to) => from === (to === axis ? axis + 1 : to === axis + 1 ? axis : to)))
    return null;
  const [size, groups, members] = [shape[axis], parts[axis], parts[axis + 1]];
  if (typeof size !== "number" || typeof groups !== "number" || size !== groups * (members as number)) return null;
  const isKept = shape.every((dim, i) => i === axis || isSameDim(dim, parts[i < axis ? i : i + 1]));
  return isKept ? axis : null;
}

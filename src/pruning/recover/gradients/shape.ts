/** Operators that move, repeat, cut out or add up elements. */
import { elementCount, fromFront, type Node, type Value } from "../../../ir/index.js";
import { resizeSource } from "../../../ops/resize-source.js";
import { dimsOf, NoGradient } from "../formula.js";
import type { GradientRule, Site } from "../gradient-rule.js";

/** Other sizes, same elements in the same order. */
const reshaped: GradientRule = (site) => [site.f.reshape(site.dy, site.dims(0))];

const transposed: GradientRule = (site) => {
  const rank = site.dims(0).length;
  const perm = site.node.ints("perm") ?? Array.from({ length: rank }, (_, i) => rank - 1 - i);
  return [
    site.f.transpose(
      site.dy,
      perm.map((_, axis) => perm.indexOf(axis)),
    ),
  ];
};

const concatenated: GradientRule = (site) => {
  const axis = fromFront(site.node.int("axis", 0), dimsOf(site.y).length);
  let from = 0;
  return site.node.inputs.map((_, i) => {
    const start = from;
    from += site.dims(i)[axis]!;
    const end = from;
    return site.ifWanted(i, () => site.f.slice(site.dy, [start], [end], [axis]));
  });
};

const split: GradientRule = (site) => {
  const { f, node, gradients } = site;
  const parts = node.outputs.map((output, i) => {
    if (!output) throw new NoGradient(`output ${i} is absent`);
    return gradients[i] ?? f.zeros(dimsOf(output));
  });
  const axis = fromFront(node.int("axis", 0), site.dims(0).length);
  return [f.op("Concat", parts, { axis: { type: "int", value: BigInt(axis) } })];
};

/** Zeros around what was cut out; only of steps of 1. */
const sliced: GradientRule = (site) => {
  const { f, dy } = site;
  const dims = site.dims(0);
  const [starts, ends] = [site.bigints(1), site.bigints(2)];
  const axes = site.optional(3) ? site.bigints(3) : starts.map((_, i) => i);
  if (site.optional(4) && site.bigints(4).some((step) => step !== 1n)) throw new NoGradient("its steps are not 1");
  const before = dims.map(() => 0);
  const after = dims.map(() => 0);
  axes.forEach((given, i) => {
    const axis = fromFront(Number(given), dims.length);
    const size = dims[axis]!;
    before[axis] = bounded(starts[i]!, size);
    after[axis] = size - Math.max(before[axis]!, bounded(ends[i]!, size));
  });
  return [f.op("Pad", [dy, f.integers([...before, ...after]), f.scalar(0)])];
};

const bounded = (at: bigint, size: number): number => {
  const from = at < 0n ? at + BigInt(size) : at;
  return Number(from < 0n ? 0n : from > BigInt(size) ? BigInt(size) : from);
};

/** The middle of what was padded with a constant. */
const padded: GradientRule = (site) => {
  const { f, dy, node } = site;
  if (node.string("mode", "constant") !== "constant") throw new NoGradient("its mode is not constant");
  const dims = site.dims(0);
  const pads = site.integers(1);
  const axes = (site.optional(3) ? site.integers(3) : dims.map((_, i) => i)).map((axis) =>
    fromFront(axis, dims.length),
  );
  if (pads.some((pad) => pad < 0)) throw new NoGradient("it takes elements away");
  const starts = axes.map((_, i) => pads[i]!);
  return [
    f.slice(
      dy,
      starts,
      axes.map((axis, i) => starts[i]! + dims[axis]!),
      axes,
    ),
  ];
};

const expanded: GradientRule = (site) => [site.unbroadcast(site.dy, 0)];

/** Rows that were taken get their gradients back, added up where one was taken twice. */
const gathered: GradientRule = (site) => {
  const { f, dy, node } = site;
  const dims = site.dims(0);
  const axis = fromFront(node.int("axis", 0), dims.length);
  const rows = site.integers(1).map((row) => fromFront(row, dims[axis]!));
  const outer = elementCount(dims.slice(0, axis));
  const inner = elementCount(dims.slice(axis + 1));
  const at = f.reshape(f.integers(rows), [1, rows.length, 1]);
  const scattered = f.op(
    "ScatterElements",
    [
      f.zeros([outer, dims[axis]!, inner]),
      f.expand(at, [outer, rows.length, inner]),
      f.reshape(dy, [outer, rows.length, inner]),
    ],
    { axis: { type: "int", value: 1n }, reduction: { type: "string", value: new TextEncoder().encode("add") } },
  );
  return [f.reshape(scattered, dims), null];
};

/** Every element was repeated a whole number of times along each axis: the gradients of its copies are added up. */
const repeated: GradientRule = (site) => {
  const { f, dy, node } = site;
  const [x, y] = [site.dims(0), dimsOf(site.y)];
  const factors = x.map((size, axis) => y[axis]! / size);
  const isRepeated = x.every((size, axis) => isRepetition(node, size, factors[axis]!));
  if (node.string("mode", "nearest") !== "nearest" || !isRepeated)
    throw new NoGradient("it does not just repeat elements");
  const apart = x.flatMap((size, axis) => [size, factors[axis]!]);
  const copies = x.flatMap((_, axis) => (factors[axis] === 1 ? [] : [2 * axis + 1]));
  return [f.reshape(f.sum(f.reshape(dy, apart), copies), x)];
};

/** Whether element i of the result is element floor(i / factor), by the formulas of the operator's definition. */
function isRepetition(node: Node, size: number, factor: number): boolean {
  if (!Number.isInteger(factor)) return false;
  const length = size * factor;
  return Array.from({ length }, (_, i) => i).every((i) => {
    const at = resizeSource(node, i, { from: size, to: length, scale: factor });
    return at !== null && Math.min(size - 1, Math.max(0, nearest(node, at))) === Math.floor(i / factor);
  });
}

function nearest(node: Node, at: number): number {
  switch (node.string("nearest_mode", "round_prefer_floor")) {
    case "floor":
      return Math.floor(at);
    case "ceil":
      return Math.ceil(at);
    case "round_prefer_ceil":
      return Math.floor(at + 0.5);
    default:
      return Math.ceil(at - 0.5);
  }
}

/** Axes of a reduction: an attribute before opset 18 (13 for sums), an input since. */
function reducedAxes(site: Site): readonly number[] {
  const { node } = site;
  const rank = site.dims(0).length;
  const given = node.ints("axes") ?? (site.optional(1) ? site.integers(1) : []);
  if (given.length > 0) return given.map((axis) => fromFront(axis, rank));
  return node.int("noop_with_empty_axes", 0) === 1 ? [] : Array.from({ length: rank }, (_, i) => i);
}

/** Each element that was added up gets the gradient of the sum. */
function spread(site: Site, axes: readonly number[], factor: number): Value {
  const { f, dy } = site;
  const dims = site.dims(0);
  const kept = f.reshape(
    dy,
    dims.map((size, axis) => (axes.includes(axis) ? 1 : size)),
  );
  return f.expand(f.times(kept, factor), dims);
}

/** The norm, or the root that it is: dx = x dy / y, and nothing where the norm is 0. */
const norm: GradientRule = (site) => {
  const { f, y } = site;
  const x = site.input(0);
  const axes = reducedAxes(site);
  const kept = site.dims(0).map((size, axis) => (axes.includes(axis) ? 1 : size));
  const inverse = f.where(f.op("Greater", [y, f.scalar(0)]), f.op("Reciprocal", [y]), f.scalar(0));
  return [f.mul(f.mul(x, f.reshape(inverse, kept)), spread(site, axes, 1))];
};

const countOf = (site: Site, axes: readonly number[]): number => elementCount(axes.map((axis) => site.dims(0)[axis]!));

const spatial = (site: Site): readonly number[] => site.dims(0).flatMap((_, axis) => (axis < 2 ? [] : [axis]));

export const shape: Readonly<Record<string, GradientRule>> = {
  Reshape: reshaped,
  Flatten: reshaped,
  Squeeze: reshaped,
  Unsqueeze: reshaped,
  Transpose: transposed,
  Concat: concatenated,
  Split: split,
  Slice: sliced,
  Pad: padded,
  Expand: expanded,
  Gather: gathered,
  ReduceL2: norm,
  Resize: repeated,
  ReduceSum: (site) => [spread(site, reducedAxes(site), 1)],
  ReduceMean: (site) => {
    const axes = reducedAxes(site);
    return [spread(site, axes, 1 / countOf(site, axes))];
  },
  GlobalAveragePool: (site) => [spread(site, spatial(site), 1 / countOf(site, spatial(site)))],
};

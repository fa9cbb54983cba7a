/**
 * Operators of one input that an affine map may pass: f(x * s + t) = f(x) * s' + t', with
 * the same numbers in the places to which f moves them. Only what f leaves alone may
 * differ from element to element: a reduced axis has one factor for all of it.
 */
import type { Node } from "../../ir/index.js";
import { constantIntegers, constantScalar, normalizeAxes, readsOnlyFirst, scalarBeside } from "../../rewrite/match.js";
import { reducedAxes } from "../fuse/reduced-axes.js";
import { type Grid, mapGrid, permuteGrid, reshapeGrid } from "./grid.js";

/** `back`: from beside the output to beside the input. `forth`: the other way. */
export type Direction = "back" | "forth";

export interface Passage {
  /** Whether an addend passes too. */
  readonly takesShift: boolean;
  /** Only factors above zero pass. */
  readonly needsPositive: boolean;
  /** The grid on the other side; null where it cannot pass. */
  readonly move: (grid: Grid, direction: Direction) => Grid | null;
}

/** Null for an operator that nothing passes, or whose shapes are unknown. */
export function passageOf(node: Node): Passage | null {
  const from = node.inputs[0]?.shape;
  const to = node.outputs[0]?.shape;
  if (node.domain !== "" || !from || !to || !readsOnlyFirst(node)) return null;
  const rank = from.length;
  switch (node.op) {
    case "Transpose": {
      const order = node.ints("perm") ?? from.map((_, axis) => rank - 1 - axis);
      const inverse = order.map((_, axis) => order.indexOf(axis));
      return passage((grid, direction) => permuteGrid(grid, direction === "back" ? inverse : order));
    }
    case "Reshape":
    case "Flatten":
    case "Squeeze":
    case "Unsqueeze":
      return passage((grid, way) => (way === "back" ? reshapeGrid(grid, to, from) : reshapeGrid(grid, from, to)));
    case "GlobalAveragePool":
      return alike(spatialAxes(rank));
    case "AveragePool":
      return alike(spatialAxes(rank), { takesShift: averagesInputsOnly(node) });
    case "MaxPool":
      // Padding is minus infinity, whatever is added to the rest.
      return alike(spatialAxes(rank), { needsPositive: true });
    case "Relu":
    case "LeakyRelu":
      return alike([], { takesShift: false, needsPositive: true });
    case "Pow":
      return ofPower(node);
    case "ReduceMean":
      return ofReduction(node, rank, true);
    case "ReduceSum":
      return ofReduction(node, rank, false);
    case "Slice": {
      const axes = node.inputs[3] ? constantIntegers(node.inputs[3]) : node.inputs[1] ? from.map((_, i) => i) : null;
      const fixed = axes && normalizeAxes(axes, rank);
      return fixed && alike(fixed);
    }
    case "Pad":
      return ofPad(node, rank);
    case "Resize":
      return interpolates(node) ? alike(from.map((_, axis) => axis).filter((axis) => axis !== 1)) : null;
    default:
      return null;
  }
}

interface Limits {
  readonly takesShift?: boolean;
  readonly needsPositive?: boolean;
}

const passage = (move: Passage["move"], { takesShift = true, needsPositive = false }: Limits = {}): Passage => ({
  takesShift,
  needsPositive,
  move,
});

/** Same rank on both sides, one number for all of each axis in `fixed`. */
const alike = (fixed: readonly number[], limits: Limits = {}): Passage =>
  passage((grid) => (fixed.every((axis) => grid.dims[axis] === 1) ? grid : null), limits);

const spatialAxes = (rank: number): number[] => Array.from({ length: rank - 2 }, (_, i) => i + 2);

/** Padding that is counted, or a last window that hangs over, is an average of less than the addend. */
function averagesInputsOnly(pool: Node): boolean {
  const autoPad = pool.string("auto_pad", "NOTSET");
  if (pool.int("ceil_mode", 0) !== 0) return false;
  if (pool.int("count_include_pad", 0) === 0 || autoPad === "VALID") return true;
  return autoPad === "NOTSET" && (pool.ints("pads") ?? []).every((amount) => amount === 0);
}

function ofReduction(node: Node, rank: number, takesShift: boolean): Passage | null {
  const axes = reducedAxes(node)?.map((axis) => axis + rank);
  if (!axes) return null;
  if (node.int("keepdims", 1) === 1) return alike(axes, { takesShift });
  const kept = Array.from({ length: rank }, (_, axis) => axis).filter((axis) => !axes.includes(axis));
  return passage(
    (grid, direction) => {
      if (direction === "back") {
        return { dims: Array.from({ length: rank }, (_, i) => grid.dims[kept.indexOf(i)] ?? 1), data: grid.data };
      }
      if (axes.some((axis) => grid.dims[axis] !== 1)) return null;
      return { dims: kept.map((axis) => grid.dims[axis]!), data: grid.data };
    },
    { takesShift },
  );
}

/** x ^ 2 * s = (x * sqrt(s)) ^ 2, for factors above zero, and so for small whole exponents. */
function ofPower(node: Node): Passage | null {
  const exponent = scalarBeside(node.inputs[1], node.inputs[0]);
  if (exponent !== 2 && exponent !== 3 && exponent !== 4) return null;
  const by = { back: 1 / exponent, forth: exponent };
  const move: Passage["move"] = (grid, direction) =>
    grid.data.every((factor) => factor > 0) ? mapGrid(grid, (factor) => factor ** by[direction]) : null;
  return passage(move, { takesShift: false, needsPositive: true });
}

/** Copies of what is there take everything along; zeros only factors. */
function ofPad(node: Node, rank: number): Passage | null {
  const mode = node.string("mode", "constant");
  if (mode === "constant" && (node.inputs[2] ? constantScalar(node.inputs[2]) : node.float("value", 0)) !== 0)
    return null;
  const pads = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.ints("pads");
  const given = node.inputs[3] ? constantIntegers(node.inputs[3]) : Array.from({ length: rank }, (_, axis) => axis);
  const axes = given && normalizeAxes(given, rank);
  if (!pads || !axes || pads.length !== 2 * axes.length) return null;
  const padded = axes.filter((_, i) => pads[i] !== 0 || pads[i + axes.length] !== 0);
  return alike(padded, { takesShift: mode !== "constant" });
}

/** The weights of each output add up to one. */
function interpolates(resize: Node): boolean {
  const mode = resize.string("mode", "nearest");
  if (mode !== "nearest" && mode !== "linear") return false;
  return resize.string("coordinate_transformation_mode", "half_pixel") !== "tf_crop_and_resize";
}

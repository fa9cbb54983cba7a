/**
 * One row of a sequence: Gather(rows, i), or Squeeze of Gather(rows, [i]), Split(rows) or Slice(rows, i:i+1).
 */
import type { Graph, Node, Value } from "../../ir/index.js";
import { constantIntegers, givenAxes, isKnown, normalizeAxes, producerOf } from "../../rewrite/match.js";
import { onlyStretch } from "./slice-bounds.js";

export interface PickedRow {
  readonly rows: Value;
  /** Of `rows`, that the row does not have. */
  readonly axis: number;
  /** Counted from the front; null where a run tells it, or it is counted from an end that nobody knows. */
  readonly place: number | null;
}

/** Null for what is made in another way. */
export function pickedRowOf(row: Value): PickedRow | null {
  const { producer, graph } = row;
  if (producer?.is("Gather")) return gathered(producer, 0);
  const axes = producer?.is("Squeeze") ? givenAxes(producer) : null;
  const cut = producer?.inputs[0];
  if (axes?.length !== 1 || !cut) return null;
  const part = partOf(cut, graph);
  return part && axisIn(part.rows, axes[0]!) === part.axis ? part : null;
}

/** `axes`: of the index. With any the row keeps them. */
function gathered(gather: Node, axes: number): PickedRow | null {
  const [rows, index] = gather.inputs;
  const axis = rows ? axisIn(rows, gather.int("axis", 0)) : null;
  if (!rows || !index || axis === null) return null;
  if (!index.constant) return axes === 0 ? { rows, axis, place: null } : null;
  if (index.constant.dims.length !== axes || index.constant.elementCount !== 1) return null;
  return { rows, axis, place: placeFrom(constantIntegers(index)?.[0], rows.shape?.[axis]) };
}

/** Counted from the front, which needs no rank where it is so already. */
function axisIn({ shape }: Value, axis: number): number | null {
  if (shape) return normalizeAxes([axis], shape.length)?.[0] ?? null;
  return axis >= 0 ? axis : null;
}

function placeFrom(index: number | undefined, size: unknown): number | null {
  if (index === undefined) return null;
  if (index >= 0) return index;
  return typeof size === "number" && index + size >= 0 ? index + size : null;
}

/** A part that is one row. */
function partOf(cut: Value, graph: Graph): PickedRow | null {
  const gather = producerOf(cut, "Gather", graph);
  if (gather) return gathered(gather, 1);
  const slice = producerOf(cut, "Slice", graph);
  const stretch = slice && onlyStretch(slice);
  if (stretch)
    return stretch.end - stretch.start === 1
      ? { rows: slice.inputs[0]!, axis: stretch.axis, place: stretch.start }
      : null;
  const split = cut.producer?.is("Split") && cut.graph === graph ? cut.producer : null;
  const rows = split?.inputs[0];
  const axis = rows ? axisIn(rows, split!.int("axis", 0)) : null;
  if (!split || !rows || axis === null) return null;
  const size = rows.shape?.[axis];
  const sizes = split.inputs[1] ? constantIntegers(split.inputs[1]) : null;
  if (split.inputs[1] && !sizes) return null;
  const isInRows = sizes ? sizes.every((each) => each === 1) : isKnown(size) && size === split.outputs.length;
  return isInRows ? { rows, axis, place: split.outputs.indexOf(cut) } : null;
}

/** Rows of one tensor, in this order. */
export interface PickedRows {
  readonly rows: Value;
  readonly axis: number;
  readonly places: readonly number[];
}

/** Null where they are not all of one tensor, at places that are known. */
export function pickedRowsOf(values: readonly Value[]): PickedRows | null {
  const [first, ...others] = values.map(pickedRowOf);
  if (!first || others.some((other) => other?.rows !== first.rows || other.axis !== first.axis)) return null;
  const places = [first, ...others].map((picked) => picked!.place);
  return places.every((place) => place !== null) ? { rows: first.rows, axis: first.axis, places } : null;
}

/**
 * The box of a tensor that a ScatterND or ScatterElements writes: what comes of `y[:, :, 1:, 1:] = x`, whose places
 * exporters count out one by one.
 */
import type { Node, Value } from "../../../ir/index.js";
import { normalizeAxes } from "../../../rewrite/match.js";
import { add, areSame, type Size } from "../../fold/size.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { type Coordinates, columnsOf, coordinatesOf } from "./coordinates.js";

/** Places `start`, `start + step`, ... of one axis, as many as `count`. */
export interface Span {
  readonly start: number;
  readonly step: number;
  readonly count: Size;
  /** Of the axis. */
  readonly size: Size;
  /** Whether they go on to its end. */
  readonly isToEnd: boolean;
}

export interface Box {
  readonly data: Value;
  readonly updates: Value;
  /** One for each axis of `data`. */
  readonly spans: readonly Span[];
  /** Axes of `updates`, of one element each, that `data` has not. */
  readonly extra: readonly number[];
  /** Axes of `data` that `updates`, without those, has not. */
  readonly missing: readonly number[];
  /** How many of the first axes of `data` are counted out; what is behind them is written a block at a time. */
  readonly counted: number;
}

/** Null where the places are no box, or not known to be one. */
export function boxOf(scatter: Node, facts: SizeFacts): Box | null {
  const [data, indices, updates] = scatter.inputs;
  const sizes = facts.shapeOf(data);
  if (!data || !indices || !updates || !sizes || scatter.string("reduction", "none") !== "none") return null;
  const written = { data, indices, updates, sizes };
  return scatter.op === "ScatterND"
    ? boxOfTuples(written, facts)
    : boxOfElements(written, scatter.int("axis", 0), facts);
}

interface Written {
  readonly data: Value;
  readonly indices: Value;
  readonly updates: Value;
  /** Of the axes of `data`. */
  readonly sizes: readonly Size[];
}

function boxOfTuples({ data, indices, updates, sizes }: Written, facts: SizeFacts): Box | null {
  const grid = facts.shapeOf(indices)?.slice(0, -1);
  const columns = columnsOf(indices, facts);
  if (!grid || !columns || columns.length > sizes.length) return null;
  const axes: (number | null)[] = [];
  const spans: Span[] = [];
  for (const [axis, column] of columns.entries()) {
    const along = column?.along == null ? null : column.along + grid.length;
    const span = column && spanOf(column, along === null ? 1 : grid[along]!, sizes[axis]!);
    if (!span) return null;
    axes.push(along);
    spans.push(span);
  }
  // Each axis of the grid counts once, in order, or has one place.
  const counting = axes.filter((axis) => axis !== null);
  if (counting.some((axis, i) => i > 0 && axis <= counting[i - 1]!)) return null;
  const extra = grid.flatMap((size, axis) => (counting.includes(axis) ? [] : [{ size, axis }]));
  if (!extra.every(({ size }) => size === 1)) return null;
  const rest = sizes.slice(columns.length).map(wholly);
  const missing = axes.flatMap((along, axis) => (along === null ? [axis] : []));
  const isInPlace = grid.length === columns.length && axes.every((along, axis) => along === null || along === axis);
  return {
    ...{ data, updates, spans: [...spans, ...rest], counted: spans.length },
    ...(isInPlace ? { extra: [], missing: [] } : { extra: extra.map(({ axis }) => axis), missing }),
  };
}

function boxOfElements({ data, indices, updates, sizes }: Written, given: number, facts: SizeFacts): Box | null {
  const counts = facts.shapeOf(indices);
  const [axis] = normalizeAxes([given], sizes.length) ?? [];
  const column = coordinatesOf(indices, facts);
  if (!counts || counts.length !== sizes.length || axis === undefined || !column) return null;
  // What counts along another axis is no box.
  if (column.along === null ? counts[axis] !== 1 : column.along + sizes.length !== axis) return null;
  const spans = sizes.map((size, at) =>
    at === axis ? spanOf(column, counts[at]!, size) : { ...wholly(size), count: counts[at]!, isToEnd: false },
  );
  return spans.every((span) => span !== null)
    ? { data, updates, spans, extra: [], missing: [], counted: sizes.length }
    : null;
}

const wholly = (size: Size): Span => ({ start: 0, step: 1, count: size, size, isToEnd: true });

function spanOf({ start, step, along, limit }: Coordinates, count: Size, size: Size): Span | null {
  const from = start >= 0 ? start : typeof size === "number" ? start + size : -1;
  // Places from the end on would count on into those from the beginning.
  if (from < 0 || (along !== null && (step < 1 || start < 0))) return null;
  return { start: from, step: along === null ? 1 : step, count, size, isToEnd: step === 1 && areSame(limit, size) };
}

/** Whether it is the whole axis. */
export const isWhole = ({ start, step, count, size, isToEnd }: Span): boolean =>
  start === 0 && step === 1 && (isToEnd || areSame(count, size));

/** Where it ends, none left out between; null for "with the axis", undefined where that is not known. */
export function endOf({ start, step, count, size, isToEnd }: Span): number | null | undefined {
  if (step !== 1 && count !== 1) return undefined;
  const end = add(count, start);
  if (isToEnd || areSame(end, size)) return null;
  return typeof end === "number" && typeof size === "number" && end <= size ? end : undefined;
}

/**
 * What a Transpose costs in ONNX Runtime on the CPU, and the steps that make the same of it for less. Rows of neighbours that
 * stay together are copied one by one; an axis that alone changes its place is moved by a kernel of its own; anything else is
 * looked up element by element (1.32, Zen 5, 1 thread; u8 and f32 alike).
 */
import type { Dim } from "../../ir/index.js";
import { isKnown } from "../../rewrite/match.js";
import { isIdentity, type Permutation, permuted } from "./permutation.js";

/** For each row that is copied: so much for an element where it is one alone. */
const ROW_NS = 2.25;
/** Of longer rows. */
const LONG_ROW_NS = 4.5;
const COPY_NS = 0.05;
/** An exchange of rows and columns, and what little of either adds. */
const EXCHANGE_NS = 0.1;
const FEW_NS = 0.5;

/** One that is not known may be a batch of one. */
const sizeOf = (dims: readonly Dim[]): number => dims.reduce<number>((all, dim) => all * (isKnown(dim) ? dim : 1), 1);

const exchangeNs = (rows: readonly Dim[], columns: readonly Dim[]): number =>
  EXCHANGE_NS + FEW_NS / sizeOf(rows) + FEW_NS / sizeOf(columns);

/** What nodes that are more than one take away from what is saved. */
const LEAST_GAIN_NS = 5000;

/** Whether so much less for each element is worth more nodes. */
export const savesTime = (ns: number, dims: readonly Dim[]): boolean => ns * sizeOf(dims) > LEAST_GAIN_NS;

/** A tensor as it is looked at, and the order that its axes get. */
export interface Move {
  readonly dims: readonly Dim[];
  readonly perm: Permutation;
}

/** Nanoseconds for an element, by the axes as they are told: those of one element are not overlooked. */
export function moveNs({ dims, perm }: Move): number {
  const order = perm.filter((axis) => dims[axis] !== 1);
  if (order.every((axis, i) => i === 0 || axis > order[i - 1]!)) return COPY_NS;
  const single = singleAxis(perm);
  if (single) return exchangeNs([dims[single.axis]!], dims.slice(single.first, single.end));
  let kept = perm.length;
  while (perm[kept - 1] === kept - 1) kept--;
  const row = sizeOf(dims.slice(kept));
  return COPY_NS + (row === 1 ? ROW_NS : LONG_ROW_NS / row);
}

/** The axis that alone changes its place, and those that it passes: from `first` up to `end`. */
function singleAxis(perm: Permutation): { axis: number; first: number; end: number } | null {
  const from = perm.findIndex((axis, i) => axis !== i);
  let to = perm.length - 1;
  while (perm[to] === to) to--;
  const middle = (start: number, by: number): boolean =>
    perm.slice(start, start + to - from).every((axis, i) => axis === start + i + by);
  if (perm[to] === from && middle(from, 1)) return { axis: from, first: from + 1, end: to + 1 };
  if (perm[from] === to && middle(from + 1, -1)) return { axis: to, first: from, end: to };
  return null;
}

/** The same with axes that stay next to each other as one, and without those of one element. */
export function merged({ dims, perm }: Move): Move {
  const groups: number[][] = [];
  for (const axis of perm.filter((each) => dims[each] !== 1)) {
    const before = groups.at(-1)?.at(-1) ?? dims.length;
    const isNext = before < axis && dims.slice(before + 1, axis).every((dim) => dim === 1);
    if (isNext) groups.at(-1)!.push(axis);
    else groups.push([axis]);
  }
  const stored = [...groups].sort((a, b) => a[0]! - b[0]!);
  return {
    dims: stored.map((axes) => product(axes.map((axis) => dims[axis]!))),
    perm: groups.map((axes) => stored.indexOf(axes)),
  };
}

/** Null where one is not known, and another one is there. */
const product = (dims: readonly Dim[]): Dim => {
  if (dims.every(isKnown)) return sizeOf(dims);
  return dims.length === 1 ? dims[0]! : null;
};

/** The cheapest steps that come to the same, one after the other: each looks at what the one before it has made. */
export function cheapestSteps(move: Move): { readonly steps: readonly Move[]; readonly ns: number } {
  const whole = merged(move);
  const ways = whole.perm.length > 2 ? [[whole], rowsFirst(whole), rowsLast(whole)] : [[whole]];
  const [first, ...others] = ways.map((steps) => ({ steps, ns: steps.reduce((sum, step) => sum + moveNs(step), 0) }));
  return others.reduce((best, way) => (way.ns < best.ns ? way : best), first!);
}

/** Rows along the last axis go where they belong, and are exchanged with what comes behind them there. */
function rowsFirst({ dims, perm }: Move): Move[] {
  const last = perm.length - 1;
  const place = perm.indexOf(last);
  const order = [...perm.filter((axis) => axis !== last), last];
  const there = permuted(dims, order);
  const exchanged = exchange(there.slice(0, place), there.slice(place, last), there.slice(last));
  return isIdentity(order) ? [exchanged] : [{ dims, perm: order }, exchanged];
}

/** What is to be the last axis becomes it, and rows along it go where they belong. */
function rowsLast({ dims, perm }: Move): Move[] {
  const axis = perm.at(-1)!;
  const exchanged = exchange(dims.slice(0, axis), dims.slice(axis, axis + 1), dims.slice(axis + 1));
  const order = [...dims.keys()].filter((each) => each !== axis).concat(axis);
  const rest = perm.map((each) => order.indexOf(each));
  return isIdentity(rest) ? [exchanged] : [exchanged, { dims: permuted(dims, order), perm: rest }];
}

/** [before, rows, columns]  =>  [before, columns, rows] */
const exchange = (before: readonly Dim[], rows: readonly Dim[], columns: readonly Dim[]): Move => ({
  dims: [product(before), product(rows), product(columns)],
  perm: [0, 2, 1],
});

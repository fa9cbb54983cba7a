/**
 * What a Transpose costs in ONNX Runtime on the CPU, and the steps that make the same of it for less. Rows of neighbours that
 * stay together are copied one by one; two neighbouring parts of the axes, of which one may be a single axis, are exchanged by a
 * kernel of its own; anything else is looked up element by element (1.32, Zen 5, 1 thread; u8 and f32 alike).
 */
import type { Dim } from "../../ir/index.js";
import { isKnown } from "../../rewrite/match.js";
import { isIdentity, type Permutation, permuted } from "./permutation.js";

/** For each element that is looked up. */
const ELEMENT_NS = 2.25;
/** For each row that is copied: of any order, and where two neighbouring parts of the axes change places. */
const ROW_NS = 4.5;
const EXCHANGED_ROW_NS = 5.5;
const COPY_NS = 0.05;
/** An exchange of rows and columns, and what little of either adds. */
const EXCHANGE_NS = 0.1;
const FEW_NS = 0.5;
/** Widths that the kernel for an exchange has. */
const WIDTHS = new Set([1, 2, 4, 8]);

/** One that is not known may be a batch of one. */
const sizeOf = (dims: readonly Dim[]): number => dims.reduce<number>((all, dim) => all * (isKnown(dim) ? dim : 1), 1);

/** What nodes that are more than one take away from what is saved. */
const LEAST_GAIN_NS = 5000;

/** Whether so much less for each element is worth more nodes. */
export const savesTime = (ns: number, dims: readonly Dim[]): boolean => ns * sizeOf(dims) > LEAST_GAIN_NS;

/** A tensor as it is looked at, the order that its axes get, and how long an element is. */
export interface Move {
  readonly dims: readonly Dim[];
  readonly perm: Permutation;
  readonly bytes: number;
}

/** Nanoseconds for an element, by the axes as they are told: those of one element are not overlooked. */
export function moveNs({ dims, perm, bytes }: Move): number {
  const order = perm.filter((axis) => dims[axis] !== 1);
  if (order.every((axis, i) => i === 0 || axis > order[i - 1]!)) return COPY_NS;
  let kept = perm.length;
  while (perm[kept - 1] === kept - 1) kept--;
  const row = sizeOf(dims.slice(kept));
  const first = perm.findIndex((axis, i) => axis !== i);
  const turn = perm[first]! - first;
  const isExchange = perm.slice(first, kept).every((axis, i) => axis === first + ((i + turn) % (kept - first)));
  if (!isExchange) return COPY_NS + (row === 1 ? ELEMENT_NS : ROW_NS / row);
  if (!WIDTHS.has(row * bytes)) return COPY_NS + EXCHANGED_ROW_NS / row;
  const [rows, columns] = [dims.slice(first, first + turn), dims.slice(first + turn, kept)];
  return EXCHANGE_NS + FEW_NS / sizeOf(rows) + FEW_NS / sizeOf(columns);
}

/** The same with axes that stay next to each other as one, and without those of one element. */
export function merged({ dims, perm, bytes }: Move): Move {
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
    bytes,
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
function rowsFirst({ dims, perm, bytes }: Move): Move[] {
  const last = perm.length - 1;
  const place = perm.indexOf(last);
  const order = [...perm.filter((axis) => axis !== last), last];
  const there = permuted(dims, order);
  const exchanged = exchange(there.slice(0, place), there.slice(place, last), there.slice(last), bytes);
  return isIdentity(order) ? [exchanged] : [{ dims, perm: order, bytes }, exchanged];
}

/** What is to be the last axis becomes it, and rows along it go where they belong. */
function rowsLast({ dims, perm, bytes }: Move): Move[] {
  const axis = perm.at(-1)!;
  const exchanged = exchange(dims.slice(0, axis), dims.slice(axis, axis + 1), dims.slice(axis + 1), bytes);
  const order = [...dims.keys()].filter((each) => each !== axis).concat(axis);
  const rest = perm.map((each) => order.indexOf(each));
  return isIdentity(rest) ? [exchanged] : [exchanged, { dims: permuted(dims, order), perm: rest, bytes }];
}

/** [before, rows, columns]  =>  [before, columns, rows] */
const exchange = (before: readonly Dim[], rows: readonly Dim[], columns: readonly Dim[], bytes: number): Move => ({
  dims: [product(before), product(rows), product(columns)],
  perm: [0, 2, 1],
  bytes,
});

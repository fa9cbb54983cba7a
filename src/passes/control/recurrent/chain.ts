/**
 * The steps of a recurrent cell, written one after the other:
 *
 *   h[t] = cell of x[t] and h[t-1]   for t = 0, 1, ...
 *
 * What PyTorch makes of a loop over the steps of an LSTMCell or a GRUCell, Keras of `unroll=True`, and `unrollLoop` of short loops.
 */
import type { Graph, Value } from "../../../ir/index.js";
import { isZeroState } from "../../eliminate/zero-state.js";
import { type Carried, type Cell, cellOf, isSameCell, startedCellOf, statesBehind } from "./cell.js";
import type { Term } from "./gate-sum.js";
import { biasesOf } from "./operator.js";

/** Of a cell: h first, and then the cell state of an LSTM. */
export interface Step {
  /** The row of a sequence that it reads. */
  readonly input: Value;
  readonly states: readonly Value[];
}

export interface Chain {
  readonly cell: Cell;
  /** What the first step begins with, as the step's states have it. Those that are zeros and gone are left out. */
  readonly initial: readonly Value[];
  /** What its products multiply in place of these: other zeros. */
  readonly zeros: readonly Value[];
  readonly steps: readonly Step[];
}

/** All steps that are made of each other, none of them in two chains, the first of each chain first. */
export function chainsIn(graph: Graph): Chain[] {
  const links = linksIn(graph);
  const taken = new Set<Value>();
  const chains: (readonly Link[])[] = [];
  for (const last of links.toSorted((one, other) => other.length - one.length)) {
    const chain: Link[] = [];
    for (let link: Link | null = last; link && !taken.has(link.states[0]!.next); link = link.before)
      chain.unshift(link);
    if (chain.length < last.length) continue;
    for (const { states } of chain) taken.add(states[0]!.next);
    chains.push(chain);
  }
  return chains
    .toSorted(([one], [other]) => one!.place - other!.place)
    .map((chain) => {
      const [{ cell, states }] = chain as [Link, ...Link[]];
      const initial = states.map(({ input }) => input);
      const steps = chain.map(
        (link): Step => ({ input: link.cell.input, states: link.states.map(({ next }) => next) }),
      );
      const start = startOf(graph, cell, initial);
      return start
        ? { ...start, cell, steps: [{ input: start.input, states: initial }, ...steps] }
        : { cell, initial, zeros: zerosIn(cell, initial), steps };
    });
}

/** A step, and the longest chain that ends with it. */
interface Link {
  readonly cell: Cell;
  readonly states: readonly Carried[];
  readonly before: Link | null;
  readonly length: number;
  /** Among the links. */
  readonly place: number;
}

const lastOps: ReadonlySet<string> = new Set(["Add", "Mul", "Tanh", "Relu"]);

/** In execution order. */
function linksIn(graph: Graph): Link[] {
  const byNext = new Map<Value, Link[]>();
  const links: Link[] = [];
  for (const node of graph.nodes()) {
    if (node.domain !== "" || !lastOps.has(node.op)) continue;
    const next = node.output;
    for (const [h, cellState] of statesBehind(next)) {
      const cell = cellOf(h, cellState);
      if (!cell) continue;
      const states = cellState ? [h, cellState] : [h];
      const before = (byNext.get(h.input) ?? []).reduce<Link | null>(
        (best, link) => (follows(cell, states, link) && link.length > (best?.length ?? 0) ? link : best),
        null,
      );
      const link = { cell, states, before, length: (before?.length ?? 0) + 1, place: links.length };
      links.push(link);
      byNext.set(next, [...(byNext.get(next) ?? []), link]);
    }
  }
  return links;
}

const follows = (cell: Cell, states: readonly Carried[], before: Link): boolean =>
  states.every(({ input }, at) => input === before.states[at]?.next) &&
  isPassedOn(before.states[1]?.next) &&
  isSameCell(cell, before.cell) &&
  addsTheSame(cell, before.cell);

/** Whether none but the next step reads a cell state: the operator tells that of the last step alone. */
const isPassedOn = (cellState: Value | undefined): boolean =>
  // The one of h, and what the next step keeps of it.
  !cellState ||
  (cellState.useCount === 2 && cellState.uses.every((use) => use.kind === "input" && use.node.output.useCount === 1));

/** The step in front of all others, where it begins with zeros, of which constant folding has taken the products away. */
function startOf(
  graph: Graph,
  cell: Cell,
  made: readonly Value[],
): (Pick<Chain, "initial" | "zeros"> & { input: Value }) | null {
  const [next, cellNext] = made;
  // In front of a body it belongs to another graph.
  if (next!.graph !== graph || !isPassedOn(cellNext)) return null;
  for (const [h, cellState] of statesBehind(next!)) {
    if (cellState && !(cellState.next === cellNext && isZeroState(cellState.input))) continue;
    const input = isZeroState(h.input) ? h.input : null;
    const start = startedCellOf({ input, next: next! }, cellState);
    if (!start || !isSameCell(cell, start) || !addsTheSame(cell, start)) continue;
    const initial = [input, cellState?.input].flatMap((value) => value ?? []);
    return { input: start.input, initial, zeros: zerosIn(start, initial) };
  }
  return null;
}

const zerosIn = ({ gates }: Cell<Term | null>, initial: readonly Value[]): Value[] =>
  gates.flatMap(({ ofState }) =>
    ofState && !initial.includes(ofState.input) && isZeroState(ofState.input) ? ofState.input : [],
  );

/** Whether the rows that two cells add have the same sums. */
function addsTheSame(one: Cell, other: Cell<Term | null>): boolean {
  const isAlike = one.gates.every(({ rows, stateRows }, at) => {
    const gate = other.gates[at]!;
    return areSameRows(rows, gate.rows) && areSameRows(stateRows, gate.stateRows);
  });
  if (isAlike) return true;
  const [sums, others] = [biasesOf(one).f32(), biasesOf(other).f32()];
  return sums.every((sum, at) => sum === others[at]);
}

const areSameRows = (ones: Cell["gates"][0]["rows"], others: Cell["gates"][0]["rows"]): boolean =>
  ones.length === others.length &&
  ones.every(({ tensor, column }, at) => tensor === others[at]!.tensor && column === others[at]!.column);

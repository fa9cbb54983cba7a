/**
 * h1 = cell of x[:, 0] and h0, h2 = cell of x[:, 1] and h1, ...
 *   =>  y, h = RNN, GRU or LSTM(x, W, R, B, h0), h1 = y[0], h2 = y[1], ...
 *
 * With 20 steps and one sample the operator takes 0.27 to 0.65 of the time (LSTM and GRU, hidden sizes 64 to 1024; ONNX Runtime 1.32, Zen 3,
 * 1 thread). What a step reads must not be made of the steps before, as it is in a decoder with attention: with it a chain ends.
 */
import { attr, type Graph, graphsWithin, type Node, opsetOf, Tensor, type Value } from "../../../ir/index.js";
import { defineGraphPass, removeWithFeeders, type Store, valuesRead } from "../../../rewrite/index.js";
import { hasRank } from "../../../rewrite/match.js";
import { isZeroState } from "../../eliminate/zero-state.js";
import { areSame, type Size } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { type PickedRows, pickedRowsOf } from "../../layout/picked-row.js";
import { exchangeRows, type RowMaker, takeRows } from "../../layout/take-rows.js";
import { replaceOutputs } from "../replace-outputs.js";
import { isRead, stack } from "../stack.js";
import type { Cell } from "./cell.js";
import { type Chain, chainsIn } from "./chain.js";
import { addOperator, typed, withoutDirection } from "./operator.js";
import { LEAST_OPSET } from "./recurrence.js";

/** From as many steps on the operator is not slower than they are, once it is faster at all. */
const LEAST_STEPS = 2;

/**
 * Up to as many samples it is not: with 64 and a hidden size of 256 a GRU takes 1.1 of their time, and an RNN 3, which multiplies by weights
 * that are not packed ahead. How many nobody knows are taken for few, but not for one.
 */
const mostSamples = { RNN: 1, GRU: 16, LSTM: Number.POSITIVE_INFINITY };
const UNKNOWN_SAMPLES = 8;

/** Elements of the weights of a state from which on its products are faster as integers than the whole operator is in float. */
const LEAST_AS_INTEGERS = 2 ** 18;

const chainPass = (isWanted: (cell: Cell) => boolean) =>
  defineGraphPass({
    name: "fuse-recurrent-chain",
    summary: "Turn the steps of a recurrent cell, written one after the other, into RNN, GRU or LSTM",
    numerics: "rounding",
    revealsTypes: "for the next round",
    run({ model, claim, store }) {
      if (opsetOf(model) < LEAST_OPSET) return;
      for (const graph of graphsWithin(model.graph)) {
        // What one chain becomes, another one may read.
        const refused = new Set<string>();
        const find = (): Plan | null => planIn(graph, isWanted, refused);
        for (let plan = find(); plan; plan = find()) {
          if (claim(plan.name)) write(plan, store);
          else refused.add(plan.name);
        }
      }
    },
  });

const isSmall = ({ gates, hiddenSize }: Cell): boolean => gates.length * hiddenSize ** 2 <= LEAST_AS_INTEGERS;

export const fuseRecurrentChain = chainPass(() => true);
/** Where products are to become integers, which those of the operators do not. */
export const fuseSmallRecurrentChain = chainPass(isSmall);
/** The same where ONNX Runtime's own form of an LSTM may be made, whose products do. */
export const fuseSmallOrLstmChain = chainPass((cell) => cell.op === "LSTM" || isSmall(cell));

/** What the operator reads: rows of one tensor, or one tensor for each step. */
type Rows = (PickedRows & { readonly batch: Size }) | { readonly parts: readonly Value[]; readonly batch: Size };

interface Plan extends Chain {
  /** Of the last step. */
  readonly name: string;
  readonly rows: Rows;
  /** Nodes in front of the end of the last step that are made of what a step makes. */
  readonly readers: readonly Node[];
}

function planIn(graph: Graph, isWanted: (cell: Cell) => boolean, refused: ReadonlySet<string>): Plan | null {
  const facts = sizeFacts();
  for (const chain of chainsIn(graph)) {
    const plan = isWanted(chain.cell) ? planOf(chain, facts) : null;
    if (plan && !refused.has(plan.name)) return plan;
  }
  return null;
}

const samplesOf = (batch: Size): number => (typeof batch === "number" ? batch : UNKNOWN_SAMPLES);

const endOf = ({ steps }: Chain): Node => steps.at(-1)!.states[0]!.producer!;

function planOf(chain: Chain, facts: SizeFacts): Plan | null {
  const { cell, steps } = chain;
  if (steps.length < LEAST_STEPS) return null;
  const { readers, made } = dependentsOf(chain);
  /** Without the steps in front of one. */
  const from = (at: number): Chain => ({ ...chain, initial: steps[at - 1]!.states, zeros: [], steps: steps.slice(at) });
  // What reads something that is made of the steps before it ends one chain, and may begin another.
  const end = steps.findIndex(({ input }) => made.has(input));
  if (end > 0) return planOf({ ...chain, steps: steps.slice(0, end) }, facts) ?? planOf(from(end), facts);
  const rows = rowsOf(chain, facts);
  if (!rows || rows.batch === 0 || samplesOf(rows.batch) > mostSamples[cell.op]) return null;
  // Zeros may have any form that does not make more samples of them than there are.
  const isRow = (value: Value): boolean => {
    const [hidden = 1, ...batch] = facts.shapeOf(value)?.toReversed() ?? [null];
    const isWide = hidden === 1 || areSame(hidden, cell.hiddenSize);
    return isWide && batch.length <= 1 && batch.every((size) => size === 1 || areSame(size, rows.batch));
  };
  const isForEach = (value: Value): boolean => {
    const sizes = facts.shapeOf(value);
    return sizes?.length === 2 && areSame(sizes[0], rows.batch) && areSame(sizes[1], cell.hiddenSize);
  };
  if (!chain.zeros.every(isRow)) return null;
  const startsAtZero = chain.initial.every((value) => isZeroState(value) && isRow(value));
  // The first step may make of one state for all samples one for each of them.
  if (!startsAtZero && !chain.initial.every(isForEach)) return planOf(from(1), facts);
  const initial = startsAtZero ? [] : chain.initial;
  return { ...chain, initial, name: endOf(chain).displayName, rows, readers };
}

function rowsOf({ cell, steps }: Chain, facts: SizeFacts): Rows | null {
  const picked = pickedRowsOf(steps.map(({ input }) => input));
  if (picked && picked.axis <= 1 && hasRank(picked.rows, 3)) {
    const { projection } = cell;
    const rows = projection?.of ?? picked.rows;
    const axis = projection ? Number(projection.isBatchFirst) : picked.axis;
    const batch = facts.shapeOf(rows)?.[1 - axis];
    return batch === undefined ? null : { rows, axis, places: picked.places, batch };
  }
  if (cell.projection) return null;
  const parts = steps.map(({ input }) => input);
  const batch = facts.shapeOf(parts[0])?.[0];
  const areRows = parts.every((part) => {
    const sizes = facts.shapeOf(part);
    return sizes?.length === 2 && areSame(sizes[0], batch);
  });
  return areRows && batch !== undefined ? { parts, batch } : null;
}

/** What is made of the states of a chain before its last step ends, by which nodes, in execution order. */
function dependentsOf(chain: Chain): { made: ReadonlySet<Value>; readers: Node[] } {
  const made = new Set(chain.steps.flatMap(({ states }) => states));
  const readers: Node[] = [];
  const end = endOf(chain);
  for (const node of end.graph.nodes()) {
    const read = node.bodies.length === 0 ? node.inputs : [...valuesRead(node)];
    if (read.some((value) => value && made.has(value))) {
      readers.push(node);
      for (const output of node.outputs) if (output) made.add(output);
    }
    if (node === end) break;
  }
  return { made, readers };
}

function write(plan: Plan, store: Store): void {
  const { cell, steps, initial, rows, readers } = plan;
  const end = endOf(plan);
  const { graph, name, displayName, provenance } = end;
  const count = steps.length;
  const maker: RowMaker = {
    constant: (label, tensor) => graph.addConstant(label, tensor),
    create: (op, inputs, attributes, shape) => {
      const outputs = [typed(`${displayName}/${op}`, ...shape)];
      return graph.addNode({ op, inputs, attributes, outputs, provenance }, end).output;
    },
  };
  const isReversed = "rows" in rows && rows.places.every((place, at) => place === rows.places[0]! - at);
  const label = `${displayName}/`;
  const sequence = "rows" in rows ? sequenceOf(rows, isReversed, maker) : stack(end, rows.parts, 0);
  const batch = sequence.shape?.[1] ?? null;
  const operator = addOperator(end, { name, label, cell, sequence, initial, steps: count, batch, isReversed }, store);
  const [allOutput, lastOutput, cellOutput] = operator.outputs;
  const all = withoutDirection(allOutput!, `${label}H`, end);
  const hs = steps.map(({ states: [h] }) => h!);
  const rowAt = (at: number, before: Node): Value => {
    const index = graph.addConstant("index", Tensor.i64([], [isReversed ? count - 1 - at : at]));
    const output = typed(hs[at]!.label, batch, cell.hiddenSize);
    const spec = { op: "Gather", inputs: [all, index], attributes: { axis: attr.int(0) }, outputs: [output] };
    return graph.addNode({ ...spec, provenance }, before).output;
  };
  const results = hs.map(({ label }, at) =>
    at < count - 1 ? rowAt(at, end) : withoutDirection(lastOutput!, label, end),
  );
  const [, cellState] = steps.at(-1)!.states;
  const lastCellState = cellState && withoutDirection(cellOutput!, cellState.label, end);
  const { next } = end;
  for (const reader of readers) graph.moveBefore(reader, next);
  if (cellState) replaceOutputs(cellState.producer!, [lastCellState!]);
  for (const [at, h] of hs.entries()) replaceOutputs(h.producer!, [results[at]!]);
  // Where others are read, the last is one more row of the same: so they are all told by where they are from.
  const last = results.at(-1)!;
  if (isRead(all) && isRead(last)) replaceOutputs(last.producer!, [rowAt(count - 1, last.producer!)]);
  for (const unread of [last, lastCellState])
    if (unread && !isRead(unread) && unread.producer!.attached) removeWithFeeders(unread.producer!);
  operator.standFor([operator, ...readers.filter((reader) => !reader.attached)]);
}

/** [steps, batch, elements] */
function sequenceOf({ rows, axis, places }: PickedRows, isReversed: boolean, maker: RowMaker): Value {
  const taken = takeRows({ rows, axis, places: isReversed ? places.toReversed() : places }, maker);
  return axis === 0 ? taken : exchangeRows(taken, maker);
}

/**
 * h, y = Loop<body=(i, go, h) -> (..., n, n) { n = cell of x[i] and h }>(T, true, zeros)   over the rows of x: [T, N, I]
 *   =>  y, h = RNN, GRU or LSTM(x, W, R, B)
 *
 * for the cells that cell.ts knows, and several of them in one body, each of which reads h of the one before: what tf2onnx makes of
 * a GRU or SimpleRNN of Keras, and what comes of a scan of JAX. ONNX Runtime's CPU takes 30 us for each turn of a Loop with the body
 * of a GRU, and 6 for a step of its GRU (hidden size 96; 1.32, Zen 3, 1 thread). In every model that has them, its GRU ends the process
 * where there is no step or no sample, and its LSTM where there is no sample; and of NaN both give numbers.
 */
import { dtypeOfCode, type Graph, graphsWithin, type Node, opsetOf, type Value } from "../../../ir/index.js";
import { defineGraphPass } from "../../../rewrite/index.js";
import { constantIntegers, constantScalar, inputOrders, producerOf } from "../../../rewrite/match.js";
import { isZeroState } from "../../eliminate/zero-state.js";
import { areSame, type Size } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { behindIdentity, boolOf } from "../condition-value.js";
import { replaceOutputs } from "../replace-outputs.js";
import { isRead } from "../stack.js";
import { type Carried, type Cell, cellOf } from "./cell.js";
import { emitOperators, type Told, type Unit } from "./operator.js";

/** Since then the axes of Squeeze are an input. */
export const LEAST_OPSET = 13;

export const fuseRecurrence = defineGraphPass({
  name: "fuse-recurrence",
  summary: "Turn a Loop over the steps of a recurrent cell into RNN, GRU or LSTM",
  numerics: "rounding",
  revealsTypes: "for the next round",
  run({ model, claim, store }) {
    if (opsetOf(model) < LEAST_OPSET) return;
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        const plan = node.is("Loop") ? planOf(node, facts) : null;
        if (plan && claim(node.displayName))
          replaceOutputs(node, emitOperators(node, plan.units, plan.told, plan.sequence.shape ?? [], store));
      }
    }
  },
});

interface State extends Carried {
  /** Place among the states. */
  readonly at: number;
}

/** A cell, and the states that it is of: h first. */
interface Found {
  readonly cell: Cell;
  readonly states: readonly State[];
}

interface Plan {
  readonly units: readonly Unit[];
  readonly told: readonly (Told | null)[];
  /** [steps, batch, elements]: of what the loop takes the rows. */
  readonly sequence: Value;
}

function planOf(node: Node, facts: SizeFacts): Plan | null {
  const body = node.bodies[0];
  if (!body || body.inputs.length !== node.inputs.length) return null;
  const states = body.inputs
    .slice(2)
    .map((input, at): State => ({ at, input, next: behindIdentity(body.outputs[at + 1]!.value) }));
  const counters = new Set(
    states.flatMap(({ at, input, next }) => (counts(node.inputs[at + 2], input, next) ? [input] : [])),
  );
  const found = inOrder(cellsOf(states.filter(({ input }) => !counters.has(input))));
  const sequence = found[0] ? sequenceOf(found[0].cell, body, counters) : null;
  const sizes = facts.shapeOf(sequence);
  if (sequence?.dtype !== "f32" || sizes?.length !== 3 || sizes.includes(0)) return null;
  if (!turnsOnce(node, body, counters, sizes[0]!, facts)) return null;
  const units: Unit[] = [];
  for (const [at, { cell, states }] of found.entries()) {
    const initial = states.map(({ at }) => node.inputs[at + 2]!);
    // One row for all samples would become as many as they are in the first step.
    const isForEach = initial.every((value) => {
      const start = facts.shapeOf(value);
      return start?.length === 2 && areSame(start[0], sizes[1]) && areSame(start[1], cell.hiddenSize);
    });
    if (!isForEach) return null;
    const rows = at === 0 ? (cell.projection?.of ?? sequence) : null;
    units.push({ cell, initial, sequence: rows });
  }
  const told = toldBy(node, body, found);
  return told && (typeof sizes[0] === "number" || keepsStates(units, told)) ? { units, told, sequence } : null;
}

/** All cells that states belong to, each to one; nothing where one belongs to none. */
function cellsOf(states: readonly State[]): Found[] {
  const found: Found[] = [];
  for (const h of states) {
    const alone = cellOf(h, null);
    if (alone) found.push({ cell: alone, states: [h] });
    for (const cellState of states) {
      const cell = cellState === h ? null : cellOf(h, cellState);
      if (cell) found.push({ cell, states: [h, cellState] });
    }
  }
  const placed = found.flatMap(({ states }) => states);
  return placed.length === states.length && new Set(placed).size === states.length ? found : [];
}

/** In a line: each but the first reads what the one before makes of its h. Nothing where they do not stand so. */
function inOrder(found: readonly Found[]): readonly Found[] {
  const readerOf = (h: Value): Found | undefined => found.find(({ cell }) => cell.input === h);
  const first = found.find(({ cell }) => found.every(({ states: [h] }) => h!.next !== cell.input));
  const line: Found[] = [];
  for (let next = first; next && !line.includes(next); next = readerOf(next.states[0]!.next)) line.push(next);
  return line.length === found.length ? line : [];
}

/** The tensor outside of the body of whose first axis a turn takes the row with its own number. */
function sequenceOf({ input }: Cell, body: Graph, counters: ReadonlySet<Value>): Value | null {
  const gather = producerOf(input, "Gather", body);
  const [sequence, index] = gather?.inputs ?? [];
  // A row of its own would keep its axis.
  const isStep = !!index && (counters.has(index) || (index === body.inputs[0] && index.shape?.length === 0));
  return sequence && isStep && gather!.int("axis", 0) === 0 && sequence.graph !== body ? sequence : null;
}

/** Whether it would tell the right last states after no step at all: ONNX Runtime's RNN and LSTM give zeros then, whatever they began with. */
const keepsStates = (units: readonly Unit[], told: readonly (Told | null)[]): boolean =>
  told.every((each) => {
    if (each?.state == null) return true;
    const { cell, initial } = units[each.unit]!;
    return cell.op === "GRU" || isZeroState(initial[each.state]!);
  });

/** What each output that is read tells of; null where one tells of something else. */
function toldBy(node: Node, body: Graph, found: readonly Found[]): (Told | null)[] | null {
  const states = node.inputs.length - 2;
  const told = node.outputs.map((output, at): Told | null | undefined => {
    if (!isRead(output)) return null;
    const next = behindIdentity(body.outputs[at + 1]!.value);
    const unit = found.findIndex(({ states: own }) =>
      at < states ? own.some((state) => state.at === at) : own[0]!.next === next,
    );
    if (unit < 0) return undefined;
    return { unit, state: at < states ? found[unit]!.states.findIndex((state) => state.at === at) : null };
  });
  return told.every((each) => each !== undefined) ? told : null;
}

/** Whether a state is the number of the turn, without axes. */
const counts = (initial: Value | null | undefined, input: Value, next: Value): boolean =>
  isScalar(initial, 0) && isNextOf(next, input);

const isScalar = (value: Value | null | undefined, wanted: number): boolean =>
  value?.constant?.dims.length === 0 && constantIntegers(value)?.[0] === wanted;

const isNextOf = (value: Value, counter: Value): boolean =>
  inputOrders(value.producer?.is("Add") ? value.producer : null).some(
    ([one, other]) => other === counter && isScalar(one, 1),
  );

/** Whether there are surely as many turns as steps. */
function turnsOnce(node: Node, body: Graph, counters: ReadonlySet<Value>, steps: Size, facts: SizeFacts): boolean {
  const [limit, starts] = node.inputs;
  const isSteps = (value: Value | null | undefined): boolean => areSame(sizeOf(value, facts), steps);
  // Without a step there is no turn either way.
  const isBegun = (value: Value): boolean => constantScalar(value) === 0;
  if (starts && compared(starts, isBegun, isSteps) === null) return false;
  const isTurn = (value: Value): boolean => value === body.inputs[0] || counters.has(value);
  const isNextTurn = (value: Value): boolean => [...counters].some((each) => isNextOf(value, each));
  const condition = behindIdentity(body.outputs[0]!.value);
  const goesOn = condition === body.inputs[1] ? [] : compared(condition, (x) => isTurn(x) || isNextTurn(x), isSteps);
  if (goesOn === null) return false;
  // What compares the turn itself lets one more begin than there are steps; what compares the next one ends them.
  return isSteps(limit) || ((!limit || isEndless(limit)) && goesOn.some(isNextTurn));
}

/** More than any sequence has; usually the largest number that there is. */
const MOST_STEPS = 2 ** 24;
const isEndless = ({ constant }: Value): boolean =>
  constant?.dtype === "i64" && constant.elementCount === 1 && (constant.bigints()?.[0] ?? 0n) >= BigInt(MOST_STEPS);

/** What a condition compares, all of it by Less; null for another condition. Nothing where it always holds. */
function compared(
  condition: Value,
  isLeft: (value: Value) => boolean,
  isRight: (value: Value) => boolean,
): readonly Value[] | null {
  if (boolOf(condition) === true) return [];
  const { producer, graph } = condition;
  if (producer?.is("And") && producer.graph === graph) {
    const [left, right] = producer.inputs.map((input) => compared(input!, isLeft, isRight));
    return left && right ? [...left, ...right] : null;
  }
  if (!producer?.is("Less") || producer.graph !== graph) return null;
  const left = behindCasts(producer.inputs[0]!);
  return isLeft(left) && isRight(producer.inputs[1]!) ? [left] : null;
}

/** Numbers of turns are the same in all of these. */
const countable: ReadonlySet<string> = new Set(["f32", "f64", "i32", "i64"]);

function behindCasts(value: Value): Value {
  const cast = value.producer?.is("Cast") ? value.producer : null;
  const isSame = cast && countable.has(dtypeOfCode(cast.int("to", 0)) ?? "");
  return isSame ? behindCasts(cast.inputs[0]!) : value;
}

/** Of one number. */
function sizeOf(value: Value | null | undefined, facts: SizeFacts): Size | null {
  if (!value) return null;
  const elements = facts.vectorOf(behindCasts(value))?.elements;
  return constantScalar(value) ?? (elements?.length === 1 ? elements[0]! : null);
}

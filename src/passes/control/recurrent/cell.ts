/**
 * Cells of recurrent nets written out, as what their states become in a turn of a Loop or in a step of many that follow each other:
 *
 *   RNN    n = Tanh(x W + h R + b)
 *   GRU    n = z * h + (1 - z) * c   or   z * (h - c) + c          z, r = Sigmoid(x W + h R + b)
 *          c = Tanh(x W + b + r * (h R + d))   or   Tanh(x W + (r * h) R + b)
 *   LSTM   n = o * Tanh(m), m = f * k + i * g   i, o, f = Sigmoid(x W + h R + b), g = Tanh(x W + h R + b)
 *
 * with Relu for Tanh too, HardSigmoid for Sigmoid, and z for what is new instead of what is kept.
 */
import type { Graph, Node, Value } from "../../../ir/index.js";
import { constantScalar, inputOrders, producerOf } from "../../../rewrite/match.js";
import { isZeroState } from "../../eliminate/zero-state.js";
import { unitRampOf } from "../../fuse/hard-activation.js";
import { type GateSum, isSameProduct, type Projection, type Row, sumOf, type Term } from "./gate-sum.js";

interface Gate<Product = Term> {
  readonly ofInput: Term;
  readonly ofState: Product;
  /** Added to the product of the input, and to that of the state. */
  readonly rows: readonly Row[];
  readonly stateRows: readonly Row[];
  /** Whether the operator has it the other way around: 1 - Sigmoid(s) = Sigmoid(-s). */
  readonly isNegated: boolean;
}

interface Activation {
  readonly name: string;
  /** Of a HardSigmoid. */
  readonly alpha?: number;
  readonly beta?: number;
}

/** `Product`: of the state. */
export interface Cell<Product = Term> {
  readonly op: "RNN" | "GRU" | "LSTM";
  readonly hiddenSize: number;
  /** What all gates have: the row of a sequence. */
  readonly input: Value;
  /** Where that row is made of another one, which the gates multiply. */
  readonly projection: Projection | null;
  /** In the order of the operator. */
  readonly gates: readonly Gate<Product>[];
  /** As the operator counts them. */
  readonly activations: readonly Activation[];
  /** Of a GRU: whether r scales the product of the state, not the state. */
  readonly linearBeforeReset: boolean;
}

/** A state, and what it becomes in a step. */
export interface Carried {
  readonly input: Value;
  readonly next: Value;
}

/** A state that is known to be nothing but zeros may be gone from what it was multiplied by. */
interface MaybeGone {
  /** null where it is gone altogether. */
  readonly input: Value | null;
  readonly next: Value;
}

/** What one state becomes, or the two of an LSTM, h first; null for another cell. */
export function cellOf(h: Carried, cellState: Carried | null): Cell | null {
  const cell = startedCellOf(h, cellState);
  return cell && hasAllProducts(cell) ? cell : null;
}

/** The same where the states are zeros, of which constant folding may have taken the products away. */
export function startedCellOf(h: MaybeGone, cellState: Carried | null): Cell<Term | null> | null {
  const made = madeIn(h.next.graph);
  const parts = cellState ? lstmOf(h, cellState, made) : (gruOf(h, made) ?? rnnOf(h, made));
  if (!parts) return null;
  const [first] = parts.gates;
  const { input, elements, projection } = first!.ofInput;
  const [hiddenSize] = parts.widths;
  if (!hiddenSize) return null;
  const agree = parts.gates.every(
    ({ ofInput, ofState }) =>
      ofInput.input === input &&
      ofInput.projection?.of === projection?.of &&
      ofInput.elements === elements &&
      (ofState?.elements ?? hiddenSize) === hiddenSize,
  );
  return agree && parts.widths.every((width) => width === hiddenSize)
    ? { ...parts, hiddenSize, input, projection }
    : null;
}

const hasAllProducts = (cell: Cell<Term | null>): cell is Cell => cell.gates.every(({ ofState }) => ofState !== null);

/** Whether two cells compute the same of the same, whatever they add to their products. Products that are gone may have been any. */
export const isSameCell = (cell: Cell, other: Cell<Term | null>): boolean =>
  cell.op === other.op &&
  cell.hiddenSize === other.hiddenSize &&
  cell.linearBeforeReset === other.linearBeforeReset &&
  cell.activations.every((activation, at) => isSameActivation(activation, other.activations[at])) &&
  cell.gates.every(({ ofInput, ofState, isNegated }, at) => {
    const gate = other.gates[at]!;
    const isSameState = gate.ofState === null || isSameProduct(ofState, gate.ofState);
    return isNegated === gate.isNegated && isSameProduct(ofInput, gate.ofInput) && isSameState;
  });

const isSameActivation = (one: Activation, other: Activation | undefined): boolean =>
  one.name === other?.name && one.alpha === other.alpha && one.beta === other.beta;

/** What may be the states that `next` is made of: h, and the cell state of an LSTM. `cellOf` tells whether they are. */
export function* statesBehind(next: Value): Generator<readonly [h: Carried, cellState: Carried | null]> {
  const { graph } = next;
  const made = madeIn(graph);
  for (const { old } of mixesOf(next, made)) yield [{ input: old, next }, null];
  const sum = activated(next, candidates, made);
  for (const { input } of (sum && sumOf(sum.of, graph)?.terms) ?? []) yield [{ input, next }, null];
  for (const [out, shown] of inputOrders(made(next, "Mul"))) {
    const cellNext = activated(shown, candidates, made)?.of;
    const gate = cellNext && activated(out, gates, made);
    const hs = (gate && sumOf(gate.of, graph)?.terms.map(({ input }) => input)) ?? [];
    for (const old of cellNext ? forgottenIn(cellNext, made) : [])
      for (const input of hs)
        yield [
          { input, next },
          { input: old, next: cellNext! },
        ];
  }
}

/** Either factor of either product that a cell state is the sum of. */
const forgottenIn = (cellNext: Value, made: Made): Value[] =>
  inputOrders(made(cellNext, "Add")).flatMap(([kept]) => inputOrders(made(kept, "Mul")).map(([, old]) => old));

type Made = (value: Value | null | undefined, op: string) => Node | null;

const madeIn =
  (graph: Graph): Made =>
  (value, op) =>
    producerOf(value, op, graph);

type Parts = Pick<Cell<Term | null>, "op" | "gates" | "activations" | "linearBeforeReset"> & {
  readonly widths: readonly (number | null)[];
};

interface Sized {
  readonly gate: Gate<Term | null>;
  readonly width: number | null;
}

/** A gate or a candidate, behind its activation. */
interface Active extends Sized {
  readonly activation: Activation;
}

const partsOf = (
  op: Cell["op"],
  sized: readonly Sized[],
  activations: readonly Activation[],
  linearBeforeReset = false,
): Parts => ({
  op,
  activations,
  linearBeforeReset,
  gates: sized.map(({ gate }) => gate),
  widths: sized.map(({ width }) => width),
});

const gates = ["Sigmoid", "HardSigmoid"];
const candidates = ["Tanh", "Relu"];

interface Activated {
  readonly of: Value;
  readonly activation: Activation;
}

function activated(value: Value, names: readonly string[], made: Made): Activated | null {
  for (const name of names) {
    const node = made(value, name);
    if (!node) continue;
    const isHard = name === "HardSigmoid";
    const activation = isHard ? { name, alpha: node.float("alpha", 0.2), beta: node.float("beta", 0.5) } : { name };
    return { of: node.inputs[0]!, activation };
  }
  return names.includes("HardSigmoid") ? rampedOf(value, made) : null;
}

/** Relu6(s) / 6 and the like, which are HardSigmoids too. */
function rampedOf(value: Value, made: Made): Activated | null {
  const node = made(value, "Mul") ?? made(value, "Div") ?? made(value, "Clip");
  const range = node && unitRampOf(node);
  return range && { of: range.input, activation: { name: "HardSigmoid", alpha: 1 / range.max, beta: 0 } };
}

function activeOf(value: Value, names: readonly string[], state: MaybeGone, made: Made): Active | null {
  const found = activated(value, names, made);
  const gate = found && gateOf(found.of, state);
  return gate && { ...gate, activation: found.activation };
}

/** The operators have one activation for all gates but the candidate. */
const areAlike = ([first, ...others]: readonly Active[]): boolean =>
  others.every(
    // Sigmoid has neither.
    ({ activation: { alpha, beta } }) => alpha === first!.activation.alpha && beta === first!.activation.beta,
  );

function rnnOf(h: MaybeGone, made: Made): Parts | null {
  const gate = activeOf(h.next, candidates, h, made);
  return gate && partsOf("RNN", [gate], [gate.activation]);
}

function lstmOf(h: MaybeGone, cellState: Carried, made: Made): Parts | null {
  const gate = (value: Value, names = gates): Active | null => activeOf(value, names, h, made);
  for (const [out, shown] of inputOrders(made(h.next, "Mul"))) {
    const o = gate(out);
    const seen = activated(shown, candidates, made);
    if (!o || seen?.of !== cellState.next) continue;
    for (const [kept, added] of inputOrders(made(cellState.next, "Add"))) {
      for (const [forget, old] of inputOrders(made(kept, "Mul"))) {
        for (const [enter, fresh] of inputOrders(made(added, "Mul"))) {
          const [f, i, g] = [gate(forget), gate(enter), gate(fresh, candidates)];
          if (old === cellState.input && f && i && g && areAlike([i, o, f]))
            return partsOf("LSTM", [i, o, f, g], [i.activation, g.activation, seen.activation]);
        }
      }
    }
  }
  return null;
}

function gruOf(h: MaybeGone, made: Made): Parts | null {
  for (const { old, fresh, gate, isNegated } of mixesOf(h.next, made)) {
    if (old !== h.input) continue;
    // 1 - HardSigmoid(s) would be another HardSigmoid.
    const z = activeOf(gate, isNegated ? ["Sigmoid"] : gates, h, made);
    const found = z && activated(fresh, candidates, made);
    const candidate = found && candidateOf(found.of, h, made);
    if (!candidate || !areAlike([z, candidate.r])) continue;
    const { r, c, linearBeforeReset } = candidate;
    const turned = { ...z, gate: { ...z.gate, isNegated } };
    return partsOf("GRU", [turned, r, c], [z.activation, found.activation], linearBeforeReset);
  }
  return null;
}

/** gate * old + (1 - gate) * fresh, or, where it is negated, (1 - gate) * old + gate * fresh. */
interface Mix {
  readonly old: Value;
  readonly fresh: Value;
  readonly gate: Value;
  readonly isNegated: boolean;
}

function* mixesOf(next: Value, made: Made): Generator<Mix> {
  for (const [one, other] of inputOrders(made(next, "Add"))) {
    for (const [update, old] of inputOrders(made(one, "Mul"))) {
      for (const [rest, fresh] of inputOrders(made(other, "Mul"))) {
        if (isRestOf(update, rest, made)) yield { old, fresh, gate: rest, isNegated: true };
        else if (isRestOf(rest, update, made)) yield { old, fresh, gate: update, isNegated: false };
      }
    }
    for (const [gate, difference] of inputOrders(made(one, "Mul"))) {
      const [to, from] = made(difference, "Sub")?.inputs ?? [];
      if (!to || from !== other) continue;
      yield { old: to, fresh: from, gate, isNegated: false };
      yield { old: from, fresh: to, gate, isNegated: true };
    }
  }
}

/** 1 - whole. A one of more axes than the state would give these to it. */
function isRestOf(rest: Value, whole: Value, made: Made): boolean {
  const sub = made(rest, "Sub");
  const one = sub?.inputs[0];
  return sub?.inputs[1] === whole && constantScalar(one) === 1 && one!.constant!.dims.length <= 2;
}

interface Candidate {
  readonly r: Active;
  readonly c: Sized;
  readonly linearBeforeReset: boolean;
}

function candidateOf(value: Value, h: MaybeGone, made: Made): Candidate | null {
  const { graph } = h.next;
  const reset = (gate: Value): Active | null => activeOf(gate, gates, h, made);
  for (const [first, scaled] of inputOrders(made(value, "Add"))) {
    for (const [gate, product] of inputOrders(made(scaled, "Mul"))) {
      const [ofInput, ofState] = [sumOf(first, graph), sumOf(product, graph)];
      const r = ofInput && ofState && reset(gate);
      const c = r && joined(ofInput, ofState, h);
      if (c) return { r, c, linearBeforeReset: true };
    }
  }
  const sum = sumOf(value, graph);
  for (const { input } of sum?.terms ?? []) {
    for (const [gate, old] of inputOrders(made(input, "Mul"))) {
      const r = old === h.input ? reset(gate) : null;
      const c = r && sized(sum!, { input, next: h.next });
      if (c) return { r, c, linearBeforeReset: false };
    }
  }
  return null;
}

function gateOf(value: Value, h: MaybeGone): Sized | null {
  const sum = sumOf(value, h.next.graph);
  return sum && sized(sum, h);
}

const isGone = ({ input }: MaybeGone): boolean => !input || isZeroState(input);

/** Zeros are the same whichever they are. */
const isStateOf = (h: MaybeGone, value: Value): boolean => value === h.input || (isGone(h) && isZeroState(value));

/** A sum of one product of the input and one of the state. */
function sized({ terms, rows, width }: GateSum, h: MaybeGone): Sized | null {
  const ofState = terms.find(({ input }) => isStateOf(h, input)) ?? null;
  const ofInput = terms.find(({ input }) => !isStateOf(h, input));
  const isWhole = terms.length === 2 && ofState !== null;
  if (!ofInput || !(isWhole || (terms.length === 1 && isGone(h)))) return null;
  return { gate: { ofInput, ofState, rows, stateRows: [], isNegated: false }, width };
}

/** Two sums, of the input and of the state. */
function joined(ofInput: GateSum, ofState: GateSum, h: MaybeGone): Sized | null {
  const [one, other = null] = [ofInput.terms[0], ofState.terms[0]];
  const isWhole = other !== null && isStateOf(h, other.input) && ofState.terms.length === 1;
  if (ofInput.terms.length !== 1 || !one || !(isWhole || (other === null && isGone(h)))) return null;
  if (ofInput.width !== ofState.width) return null;
  const gate = { ofInput: one, ofState: other, rows: ofInput.rows, stateRows: ofState.rows, isNegated: false };
  return { gate, width: ofInput.width };
}

/**
 * Cells of recurrent nets written out, as what the states of a Loop become in a turn:
 *
 *   RNN    n = Tanh(x W + h R + b)
 *   GRU    n = z * h + (1 - z) * c          z, r = Sigmoid(x W + h R + b)
 *          c = Tanh(x W + b + r * (h R + d))   or   Tanh(x W + (r * h) R + b)
 *   LSTM   n = o * Tanh(m), m = f * k + i * g   i, o, f = Sigmoid(x W + h R + b), g = Tanh(x W + h R + b)
 *
 * with Relu for Tanh too, HardSigmoid for Sigmoid, and z for what is new instead of what is kept.
 */
import type { Node, Value } from "../../../ir/index.js";
import { constantScalar, inputOrders, producerOf } from "../../../rewrite/match.js";
import { unitRampOf } from "../../fuse/hard-activation.js";
import { type GateSum, type Projection, type Row, sumOf, type Term } from "./gate-sum.js";

interface Gate {
  readonly ofInput: Term;
  readonly ofState: Term;
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

export interface Cell {
  readonly op: "RNN" | "GRU" | "LSTM";
  readonly hiddenSize: number;
  /** What all gates have: the row of a sequence. */
  readonly input: Value;
  /** Where that row is made of another one, which the gates multiply. */
  readonly projection: Projection | null;
  /** In the order of the operator. */
  readonly gates: readonly Gate[];
  /** As the operator counts them. */
  readonly activations: readonly Activation[];
  /** Of a GRU: whether r scales the product of the state, not the state. */
  readonly linearBeforeReset: boolean;
}

/** Of a body: a state and what it becomes. */
export interface Carried {
  readonly input: Value;
  readonly next: Value;
}

/** What one state becomes, or the two of an LSTM, h first; null for another cell. */
export function cellOf(h: Carried, cellState: Carried | null): Cell | null {
  const graph = h.input.graph;
  const made = (value: Value | null | undefined, op: string): Node | null =>
    value ? producerOf(value, op, graph) : null;
  const parts = cellState ? lstmOf(h, cellState, made) : (gruOf(h, made) ?? rnnOf(h, made));
  if (!parts) return null;
  const [first] = parts.gates;
  const { input, elements, projection } = first!.ofInput;
  const hiddenSize = first!.ofState.elements;
  const agree = parts.gates.every(
    ({ ofInput, ofState }) =>
      ofInput.input === input &&
      ofInput.projection?.of === projection?.of &&
      ofInput.elements === elements &&
      ofState.elements === hiddenSize,
  );
  return agree && parts.widths.every((width) => width === hiddenSize)
    ? { ...parts, hiddenSize, input, projection }
    : null;
}

type Made = (value: Value | null | undefined, op: string) => Node | null;
type Parts = Pick<Cell, "op" | "gates" | "activations" | "linearBeforeReset"> & {
  readonly widths: readonly (number | null)[];
};

interface Sized {
  readonly gate: Gate;
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

function activeOf(value: Value, names: readonly string[], state: Value, made: Made): Active | null {
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

function rnnOf({ input: state, next }: Carried, made: Made): Parts | null {
  const gate = activeOf(next, candidates, state, made);
  return gate && partsOf("RNN", [gate], [gate.activation]);
}

function lstmOf(h: Carried, cellState: Carried, made: Made): Parts | null {
  const gate = (value: Value, names = gates): Active | null => activeOf(value, names, h.input, made);
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

function gruOf({ input: state, next }: Carried, made: Made): Parts | null {
  for (const [kept, renewed] of inputOrders(made(next, "Add"))) {
    for (const [update, old] of inputOrders(made(kept, "Mul"))) {
      for (const [rest, fresh] of inputOrders(made(renewed, "Mul"))) {
        if (old !== state) continue;
        const isNegated = isRestOf(update, rest, made);
        if (!isNegated && !isRestOf(rest, update, made)) continue;
        // 1 - HardSigmoid(s) would be another HardSigmoid.
        const z = activeOf(isNegated ? rest : update, isNegated ? ["Sigmoid"] : gates, state, made);
        const found = z && activated(fresh, candidates, made);
        const candidate = found && candidateOf(found.of, state, made);
        if (!candidate || !areAlike([z, candidate.r])) continue;
        const { r, c, linearBeforeReset } = candidate;
        const turned = { ...z, gate: { ...z.gate, isNegated } };
        return partsOf("GRU", [turned, r, c], [z.activation, found.activation], linearBeforeReset);
      }
    }
  }
  return null;
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

function candidateOf(value: Value, state: Value, made: Made): Candidate | null {
  const reset = (gate: Value): Active | null => activeOf(gate, gates, state, made);
  for (const [first, scaled] of inputOrders(made(value, "Add"))) {
    for (const [gate, product] of inputOrders(made(scaled, "Mul"))) {
      const [ofInput, ofState] = [sumOf(first, state.graph), sumOf(product, state.graph)];
      const r = ofInput && ofState && reset(gate);
      const c = r && joined(ofInput, ofState, state);
      if (c) return { r, c, linearBeforeReset: true };
    }
  }
  const sum = sumOf(value, state.graph);
  for (const { input } of sum?.terms ?? []) {
    for (const [gate, old] of inputOrders(made(input, "Mul"))) {
      const r = old === state ? reset(gate) : null;
      const c = r && sized(sum!, input);
      if (c) return { r, c, linearBeforeReset: false };
    }
  }
  return null;
}

function gateOf(value: Value, state: Value): Sized | null {
  const sum = sumOf(value, state.graph);
  return sum && sized(sum, state);
}

/** A sum of one product of the input and one of `state`. */
function sized({ terms, rows, width }: GateSum, state: Value): Sized | null {
  const ofState = terms.find(({ input }) => input === state);
  const ofInput = terms.find(({ input }) => input !== state);
  if (terms.length !== 2 || !ofState || !ofInput) return null;
  return { gate: { ofInput, ofState, rows, stateRows: [], isNegated: false }, width };
}

/** Two sums, of the input and of the state. */
function joined(ofInput: GateSum, ofState: GateSum, state: Value): Sized | null {
  const [one, other] = [ofInput.terms[0], ofState.terms[0]];
  if (ofInput.terms.length !== 1 || ofState.terms.length !== 1 || !one || other?.input !== state) return null;
  if (ofInput.width !== ofState.width) return null;
  const gate = { ofInput: one, ofState: other, rows: ofInput.rows, stateRows: ofState.rows, isNegated: false };
  return { gate, width: ofInput.width };
}

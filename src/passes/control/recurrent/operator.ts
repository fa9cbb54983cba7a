/** Writes the operator that stands for the steps of a recurrent cell. */
import { attr, type Dim, type NewOutput, type Node, Tensor, type Value } from "../../../ir/index.js";
import type { Store } from "../../../rewrite/index.js";
import { isZeroState } from "../../eliminate/zero-state.js";
import type { Cell } from "./cell.js";
import type { Row, Term } from "./gate-sum.js";

export interface Unit {
  readonly cell: Cell;
  /** [steps, batch, elements], or as the projection of the cell has it; null for h of the unit before. */
  readonly sequence: Value | null;
  /** Of h, and of the cell state of an LSTM: [batch, hiddenSize] */
  readonly initial: readonly Value[];
}

/** Which unit an output of the Loop tells of: the last of a state, or h of each step. */
export interface Told {
  readonly unit: number;
  readonly state: number | null;
}

/**
 * @param units each but the first reads the one before
 * @param told one per output of the Loop; null for those that nobody reads
 * @returns one value per output of the Loop
 */
export function emitOperators(
  node: Node,
  units: readonly Unit[],
  told: readonly (Told | null)[],
  [steps = null, batch = null]: readonly Dim[],
  store: Store,
): (Value | null)[] {
  const { graph, name, provenance } = node;
  const made: Node[] = [];
  const squeezed = (unit: number, output: number, label: string): Value =>
    withoutDirection(made[unit]!.outputs[output]!, label, node);
  const rowsOf = ({ cell, sequence }: Unit, before: number): Value => {
    if (sequence === null) return squeezed(before, 0, `${node.displayName}/${before}/H`);
    if (!cell.projection?.isBatchFirst) return sequence;
    const outputs = [typed(`${sequence.label}/steps`, steps, batch, sequence.shape?.at(-1) ?? null)];
    const attributes = { perm: attr.ints([1, 0, 2]) };
    return graph.addNode({ op: "Transpose", inputs: [sequence], attributes, outputs, provenance }, node).output;
  };
  for (const [at, unit] of units.entries()) {
    const part = units.length === 1 ? "" : `${at}/`;
    const { cell, initial } = unit;
    const sequence = rowsOf(unit, at - 1);
    const named = { label: `${node.displayName}/${part}`, name: units.length === 1 ? name : name && `${name}/${at}` };
    made.push(addOperator(node, { ...named, cell, sequence, initial, steps, batch, isReversed: false }, store));
  }
  return node.outputs.map((output, at) => {
    const { unit, state } = told[at] ?? {};
    return output && unit !== undefined ? squeezed(unit, state == null ? 0 : state + 1, output.label) : null;
  });
}

export const typed = (label: string, ...shape: Dim[]): NewOutput => ({ label, type: { dtype: "f32", shape } });

export interface NewOperator {
  readonly name: string;
  /** What the labels of its outputs and weights begin with. */
  readonly label: string;
  readonly cell: Cell;
  /** [steps, batch, elements] */
  readonly sequence: Value;
  /** Of h, and of the cell state of an LSTM: [batch, hiddenSize]; zeros where there are none. */
  readonly initial: readonly Value[];
  readonly steps: Dim;
  readonly batch: Dim;
  /** Whether its first step is of the last row. */
  readonly isReversed: boolean;
}

/** The operator, in front of `before`, with all outputs that it can have. */
export function addOperator(before: Node, operator: NewOperator, store: Store): Node {
  const { graph, provenance } = before;
  const { name, label, cell, sequence, initial, steps, batch, isReversed } = operator;
  const { op, hiddenSize } = cell;
  const constant = (part: string, tensor: Tensor): Value => graph.addConstant(`${label}${part}`, store(tensor));
  const hasBias = cell.gates.some(({ rows, stateRows }) => rows.length + stateRows.length > 0);
  const inDirection = (value: Value): Value => {
    const inputs = [value, graph.addConstant("axes", Tensor.i64([1], [0]))];
    const outputs = [typed(`${value.label}/direction`, 1, batch, hiddenSize)];
    return graph.addNode({ op: "Unsqueeze", inputs, outputs, provenance }, before).output;
  };
  const inputs = [
    sequence,
    constant("W", gateRows(cell, "ofInput")),
    constant("R", gateRows(cell, "ofState")),
    hasBias ? constant("B", biasesOf(cell)) : null,
    // The lengths of the sequences: all have as many steps.
    null,
    ...(initial.every(isZeroState) ? [] : initial.map(inDirection)),
  ];
  while (inputs.at(-1) === null) inputs.pop();
  const outputs = ["Y", "Y_h", ...(op === "LSTM" ? ["Y_c"] : [])].map((result) =>
    typed(`${label}${result}`, ...(result === "Y" ? [steps] : []), 1, batch, hiddenSize),
  );
  const attributes = { ...attributesOf(cell), ...(isReversed && { direction: attr.string("reverse") }) };
  return graph.addNode({ op, inputs, attributes, outputs, provenance, name }, before);
}

/** An output of the operator, in front of `before`, without the axis of its one direction. */
export function withoutDirection(output: Value, label: string, before: Node): Value {
  const { graph, provenance } = before;
  // [steps, 1, batch, hiddenSize] or [1, batch, hiddenSize]
  const shape = output.shape!;
  const axis = shape.length - 3;
  const inputs = [output, graph.addConstant("axes", Tensor.i64([1], [axis]))];
  const outputs = [typed(label, ...shape.toSpliced(axis, 1))];
  return graph.addNode({ op: "Squeeze", inputs, outputs, provenance }, before).output;
}

const attributesOf = ({ op, hiddenSize, activations, linearBeforeReset }: Cell) => {
  const isUsual = activations.every(({ name }, at) => name === (op !== "RNN" && at === 0 ? "Sigmoid" : "Tanh"));
  const alphas = activations.flatMap(({ alpha }) => alpha ?? []);
  const betas = activations.flatMap(({ beta }) => beta ?? []);
  return {
    ...(!isUsual && { activations: attr.strings(activations.map(({ name }) => name)) }),
    ...(alphas.length > 0 && { activation_alpha: attr.floats(alphas) }),
    ...(betas.length > 0 && { activation_beta: attr.floats(betas) }),
    hidden_size: attr.int(hiddenSize),
    ...(op === "GRU" && { linear_before_reset: attr.int(Number(linearBeforeReset)) }),
  };
};

/** [1, gates * hiddenSize, elements]: the columns of each gate as rows. */
function gateRows({ gates, hiddenSize }: Cell, part: "ofInput" | "ofState"): Tensor {
  const { elements } = gates[0]![part];
  const rows = new Float32Array(gates.length * hiddenSize * elements);
  for (const [g, gate] of gates.entries()) {
    const { weights, isTransposed, row, column }: Term = gate[part];
    const from = weights.f32();
    const width = weights.dims[1]!;
    const sign = gate.isNegated ? -1 : 1;
    for (let j = 0; j < hiddenSize; j++)
      for (let i = 0; i < elements; i++) {
        const at = isTransposed ? (column + j) * width + row + i : (row + i) * width + column + j;
        rows[(g * hiddenSize + j) * elements + i] = sign * from[at]!;
      }
  }
  return Tensor.f32([1, gates.length * hiddenSize, elements], rows);
}

/** [1, 2 * gates * hiddenSize]: those of the input, then those of the state. */
export function biasesOf({ gates, hiddenSize }: Pick<Cell<unknown>, "gates" | "hiddenSize">): Tensor {
  const sums = new Float32Array(2 * gates.length * hiddenSize);
  for (const [g, { rows, stateRows, isNegated }] of gates.entries()) {
    const sign = isNegated ? -1 : 1;
    addRows(rows, sign, sums.subarray(g * hiddenSize, (g + 1) * hiddenSize));
    // What is turned has none here.
    addRows(stateRows, 1, sums.subarray((gates.length + g) * hiddenSize, (gates.length + g + 1) * hiddenSize));
  }
  return Tensor.f32([1, sums.length], sums);
}

function addRows(rows: readonly Row[], sign: number, to: Float32Array): void {
  for (const { tensor, column } of rows) {
    const from = tensor.f32();
    for (let j = 0; j < to.length; j++) to[j]! += sign * (from.length === 1 ? from[0]! : from[column + j]!);
  }
}

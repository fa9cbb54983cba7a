/**
 * h, y = Loop<body=(i, go, h) -> (..., n, n) { ... }>(T, true, zeros)   over the rows of x: [T, N, I]
 *
 *     z = Sigmoid(x[i] Wz + bz + h Rz + cz)        c = Tanh(x[i] Wh + bh + r * (h Rh + ch))
 *     r = Sigmoid(x[i] Wr + br + h Rr + cr)        n = z * h + (1 - z) * c
 *
 *   =>  y, h = GRU<linear_before_reset=1>(x, W, R, [bz, br, bh, cz, cr, ch])
 *
 * What tf2onnx makes of a GRU of Keras, whose layers have `reset_after` by default. ONNX Runtime's CPU takes 30 us for each turn of
 * a Loop with such a body, and 6 for a step of its GRU (hidden size 96; 1.32, Zen 3, 1 thread). Of no step or no sample at all that
 * kernel ends the process, in every model that has one.
 */
import {
  attr,
  type Dim,
  dtypeOfCode,
  type Graph,
  graphsWithin,
  type NewOutput,
  type Node,
  opsetOf,
  Tensor,
  type Value,
} from "../../ir/index.js";
import { defineGraphPass, type Store } from "../../rewrite/index.js";
import { constantIntegers, constantScalar, inputOrders, normalizeAxes, producerOf } from "../../rewrite/match.js";
import { isZeroState } from "../eliminate/zero-state.js";
import { areSame, type Size } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";
import { boundsOf, stretchOf } from "../layout/slice-bounds.js";
import { behindIdentity, boolOf } from "./condition-value.js";
import { replaceOutputs } from "./replace-outputs.js";
import { isRead } from "./stack.js";

/** Since then the axes of Squeeze are an input. */
const LEAST_OPSET = 13;

export const fuseGru = defineGraphPass({
  name: "fuse-gru",
  summary: "Turn a Loop over the steps of a gated recurrent unit into GRU",
  numerics: "rounding",
  revealsTypes: "for the next round",
  run({ model, claim, store }) {
    if (opsetOf(model) < LEAST_OPSET) return;
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        const unit = node.is("Loop") ? unitOf(node, facts) : null;
        if (unit && claim(node.displayName)) replaceOutputs(node, emit(node, unit, store));
      }
    }
  },
});

/** Of x and of h: what they are multiplied by, what is added, and where each gate begins among the columns. */
interface Product {
  readonly input: Value;
  /** [elements of the input, 3 * hidden] */
  readonly weights: Tensor;
  /** [3 * hidden]; null for none. */
  readonly bias: Tensor | null;
  readonly starts: Readonly<Record<"z" | "r" | "h", number>>;
}

interface Cell {
  readonly hidden: number;
  /** Of the candidate c. */
  readonly activation: "Relu" | "Tanh";
  readonly ofInput: Product;
  readonly ofState: Product;
}

interface Unit extends Cell {
  /** [steps, batch, elements] */
  readonly sequence: Value;
  /** Null for zeros. */
  readonly initial: Value | null;
  /** Which of the states is h; the others count. */
  readonly state: number;
}

function unitOf(node: Node, facts: SizeFacts): Unit | null {
  const body = node.bodies[0];
  if (!body || body.inputs.length !== node.inputs.length) return null;
  const states = body.inputs
    .slice(2)
    .map((input, at) => ({ input, next: behindIdentity(body.outputs[at + 1]!.value) }));
  const counters = new Set(
    states.flatMap(({ input, next }, at) => (counts(node.inputs[at + 2], input, next) ? [input] : [])),
  );
  const [own, ...others] = states.filter(({ input }) => !counters.has(input));
  if (!own || others.length > 0) return null;
  const state = states.indexOf(own);
  const cell = cellOf(own.next, own.input);
  const gather = cell && producerOf(cell.ofInput.input, "Gather", body);
  const [sequence, index] = gather?.inputs ?? [];
  // A row of its own would keep its axis.
  const isStep = !!index && (counters.has(index) || (index === body.inputs[0] && index.shape?.length === 0));
  if (!cell || !sequence || !isStep || gather!.int("axis", 0) !== 0 || sequence.graph === body) return null;
  const sizes = facts.shapeOf(sequence);
  if (sequence.dtype !== "f32" || sizes?.length !== 3 || !turnsOnce(node, body, counters, sizes[0]!, facts))
    return null;
  const isTold = node.outputs.every(
    (output, at) =>
      !isRead(output) ||
      at === state ||
      (at >= states.length && behindIdentity(body.outputs[at + 1]!.value) === own.next),
  );
  if (!isTold) return null;
  const initial = node.inputs[state + 2];
  const start = facts.shapeOf(initial);
  // One row for all samples would become as many as they are in the first step.
  if (!initial || start?.length !== 2 || !areSame(start[0], sizes[1])) return null;
  return { ...cell, sequence, state, initial: isZeroState(initial) ? null : initial };
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

/** n = z * h + (1 - z) * c */
function cellOf(next: Value, state: Value): Cell | null {
  const made = (value: Value | null | undefined, op: string): Node | null =>
    value ? producerOf(value, op, state.graph) : null;
  for (const [kept, renewed] of inputOrders(made(next, "Add"))) {
    for (const [update, old] of inputOrders(made(kept, "Mul"))) {
      for (const [rest, fresh] of inputOrders(made(renewed, "Mul"))) {
        const sub = made(rest, "Sub");
        const one = sub?.inputs[0];
        // Of more axes than the state it would give these to it.
        const isOne = constantScalar(one) === 1 && one!.constant!.dims.length <= 2;
        if (old !== state || sub?.inputs[1] !== update || !isOne) continue;
        const cell = gatesOf(update, fresh, state, made);
        if (cell) return cell;
      }
    }
  }
  return null;
}

type Made = (value: Value | null | undefined, op: string) => Node | null;

/** The products that the three gates are parts of: z and r are their sums, and of c the state's part is scaled by r. */
function gatesOf(update: Value, fresh: Value, state: Value, made: Made): Cell | null {
  const sums = (value: Value | null | undefined, op: string) => {
    const activated = made(value, op)?.inputs[0];
    return inputOrders(made(activated, "Add"));
  };
  const activation = made(fresh, "Relu") ? "Relu" : "Tanh";
  for (const [xh, scaled] of sums(fresh, activation)) {
    for (const [reset, hh] of inputOrders(made(scaled, "Mul"))) {
      for (const [xz, hz] of sums(update, "Sigmoid")) {
        for (const [xr, hr] of sums(reset, "Sigmoid")) {
          const ofInput = productOf({ z: xz, r: xr, h: xh }, made);
          const ofState = productOf({ z: hz, r: hr, h: hh }, made);
          if (!ofInput || ofState?.input !== state) continue;
          const columns = ofState.weights.dims[1]!;
          const isSquare = ofState.weights.dims[0]! * 3 === columns && ofInput.weights.dims[1] === columns;
          if (isSquare) return { hidden: columns / 3, activation, ofInput, ofState };
        }
      }
    }
  }
  return null;
}

function productOf(gates: Readonly<Record<"z" | "r" | "h", Value>>, made: Made): Product | null {
  const parts = { z: partOf(gates.z), r: partOf(gates.r), h: partOf(gates.h) };
  const { z, r, h } = parts;
  if (!z || !r || !h || r.source !== z.source || h.source !== z.source) return null;
  const product = productBehind(z.source, made);
  if (!product) return null;
  const columns = product.weights.dims[1]!;
  const starts = { z: z.startOf(columns), r: r.startOf(columns), h: h.startOf(columns) };
  const { z: ofZ, r: ofR, h: ofH } = starts;
  return ofZ === null || ofR === null || ofH === null ? null : { ...product, starts: { z: ofZ, r: ofR, h: ofH } };
}

/** a W, or a W + b, for a matrix and a row that are constants. */
function productBehind(value: Value, made: Made): Pick<Product, "input" | "weights" | "bias"> | null {
  const gemm = made(value, "Gemm");
  const sums: (readonly [Node | null, Value | null])[] = [
    [made(value, "MatMul"), null],
    [gemm && isPlain(gemm) ? gemm : null, gemm?.inputs[2] ?? null],
    ...inputOrders(made(value, "Add")).map(([product, row]) => [made(product, "MatMul"), row] as const),
  ];
  for (const [product, row] of sums) {
    const [input, factor] = product?.inputs ?? [];
    const [weights, bias] = [factor?.constant, row?.constant ?? null];
    if (!input || weights?.dtype !== "f32" || weights.dims.length !== 2 || (row && !bias)) continue;
    const columns = weights.dims[1];
    const isRow =
      bias === null || (bias.elementCount === columns && bias.dims.length <= 2 && bias.dims.at(-1) === columns);
    if (isRow) return { input, weights, bias };
  }
  return null;
}

const isPlain = (gemm: Node): boolean =>
  gemm.float("alpha", 1) === 1 &&
  gemm.float("beta", 1) === 1 &&
  gemm.int("transA", 0) === 0 &&
  gemm.int("transB", 0) === 0;

interface Part {
  readonly source: Value;
  /** Where a third of so many columns begins; null when it is something else. */
  readonly startOf: (columns: number) => number | null;
}

/** By a Split into three, or a Slice of columns. */
function partOf(value: Value): Part | null {
  const node = value.producer;
  const source = node?.inputs[0];
  if (!node || !source) return null;
  if (node.is("Split")) {
    const axis = normalizeAxes([node.int("axis", 0)], 2)?.[0];
    const sizes = node.inputs[1] ? constantIntegers(node.inputs[1]) : node.outputs.map(() => 1);
    const isEven = axis === 1 && sizes?.length === 3 && sizes.every((size) => size === sizes[0]);
    return isEven ? { source, startOf: (columns) => (columns / 3) * node.outputs.indexOf(value) } : null;
  }
  if (!node.is("Slice")) return null;
  const bounds = boundsOf(node);
  const axes = bounds && normalizeAxes(bounds.axes, 2);
  if (!bounds || !axes) return null;
  const taken = (axis: number, size: number) => {
    const at = axes.indexOf(axis);
    return at < 0 ? null : stretchOf(bounds.starts[at]!, bounds.ends[at]!, bounds.steps[at]!, size);
  };
  // Of rows all, however many they are.
  const rows = axes.indexOf(0);
  const isWhole =
    rows < 0 || (bounds.starts[rows] === 0n && bounds.ends[rows]! >= MOST_ROWS && bounds.steps[rows] === 1n);
  const startOf = (columns: number): number | null => {
    const part = taken(1, columns);
    return part && part.step === 1 && part.end - part.start === columns / 3 ? part.start : null;
  };
  return isWhole ? { source, startOf } : null;
}

/** What exporters write for the end of an axis. */
const MOST_ROWS = 2n ** 31n - 1n;

function emit(node: Node, unit: Unit, store: Store): (Value | null)[] {
  const { graph, name, provenance } = node;
  const { hidden, activation, ofInput, ofState, sequence, initial, state } = unit;
  const constant = (part: string, tensor: Tensor): Value =>
    graph.addConstant(`${node.displayName}/${part}`, store(tensor));
  const add = (op: string, inputs: (Value | null)[], outputs: NewOutput[], attributes = {}): Node =>
    graph.addNode({ op, inputs, attributes, outputs, provenance, ...(op === "GRU" && { name }) }, node);
  const typed = (label: string, ...shape: Dim[]): NewOutput => ({ label, type: { dtype: "f32", shape } });
  const [steps = null, batch = null] = sequence.shape ?? [];
  const axis = (at: number): Value => graph.addConstant("axes", Tensor.i64([1], [at]));
  const weights = constant("W", gateRows(ofInput, hidden));
  const recurrent = constant("R", gateRows(ofState, hidden));
  const isBiased = ofInput.bias !== null || ofState.bias !== null;
  const bias = isBiased ? constant("B", biases([ofInput, ofState], hidden)) : null;
  const start =
    initial && add("Unsqueeze", [initial, axis(0)], [typed(`${initial.label}/direction`, 1, batch, hidden)]).output;
  const inputs = start ? [sequence, weights, recurrent, bias, null, start] : [sequence, weights, recurrent];
  if (!start && bias) inputs.push(bias);
  const results = [
    typed(`${node.displayName}/Y`, steps, 1, batch, hidden),
    typed(`${node.displayName}/Y_h`, 1, batch, hidden),
  ];
  const gru = add("GRU", inputs, results, {
    ...(activation === "Relu" && { activations: attr.strings(["Sigmoid", activation]) }),
    hidden_size: attr.int(hidden),
    linear_before_reset: attr.int(1),
  });
  return node.outputs.map((output, at) => {
    if (!output || !isRead(output)) return null;
    return at === state
      ? add("Squeeze", [gru.outputs[1]!, axis(0)], [typed(output.label, batch, hidden)]).output
      : add("Squeeze", [gru.outputs[0]!, axis(1)], [typed(output.label, steps, batch, hidden)]).output;
  });
}

const gates = ["z", "r", "h"] as const;

/** [1, 3 * hidden, elements]: the columns of each gate as rows. */
function gateRows({ weights, starts }: Product, hidden: number): Tensor {
  const [elements, columns] = weights.dims as [number, number];
  const from = weights.f32();
  const rows = new Float32Array(3 * hidden * elements);
  for (const [g, gate] of gates.entries())
    for (let j = 0; j < hidden; j++)
      for (let i = 0; i < elements; i++) rows[(g * hidden + j) * elements + i] = from[i * columns + starts[gate] + j]!;
  return Tensor.f32([1, 3 * hidden, elements], rows);
}

/** [1, 6 * hidden]: those of the input, then those of the state. */
function biases(products: readonly Product[], hidden: number): Tensor {
  const row = new Float32Array(6 * hidden);
  for (const [p, { bias, starts }] of products.entries())
    for (const [g, gate] of gates.entries())
      if (bias) row.set(bias.f32().subarray(starts[gate], starts[gate] + hidden), (3 * p + g) * hidden);
  return Tensor.f32([1, 6 * hidden], row);
}

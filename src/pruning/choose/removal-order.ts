/**
 * In which order units go, so that least is missing from the sums of those who read them. Structured optimal brain
 * surgeon: the error of a consumer y = W x when its inputs B are removed and all others take over what they can is
 *
 *   sum over outputs of W_B (H^-1_BB)^-1 transpose(W_B)        H = sum x transpose(x), damped
 *
 * The unit with the least error, summed over all consumers, goes first; W and H^-1 follow, and the next one is looked for:
 *
 *   W    -= W_B (H^-1_BB)^-1 H^-1_B,:
 *   H^-1 -= H^-1_:,B (H^-1_BB)^-1 H^-1_B,:
 *
 * Errors count as shares of the variance of what the consumer makes.
 */
import { groupBy } from "../../base/group-by.js";
import { factor, inverse, solve } from "../refit/cholesky.js";

/** One who reads the units. Matrices are changed on the way. */
export interface Reader {
  readonly inputs: number;
  readonly outputs: number;
  /** [inputs, inputs], about the means where there is a bias. */
  readonly gram: Float64Array;
  /** [outputs, inputs]. */
  readonly weights: Float64Array;
  /** The unit that each input belongs to, or -1. */
  readonly unitOf: Int32Array;
  /** Of what it makes, summed over rows and outputs: about the means where there is a bias. */
  readonly variance: number;
}

export interface Removal {
  /** Units in the order in which they go; the last one stays. */
  readonly order: Int32Array;
  /** errors[n]: share of the readers' variance that is missed when the first n are gone, at least; averaged over readers. */
  readonly errors: Float64Array;
}

/** Share of the mean of the diagonal that is added to it: as a fit does. */
const DAMPING = 0.01;
/** Units that go before all others are looked at again, of so many that are left. */
const AT_ONCE = 1 / 64;
/** Matrices are made smaller when less than this of their inputs is left. */
const WORTH_MOVING = 0.8;

/**
 * Null where nobody's inputs say anything.
 *
 * @param most units that may have to go: of the others none is known to matter less than another
 */
export function removalOrder(width: number, readers: readonly Reader[], most = width - 1): Removal | null {
  const states = readers.flatMap((reader) => ReaderState.of(reader) ?? []);
  if (states.length === 0) return null;
  const order: number[] = [];
  const errors = new Float64Array(width);
  const left = new Set(Array.from({ length: width }, (_, unit) => unit));
  let missed = 0;
  while (order.length < most) {
    const costsOf = states.map((state) => state.costs(width));
    const costs = [...left].map((unit) => ({ unit, cost: costsOf.reduce((sum, each) => sum + each[unit]!, 0) }));
    costs.sort((a, b) => a.cost - b.cost || a.unit - b.unit);
    const count = Math.min(most - order.length, Math.max(1, Math.floor(left.size * AT_ONCE)));
    const gone = costs.slice(0, count).map(({ unit }) => unit);
    const missedOf = new Float64Array(count);
    for (const state of states)
      for (const [i, cost] of state.remove(gone).entries()) missedOf[i]! += cost / states.length;
    for (const [i, unit] of gone.entries()) {
      missed += missedOf[i]!;
      order.push(unit);
      errors[order.length] = missed;
      left.delete(unit);
    }
  }
  errors.fill(missed, order.length);
  return { order: Int32Array.from([...order, ...left]), errors };
}

class ReaderState {
  #inputsOf: Map<number, number[]>;
  /** The unit of each input that the matrices have, or -1; gone with its unit. */
  #units: Int32Array;
  #left: number;

  private constructor(
    private inputs: number,
    readonly outputs: number,
    unitOf: Int32Array,
    /** Of the lower triangle. */
    private inverse: Float64Array,
    private weights: Float64Array,
    readonly variance: number,
  ) {
    this.#units = unitOf;
    this.#left = inputs;
    this.#inputsOf = inputsByUnit(unitOf);
  }

  static of(reader: Reader): ReaderState | null {
    const { inputs, outputs, gram, weights, variance } = reader;
    if (!(variance > 0) || !Number.isFinite(variance)) return null;
    let mean = 0;
    for (let i = 0; i < inputs; i++) mean += gram[i * (inputs + 1)]! / inputs;
    const damped = gram.slice();
    for (let i = 0; i < inputs; i++) damped[i * (inputs + 1)]! += DAMPING * mean;
    const factored = factor(damped, inputs);
    const own = weights.slice(0, outputs * inputs);
    return factored && new ReaderState(inputs, outputs, reader.unitOf, inverse(factored), own, variance);
  }

  /** What each unit would cost now, by unit; 0 for those that are gone or not read. */
  costs(width: number): Float64Array {
    const costs = new Float64Array(width);
    const areSingle = [...this.#inputsOf.values()].every(({ length }) => length === 1);
    const squares = areSingle ? this.#squares() : null;
    for (const [unit, at] of this.#inputsOf) {
      const pivot = this.#inverseAt(at[0]!, at[0]!);
      costs[unit] = !squares ? this.#costOf(at) : pivot > 0 ? squares[at[0]!]! / pivot / this.variance : 0;
    }
    return costs;
  }

  /** Of the weights of each input, summed over outputs row by row. */
  #squares(): Float64Array {
    const { inputs, outputs, weights } = this;
    const sums = new Float64Array(inputs);
    for (let o = 0; o < outputs; o++) for (let i = 0; i < inputs; i++) sums[i]! += weights[o * inputs + i]! ** 2;
    return sums;
  }

  #costOf(at: readonly number[]): number {
    const factored = factor(this.#blockOf(at), at.length);
    if (!factored) return 0;
    const rows = this.#columns(at);
    const solved = solve(factored, rows, this.outputs);
    let cost = 0;
    for (let k = 0; k < rows.length; k++) cost += rows[k]! * solved[k]!;
    return cost / this.variance;
  }

  /** Takes units out, all at once, and says what each costs when they go in this order. */
  remove(units: readonly number[]): Float64Array {
    const costs = new Float64Array(units.length);
    const owners = units.flatMap((unit, i) => (this.#inputsOf.get(unit) ?? []).map((input) => ({ input, i })));
    const at = owners.map(({ input }) => input);
    const size = at.length;
    const factored = size > 0 ? factor(this.#blockOf(at), size) : null;
    if (!factored) {
      // Together they depend on one another too closely: one by one, or not at all.
      if (size > 0 && units.length > 1) for (const [i, unit] of units.entries()) costs.set(this.remove([unit]), i);
      return costs;
    }
    const { inputs, outputs } = this;
    const rows = this.#columns(at);
    // With L of the block, (L^-1 w)^2 is what each input costs once those before it are gone.
    const { lower } = factored;
    const image = new Float64Array(size);
    for (let o = 0; o < outputs; o++) {
      for (let k = 0; k < size; k++) {
        let value = rows[o * size + k]!;
        for (let l = 0; l < k; l++) value -= lower[k * size + l]! * image[l]!;
        image[k] = value / lower[k * size + k]!;
        costs[owners[k]!.i]! += image[k]! ** 2 / this.variance;
      }
    }
    const solved = solve(factored, rows, outputs);
    // H^-1_i,B for every input i, before anything of it changes.
    const removed = at.map((input) => Float64Array.from({ length: inputs }, (_, i) => this.#inverseAt(input, i)));
    const columns = new Float64Array(inputs * size);
    for (let i = 0; i < inputs; i++) for (let k = 0; k < size; k++) columns[i * size + k] = removed[k]![i]!;
    const factors = solve(factored, columns, inputs);
    for (let o = 0; o < outputs; o++) subtractRows(this.weights, o * inputs, inputs, solved, o * size, removed);
    for (let i = 0; i < inputs; i++) subtractRows(this.inverse, i * inputs, i + 1, factors, i * size, removed);
    for (const input of at) {
      this.inverse.fill(0, input * inputs, (input + 1) * inputs);
      for (let i = input; i < inputs; i++) this.inverse[i * inputs + input] = 0;
      for (let o = 0; o < outputs; o++) this.weights[o * inputs + input] = 0;
    }
    for (const unit of units) this.#inputsOf.delete(unit);
    this.#left -= size;
    if (this.#left < WORTH_MOVING * inputs) this.#compact();
    return costs;
  }

  /** What is gone holds zeros: matrices without it say the same. */
  #compact(): void {
    const kept = [...this.#units.keys()].filter((input) => {
      const unit = this.#units[input]!;
      return unit < 0 || this.#inputsOf.has(unit);
    });
    const { inputs, outputs } = this;
    const all = Array.from({ length: outputs }, (_, o) => o);
    this.inverse = part(this.inverse, inputs, kept, kept);
    this.weights = part(this.weights, inputs, all, kept);
    this.#units = Int32Array.from(kept, (input) => this.#units[input]!);
    this.inputs = kept.length;
    this.#left = kept.length;
    this.#inputsOf = inputsByUnit(this.#units);
  }

  /** W_B, [outputs, inputs of the unit]. */
  #columns(at: readonly number[]): Float64Array {
    const { inputs, outputs } = this;
    const rows = new Float64Array(outputs * at.length);
    for (let o = 0; o < outputs; o++) {
      for (let k = 0; k < at.length; k++) rows[o * at.length + k] = this.weights[o * inputs + at[k]!]!;
    }
    return rows;
  }

  /** H^-1_BB. */
  #blockOf(at: readonly number[]): Float64Array {
    const size = at.length;
    return Float64Array.from({ length: size ** 2 }, (_, k) =>
      this.#inverseAt(at[Math.floor(k / size)]!, at[k % size]!),
    );
  }

  #inverseAt(i: number, j: number): number {
    return this.inverse[Math.max(i, j) * this.inputs + Math.min(i, j)]!;
  }
}

/** Some rows and columns of a matrix. */
function part(matrix: Float64Array, size: number, rows: readonly number[], columns: readonly number[]): Float64Array {
  const small = new Float64Array(rows.length * columns.length);
  for (let r = 0, at = 0; r < rows.length; r++) {
    const from = rows[r]! * size;
    for (let c = 0; c < columns.length; c++, at++) small[at] = matrix[from + columns[c]!]!;
  }
  return small;
}

function inputsByUnit(unitOf: Int32Array): Map<number, number[]> {
  const owned = [...unitOf.keys()].filter((input) => unitOf[input]! >= 0);
  return groupBy(owned, (input) => unitOf[input]!);
}

/** matrix[at..at + count) -= sum over k of factors[from + k] rows[k], four rows at a time. */
function subtractRows(
  matrix: Float64Array,
  at: number,
  count: number,
  factors: Float64Array,
  from: number,
  rows: readonly Float64Array[],
): void {
  const none = rows[0]!;
  for (let k = 0; k < rows.length; k += 4) {
    const [a, b, c, d] = [rows[k]!, rows[k + 1] ?? none, rows[k + 2] ?? none, rows[k + 3] ?? none];
    const factorOf = (of: number): number => (of < rows.length ? factors[from + of]! : 0);
    const [fa, fb, fc, fd] = [factorOf(k), factorOf(k + 1), factorOf(k + 2), factorOf(k + 3)];
    if (fa === 0 && fb === 0 && fc === 0 && fd === 0) continue;
    for (let j = 0; j < count; j++) matrix[at + j]! -= fa * a[j]! + fb * b[j]! + fc * c[j]! + fd * d[j]!;
  }
}

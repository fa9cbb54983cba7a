import type { Node, Value } from "../../ir/index.js";
import { dimsOf, type Formula, NoGradient } from "./formula.js";

/**
 * Gradients of a node's inputs from those of its outputs (vector-Jacobian product). Each has the sizes of what it is
 * the gradient of. Throws NoGradient where the form of the node is one that it cannot do.
 */
export type GradientRule = (site: Site) => readonly (Value | null)[];

export class Site {
  constructor(
    readonly node: Node,
    readonly f: Formula,
    /** By output; null for those that nothing depends on. */
    readonly gradients: readonly (Value | null)[],
    /** Inputs whose gradients are asked for. */
    readonly wanted: ReadonlySet<number>,
  ) {}

  /** The gradient of the first output. */
  get dy(): Value {
    const first = this.gradients[0];
    if (!first) throw new NoGradient("only its later outputs are read");
    return first;
  }

  get y(): Value {
    return this.node.output;
  }

  input(index: number): Value {
    const value = this.node.inputs[index];
    if (!value) throw new NoGradient(`input ${index} is absent`);
    return value;
  }

  optional(index: number): Value | null {
    return this.node.inputs[index] ?? null;
  }

  /** Integers that an input always has. */
  integers(index: number): number[] {
    return this.bigints(index).map(Number);
  }

  /** The same, where they may be sentinels beyond 2^53. */
  bigints(index: number): bigint[] {
    const values = this.node.inputs[index]?.constant?.bigints();
    if (!values) throw new NoGradient(`input ${index} is no constant`);
    return values;
  }

  dims(index: number): readonly number[] {
    return dimsOf(this.input(index));
  }

  /** `make()` where input `index` is wanted. */
  ifWanted(index: number, make: () => Value): Value | null {
    return this.wanted.has(index) ? make() : null;
  }

  /** A gradient of the broadcast sizes, summed to those of input `index`. */
  unbroadcast(gradient: Value, index: number): Value {
    return summedTo(this.f, gradient, dimsOf(this.y), this.dims(index));
  }
}

/** Sums what broadcasting had repeated: from sizes `wide` to sizes `narrow`. */
export function summedTo(f: Formula, value: Value, wide: readonly number[], narrow: readonly number[]): Value {
  const missing = wide.length - narrow.length;
  const axes = wide.flatMap((size, axis) => (axis < missing || narrow[axis - missing] !== size ? [axis] : []));
  if (axes.length === 0) return value;
  const summed = f.sum(value, axes);
  return missing === 0 ? summed : f.reshape(summed, narrow);
}

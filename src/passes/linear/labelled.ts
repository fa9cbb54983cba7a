/** Tensors whose axes have labels, and the nodes that put them into another order or join some. */
import { attr, type Dim, elementCount, Tensor, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { isSameOrder } from "../layout/permutation.js";
import { permutedTensor } from "../layout/permuted-tensor.js";

/** Names an axis. */
export type Label = string;

export interface Labelled {
  readonly value: Value;
  readonly labels: readonly Label[];
}

/** Axes of a tensor, each one label, several that are joined, or none, which is an axis of 1. */
export type Groups = readonly (readonly Label[])[];

export const single = (labels: readonly Label[]): Groups => labels.map((label) => [label]);

/** Of each label, in all operands. */
export interface Sizes {
  /** null where operands do not tell the same: one of them may turn out to be 1, which is repeated. */
  readonly known: ReadonlyMap<Label, Dim>;
  /** Those of which they do not. */
  readonly unsure: ReadonlySet<Label>;
  /** Labels whose size, which is not known, is surely not 0. */
  readonly never0?: ReadonlySet<Label>;
}

/** Makes nodes for tensors of these sizes. */
export class LabelledNodes {
  constructor(
    readonly context: RewriteContext,
    readonly sizes: Sizes,
  ) {}

  isSure = (label: Label): boolean => !this.sizes.unsure.has(label);

  /** Weights that lie in the order of `labels`, in another one. */
  weights(data: ArrayLike<number>, labels: readonly Label[], order: readonly Label[]): Tensor {
    const sizes = labels.map((label) => this.sizes.known.get(label) as number);
    const perm = order.map((label) => labels.indexOf(label));
    return permutedTensor(Tensor.f32(sizes, data), perm);
  }

  transpose({ value, labels }: Labelled, order: readonly Label[]): Labelled {
    if (isSameOrder(labels, order)) return { value, labels };
    const perm = attr.ints(order.map((label) => labels.indexOf(label)));
    return { value: this.#make("Transpose", [value], { perm }, order), labels: order };
  }

  /** Without these labels. */
  sum({ value, labels }: Labelled, without: readonly Label[]): Labelled {
    if (without.length === 0) return { value, labels };
    const kept = labels.filter((label) => !without.includes(label));
    const axes = this.#integers(
      `${value.label}/axes`,
      without.map((label) => labels.indexOf(label)),
    );
    return { value: this.#make("ReduceSum", [value, axes], { keepdims: attr.int(0) }, kept), labels: kept };
  }

  /** The product of both, with the axes of `order`, of which each has some in that order. */
  multiply(a: Labelled, b: Labelled, order: readonly Label[]): Labelled {
    const factors = [a, b].map((factor) => this.#broadcast(factor, order));
    return { value: this.#make("Mul", factors, {}, order), labels: order };
  }

  /** In this order, and joined to groups; null as `regroup`. */
  arranged(tensor: Labelled, order: readonly Label[], groups: Groups): Value | null {
    return this.regroup(this.transpose(tensor, order).value, single(order), groups);
  }

  /** From axes that are groups to others of the same labels in the same order; null where a size would have to be computed. */
  regroup(value: Value, from: Groups, to: Groups): Value | null {
    if (from.length === to.length && from.every((group, i) => isSameOrder(group, to[i]!))) return value;
    const target = to.map((group, i) => {
      const dim = this.#size(group);
      if (isKnown(dim)) return dim;
      return from[i] && isSameOrder(from[i], group) ? COPIED : INFERRED;
    });
    // A size of 0 would be copied from what stands there; and one that is copied may be 0, beside which none can be inferred.
    if (to.some((group) => this.#size(group) === 0)) return null;
    const isOpen = target.map((size, i) => size === INFERRED || (size === COPIED && !this.#isNever0(to[i]!)));
    if (target.includes(INFERRED) && isOpen.filter(Boolean).length > 1) return null;
    const shape = this.#integers(`${value.label}/shape`, target);
    return this.context.create("Reshape", [value, shape], {}, { types: [this.#typed(value, to)] }).output;
  }

  matMul(a: Value, b: Value, groups: Groups): Value {
    return this.context.create("MatMul", [a, b], {}, { types: [this.#typed(a, groups)] }).output;
  }

  /** With axes of 1 where `order` has labels that it lacks; in front of all of its own it needs none. */
  #broadcast({ value, labels }: Labelled, order: readonly Label[]): Value {
    const first = order.findIndex((label) => labels.includes(label));
    const own = order.slice(first === -1 ? order.length : first);
    const added = own.flatMap((label, i) => (labels.includes(label) ? [] : [i]));
    if (added.length === 0) return value;
    const groups = own.map((label) => (labels.includes(label) ? [label] : []));
    const axes = this.#integers(`${value.label}/axes`, added);
    return this.context.create("Unsqueeze", [value, axes], {}, { types: [this.#typed(value, groups)] }).output;
  }

  #make(
    op: string,
    inputs: Value[],
    attributes: Parameters<RewriteContext["create"]>[2],
    labels: readonly Label[],
  ): Value {
    return this.context.create(op, inputs, attributes, { types: [this.#typed(inputs[0]!, single(labels))] }).output;
  }

  #typed({ dtype }: Value, groups: Groups) {
    return { dtype, shape: groups.map((group) => this.#size(group)) };
  }

  #isNever0 = (group: readonly Label[]): boolean => group.every((label) => this.sizes.never0?.has(label));

  #size(group: readonly Label[]): Dim {
    if (group.length === 1) return this.sizes.known.get(group[0]!) ?? null;
    const sizes = group.map((label) => this.sizes.known.get(label) ?? null);
    return sizes.every(isKnown) ? elementCount(sizes) : null;
  }

  #integers(label: string, values: readonly number[]): Value {
    return this.context.constant(label, Tensor.i64([values.length], [...values]));
  }
}

const COPIED = 0;
const INFERRED = -1;

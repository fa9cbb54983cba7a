/**
 * A model that computes some values of two nets, the original and the pruned one, from values of them that are known
 * already. What pruning has not touched yet is the same in both, and computed once.
 */
import { Graph, type Model, type Node, type Value } from "../../ir/index.js";
import { copyConstant, copyNode, valuesRead } from "../../rewrite/index.js";

export class Segment {
  readonly model: Model;
  readonly #values = new Map<Value, Value>();
  /** Nodes of both nets that are computed here. */
  readonly computed = new Set<Node>();
  /** Names of the inputs that hold known values, by value. */
  readonly read = new Map<Value, string>();
  readonly #inputs = new Map<string, Value>();

  /**
   * @param isKnown values of which every sample was kept
   * @param twinOf the value of the original that is the same as one of the pruned net; the value itself where there is none
   */
  constructor(
    like: Model,
    readonly isKnown: (value: Value) => boolean,
    readonly twinOf: (value: Value) => Value,
  ) {
    this.model = { ...like, graph: new Graph(), opsets: new Map(like.opsets), path: "" };
  }

  /** The copy of a value here, with everything that it takes to compute it. */
  value(of: Value): Value {
    const wanted = this.twinOf(of);
    const pending = [wanted];
    for (let value = pending.at(-1); value; value = pending.at(-1)) {
      if (this.#values.has(value)) {
        pending.pop();
        continue;
      }
      const { producer } = value;
      if (!producer || this.isKnown(value)) {
        this.#values.set(value, this.#leaf(value));
        continue;
      }
      const missing = [...valuesRead(producer)].filter((read) => !this.#values.has(this.twinOf(read)));
      if (missing.length > 0) {
        pending.push(...missing.map(this.twinOf));
        continue;
      }
      for (const read of valuesRead(producer)) this.#values.set(read, this.#values.get(this.twinOf(read))!);
      const copy = copyNode(producer, this.model.graph, this.#values);
      // Both nets have nodes of the same names.
      copy.name = `${producer.name}/${this.computed.size}`;
      this.computed.add(producer);
    }
    return this.#values.get(wanted)!;
  }

  /** Whether a value is at hand here: known before, or computed. */
  has(value: Value): boolean {
    return this.#values.has(value);
  }

  #leaf(value: Value): Value {
    const { graph } = this.model;
    if (value.constant || value.origin.sparse) return copyConstant(value, graph);
    // The two nets have the same inputs.
    const name = value.isGraphInput ? value.label : `known/${this.read.size}`;
    const shared = value.isGraphInput ? this.#inputs.get(name) : undefined;
    if (shared) return shared;
    if (!value.isGraphInput) this.read.set(value, name);
    // Names of sizes mean nothing between nets; numbers are needed where an operator's result cannot be inferred without.
    const unnamed = value.shape?.map((dim) => (typeof dim === "number" ? dim : null)) ?? null;
    const [shape, defaults] = value.isGraphInput ? [value.shape, value.origin] : [unnamed, {}];
    const input = graph.addInput(name, { dtype: value.dtype ?? "f32", shape }, defaults);
    this.#inputs.set(name, input);
    return input;
  }
}

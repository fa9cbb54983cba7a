import { invariant } from "../base/errors.js";
import { type Attribute, graphsOf } from "./attribute.js";
import { Node, nodeInternals } from "./node.js";
import type { Tensor, WireExtras } from "./tensor.js";
import { linkUse, type TensorType, type Use, unlinkUse, Value, type ValueOrigin } from "./value.js";

/** A named result of a graph. The name is public and belongs to the port, whatever value stands behind it. */
export interface OutputPort {
  readonly name: string;
  readonly value: Value;
  /** The wire's description, kept for the writer. */
  readonly info: WireExtras | null;
}

export interface NewNode {
  readonly op: string;
  readonly domain?: string;
  readonly name?: string;
  readonly inputs: readonly (Value | null)[];
  readonly attributes?: Iterable<readonly [string, Attribute]> | Readonly<Record<string, Attribute>>;
  /** One per output; null for an optional output that is not produced. */
  readonly outputs: readonly (NewOutput | null)[];
  readonly provenance?: readonly string[];
}

export interface NewOutput {
  readonly label: string;
  readonly type?: TensorType | null;
}

/**
 * A graph or a nested body: inputs, constants, nodes in execution order, named
 * outputs. The only place where structure changes; every method leaves use lists
 * right. Bodies may read the values of the graphs around them.
 */
export class Graph {
  readonly #inputs: Value[] = [];
  readonly #constants = new Set<Value>();
  readonly #outputs: { port: OutputPort; use: Use }[] = [];
  #first: Node | null = null;
  #last: Node | null = null;
  #size = 0;
  /** The node that owns this body; null for a model's main graph. */
  owner: Node | null = null;
  /** Name, doc string, metadata, annotations, unknown fields: kept for the writer. */
  extras: WireExtras | null = null;

  get inputs(): readonly Value[] {
    return this.#inputs;
  }

  /** Constants in the order in which they were added. */
  get constants(): readonly Value[] {
    return [...this.#constants];
  }

  get outputs(): readonly OutputPort[] {
    return this.#outputs.map(({ port }) => port);
  }

  get firstNode(): Node | null {
    return this.#first;
  }

  get lastNode(): Node | null {
    return this.#last;
  }

  get nodeCount(): number {
    return this.#size;
  }

  /** The graph around this body, or null. */
  get parent(): Graph | null {
    return this.owner?.graph ?? null;
  }

  /**
   * Nodes in execution order. The graph may be edited while iterating: a node that
   * was removed is passed over, one that was inserted after the current one is visited.
   */
  *nodes(): Generator<Node> {
    for (let node = this.#first; node; ) {
      yield node;
      // A removed node keeps its way forward, so the walk can go on from it.
      let next: Node | null = nodeInternals(node).next;
      while (next && !next.attached) next = nodeInternals(next).next;
      node = next;
    }
  }

  /** `defaults`: what it is when a caller gives nothing. */
  addInput(
    label: string,
    type: TensorType | null,
    defaults: Pick<ValueOrigin, "defaultTensor" | "defaultSparse"> = {},
  ): Value {
    const value = new Value(this, label, type, defaults);
    this.#inputs.push(value);
    return value;
  }

  addConstant(label: string, tensor: Tensor): Value {
    const value = new Value(this, label, { dtype: tensor.dtype, shape: tensor.dims }, { constant: tensor });
    this.#constants.add(value);
    return value;
  }

  /** A sparse initializer, carried through as it came. */
  addSparse(label: string, sparse: WireExtras): Value {
    const value = new Value(this, label, null, { sparse });
    this.#constants.add(value);
    return value;
  }

  removeConstant(value: Value): void {
    invariant(value.useCount === 0, `constant ${value.label} is still read`);
    invariant(this.#constants.delete(value), `${value.label} is no constant of this graph`);
  }

  /** Appends, or inserts before the node given. Inputs must be visible from here. */
  addNode(spec: NewNode, before: Node | null = null): Node {
    invariant(!before || (before.graph === this && before.attached), "insert before a node of this graph");
    const node = new Node(this, spec.op, spec.domain ?? "", spec.name ?? "");
    const state = nodeInternals(node);
    const attributes = spec.attributes ?? [];
    state.attributes = new Map(Symbol.iterator in attributes ? attributes : Object.entries(attributes));
    state.outputs = spec.outputs.map((output, index) =>
      output ? new Value(this, output.label, output.type ?? null, { producer: { node, index } }) : null,
    );
    node.provenance = spec.provenance ?? [];
    for (const body of node.bodies) {
      invariant(body.owner === null, `a body of a new ${spec.op} belongs to ${body.owner?.displayName}`);
      body.owner = node;
    }
    this.#attach(node, before);
    spec.inputs.forEach((value, index) => {
      state.inputs.push(null);
      state.inputUses.push(null);
      if (value) this.#link(node, index, value);
    });
    return node;
  }

  /** Removes a node whose outputs nobody reads, with its bodies. */
  removeNode(node: Node): void {
    invariant(node.graph === this && node.attached, `${node.displayName} is no node of this graph`);
    for (const output of node.outputs) {
      invariant(!output || output.useCount === 0, `an output of ${node.displayName} is still read`);
    }
    this.#unlinkAll(node);
    this.#detach(node);
  }

  /** Makes input `index` of a node read another value, or nothing; the list grows when it has to. */
  setInput(node: Node, index: number, value: Value | null): void {
    const state = nodeInternals(node);
    while (state.inputs.length <= index) {
      state.inputs.push(null);
      state.inputUses.push(null);
    }
    this.#unlink(node, index);
    if (value) this.#link(node, index, value);
  }

  setAttribute(node: Node, name: string, attribute: Attribute): void {
    invariant(graphsOf(attribute).length === 0, "bodies are set when a node is made");
    nodeInternals(node).attributes.set(name, attribute);
  }

  removeAttribute(node: Node, name: string): void {
    invariant(
      graphsOf(node.attributes.get(name) ?? { type: "int", value: 0n }).length === 0,
      "a body goes with its node",
    );
    nodeInternals(node).attributes.delete(name);
  }

  /** Drops an output that nobody reads: trailing ones vanish, others become absent. */
  dropNodeOutput(node: Node, index: number): void {
    const outputs = nodeInternals(node).outputs;
    invariant(outputs[index]?.useCount === 0, `output ${index} of ${node.displayName} is still read`);
    outputs[index] = null;
    while (outputs.length > 0 && outputs.at(-1) === null) outputs.pop();
  }

  /** Moves a node directly before another node of this graph. */
  moveBefore(node: Node, before: Node | null): void {
    if (node === before) return;
    invariant(node.graph === this && node.attached, `${node.displayName} is no node of this graph`);
    invariant(!before || (before.graph === this && before.attached), "move before a node of this graph");
    this.#detach(node);
    this.#attach(node, before);
  }

  addOutput(name: string, value: Value, info: WireExtras | null = null): void {
    this.#outputs.push(this.#port({ name, value, info }));
  }

  /** Removes outputs by name; for probe models, never for the user's. */
  removeOutput(name: string): void {
    const at = this.#outputs.findIndex(({ port }) => port.name === name);
    invariant(at >= 0, `there is no output ${name}`);
    const [entry] = this.#outputs.splice(at, 1);
    unlinkUse(entry!.port.value, entry!.use);
  }

  /** Puts another value behind an output, which keeps its name; what was said about the value before no longer holds, but for `info`. */
  setOutput(index: number, value: Value, info: WireExtras | null = null): void {
    const entry = this.#outputs[index];
    invariant(entry, `there is no output ${index}`);
    unlinkUse(entry.port.value, entry.use);
    this.#outputs[index] = this.#port({ name: entry.port.name, value, info });
  }

  /** Every reader of `old` reads `replacement` instead: nodes here and in bodies, and output ports, which keep their names. */
  replaceUses(old: Value, replacement: Value, except?: Node): void {
    for (const use of old.uses) {
      if (use.kind === "input") {
        if (use.node !== except) use.node.graph.setInput(use.node, use.index, replacement);
      } else use.graph.#repoint(use, replacement);
    }
  }

  #repoint(use: Use & { kind: "output" }, value: Value): void {
    const at = this.#outputs.findIndex((entry) => entry.use === use);
    unlinkUse(use.port.value, use);
    this.#outputs[at] = this.#port({ name: use.port.name, value, info: use.port.info });
  }

  #port(port: OutputPort): { port: OutputPort; use: Use } {
    const use: Use = { kind: "output", graph: this, port };
    linkUse(port.value, use);
    return { port, use };
  }

  /** Unlinks everything a body reads, when its node goes. */
  #release(): void {
    for (const { port, use } of this.#outputs) unlinkUse(port.value, use);
    for (const node of this.nodes()) this.#unlinkAll(node);
  }

  #unlinkAll(node: Node): void {
    for (const index of node.inputs.keys()) this.#unlink(node, index);
    for (const body of node.bodies) body.#release();
  }

  #link(node: Node, index: number, value: Value): void {
    const state = nodeInternals(node);
    const use: Use = { kind: "input", node, index };
    state.inputs[index] = value;
    state.inputUses[index] = use;
    linkUse(value, use);
  }

  #unlink(node: Node, index: number): void {
    const state = nodeInternals(node);
    const use = state.inputUses[index];
    const value = state.inputs[index];
    if (use && value) unlinkUse(value, use);
    state.inputs[index] = null;
    state.inputUses[index] = null;
  }

  #attach(node: Node, before: Node | null): void {
    const state = nodeInternals(node);
    const previous = before ? nodeInternals(before).previous : this.#last;
    state.previous = previous;
    state.next = before;
    state.attached = true;
    if (previous) nodeInternals(previous).next = node;
    else this.#first = node;
    if (before) nodeInternals(before).previous = node;
    else this.#last = node;
    this.#size++;
  }

  #detach(node: Node): void {
    const { previous, next } = nodeInternals(node);
    if (previous) nodeInternals(previous).next = next;
    else this.#first = next;
    if (next) nodeInternals(next).previous = previous;
    else this.#last = previous;
    nodeInternals(node).attached = false;
    this.#size--;
  }
}

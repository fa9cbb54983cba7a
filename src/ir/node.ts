import { type Attribute, graphsOf } from "./attribute.js";
import type { Graph } from "./graph.js";
import { namesIn, type Origins } from "./provenance.js";
import type { WireExtras } from "./tensor.js";
import type { Use, Value } from "./value.js";

/** Hands the parts of a node that only Graph may change to Graph; not re-exported by index.ts. */
export let nodeInternals: (node: Node) => NodeInternals;

export interface NodeInternals {
  inputs: (Value | null)[];
  inputUses: (Use | null)[];
  outputs: (Value | null)[];
  attributes: Map<string, Attribute>;
  previous: Node | null;
  next: Node | null;
  attached: boolean;
}

const noBodies: readonly Graph[] = [];

/**
 * One operator call. Edited through its graph only. Absent optional inputs and
 * outputs are null. `domain` is "" for ai.onnx, whichever way the file spelled it.
 */
export class Node {
  readonly #state: NodeInternals = {
    inputs: [],
    inputUses: [],
    outputs: [],
    attributes: new Map(),
    previous: null,
    next: null,
    attached: false,
  };
  /** Doc string, metadata, overload, unknown fields: kept for the writer. */
  extras: WireExtras | null = null;
  #origins: Origins = [];

  static {
    nodeInternals = (node) => node.#state;
  }

  constructor(
    readonly graph: Graph,
    readonly op: string,
    readonly domain: string,
    /** As the file has it: may be empty, may occur twice. */
    public name: string,
  ) {}

  /** Names of the nodes of the source model that this one stands for; itself when it is one of them. */
  get provenance(): readonly string[] {
    return namesIn(this.#origins);
  }

  set provenance(names: readonly string[]) {
    this.#origins = names;
  }

  /** From now on it stands for what these nodes stood for, itself among them if it is named. */
  standFor(nodes: readonly Node[]): void {
    this.#origins = nodes.map((node) => node.#origins);
  }

  get inputs(): readonly (Value | null)[] {
    return this.#state.inputs;
  }

  get outputs(): readonly (Value | null)[] {
    return this.#state.outputs;
  }

  get attributes(): ReadonlyMap<string, Attribute> {
    return this.#state.attributes;
  }

  /** The next node of the graph, in execution order. */
  get next(): Node | null {
    return this.#state.next;
  }

  get previous(): Node | null {
    return this.#state.previous;
  }

  /** False once the node has been removed. */
  get attached(): boolean {
    return this.#state.attached;
  }

  /** Whether this is the operator `op` of ai.onnx. */
  is(op: string): boolean {
    return this.op === op && this.domain === "";
  }

  /** The first output, which every operator of ai.onnx has. */
  get output(): Value {
    const first = this.#state.outputs.find((value) => value !== null);
    if (!first) throw new Error(`internal: ${this.op} has no output`);
    return first;
  }

  /** Domain and operator as reports spell it. */
  get opName(): string {
    return this.domain === "" ? this.op : `${this.domain}::${this.op}`;
  }

  /** The node's name, or a stable stand-in when it has none: its operator and first output. */
  get displayName(): string {
    return this.name || `${this.op}:${this.outputs.find((value) => value)?.label ?? "?"}`;
  }

  /** A float attribute, or the default when it is absent. */
  float<T extends number | null>(name: string, absent: T): number | T {
    const attribute = this.attributes.get(name);
    return attribute?.type === "float" ? attribute.value : absent;
  }

  /** An integer attribute as a number; values beyond 2^53 (sentinels such as INT64_MAX) lose their last bits. */
  int<T extends number | null>(name: string, absent: T): number | T {
    const attribute = this.attributes.get(name);
    return attribute?.type === "int" ? Number(attribute.value) : absent;
  }

  ints(name: string): number[] | null {
    const attribute = this.attributes.get(name);
    return attribute?.type === "ints" ? attribute.value.map(Number) : null;
  }

  string<T extends string | null>(name: string, absent: T): string | T {
    const attribute = this.attributes.get(name);
    return attribute?.type === "string" ? new TextDecoder().decode(attribute.value) : absent;
  }

  /** Nested bodies (If, Loop, Scan, ...), in attribute order. */
  get bodies(): readonly Graph[] {
    let bodies: Graph[] | null = null;
    // Asked of every node on every walk: nearly none has any.
    for (const attribute of this.attributes.values()) {
      if (attribute.type === "graph" || attribute.type === "graphs") (bodies ??= []).push(...graphsOf(attribute));
    }
    return bodies ?? noBodies;
  }
}

import type { DType } from "./dtype.js";
import type { Graph, OutputPort } from "./graph.js";
import type { Node } from "./node.js";
import type { Shape } from "./shape.js";
import type { Tensor, WireExtras } from "./tensor.js";

export interface TensorType {
  readonly dtype: DType | null;
  readonly shape: Shape | null;
}

/** Someone who reads a value. A graph output is a reader like any other. */
export type Use =
  | { readonly kind: "input"; readonly node: Node; readonly index: number }
  | { readonly kind: "output"; readonly graph: Graph; readonly port: OutputPort };

/** Hands the use list to the files of this room that keep it; not re-exported by index.ts. */
export let linkUse: (value: Value, use: Use) => void;
export let unlinkUse: (value: Value, use: Use) => void;

export interface ValueOrigin {
  readonly producer?: { readonly node: Node; readonly index: number };
  readonly constant?: Tensor;
  /** Graph inputs of IR version 4 and later may have a default that callers can override: not a constant. */
  readonly defaultTensor?: Tensor;
  /** The same as a sparse initializer, carried through as it came. */
  readonly defaultSparse?: WireExtras;
  readonly sparse?: WireExtras;
}

/**
 * Something that flows along an edge: a graph input, a constant, or an output of a
 * node. The object is its identity; the label is for people and may occur twice.
 */
export class Value {
  readonly #uses = new Set<Use>();
  /** The wire's description (doc string, metadata, denotations), kept for the writer. */
  info: WireExtras | null = null;

  static {
    linkUse = (value, use) => void value.#uses.add(use);
    unlinkUse = (value, use) => void value.#uses.delete(use);
  }

  constructor(
    readonly graph: Graph,
    public label: string,
    /** null: unknown, or no tensor at all. */
    public type: TensorType | null,
    readonly origin: ValueOrigin,
  ) {}

  get producer(): Node | null {
    return this.origin.producer?.node ?? null;
  }

  /** The tensor that this value always is, or null. */
  get constant(): Tensor | null {
    return this.origin.constant ?? null;
  }

  get isGraphInput(): boolean {
    return !this.origin.producer && !this.origin.constant && !this.origin.sparse;
  }

  /** Whether it is something where a caller gives nothing. */
  get hasDefault(): boolean {
    return this.origin.defaultTensor !== undefined || this.origin.defaultSparse !== undefined;
  }

  /** Of its own graph or body; others may read it as well. */
  get isGraphOutput(): boolean {
    for (const use of this.#uses) if (use.kind === "output") return true;
    return false;
  }

  get dtype(): DType | null {
    return this.origin.constant?.dtype ?? this.type?.dtype ?? null;
  }

  get shape(): Shape | null {
    return this.origin.constant?.dims ?? this.type?.shape ?? null;
  }

  /** Readers in the order in which they came; a copy, so the graph may be edited while iterating. */
  get uses(): readonly Use[] {
    return [...this.#uses];
  }

  get useCount(): number {
    return this.#uses.size;
  }
}

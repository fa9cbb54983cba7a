/** Which float32 values of a model become narrower, decided before anything is changed. */
import { type DType, type Graph, type Model, type Node, opsetOf, type Use, type Value } from "../../ir/index.js";
import { bodyBinding, dtypesOf } from "../../ops/dtypes.js";
import { familyOf } from "../../ops/facts.js";
import { type NarrowablePlaces, narrowablePlaces } from "./float16-types.js";
import { executionOrder, Float32Keeper } from "./keep-float32.js";
import type { HalfType } from "./narrow-tensor.js";
import { unequalProductOf } from "./unequal-product.js";

export interface NarrowingOptions {
  readonly target: HalfType;
  /** Inputs and outputs of the model stay float32. */
  readonly keepIo: boolean;
  /** Why a node must stay float32, by the caller's word; null where nothing speaks for it. */
  readonly keep?: (node: Node) => string | null;
}

/** A node that computes in float32 in the result, and why. */
export interface Float32Node {
  readonly node: string;
  readonly op: string;
  readonly reason: string;
}

/** What a reader of a float32 value takes in the result; Cast and Shape take either. */
export type Wanted = "narrow" | "wide" | "either";

export class NarrowingPlan {
  readonly dtypes: ReadonlyMap<Value, DType>;
  readonly keeper: Float32Keeper;
  readonly float: Float32Node[] = [];
  readonly #places = new Map<Node, NarrowablePlaces>();

  constructor(
    readonly model: Model,
    readonly options: NarrowingOptions,
  ) {
    this.dtypes = dtypesOf(model);
    this.keeper = new Float32Keeper(options.target, this.dtypes);
    const nodes = [...executionOrder(model.graph)];
    for (const node of nodes) this.#decide(node);
    this.#keepFromCrash(nodes);
    this.#leaveMovesBetweenWide(nodes);
    for (const node of nodes) if (node.is("Cast")) this.#decideCast(node);
  }

  /** Whether a value that was float32 is narrow in the result. Constants are whatever their readers want. */
  isNarrow(value: Value): boolean {
    if (this.dtypes.get(value) !== "f32" || value.constant) return false;
    const producer = value.origin.producer;
    if (producer) return this.#places.get(producer.node)?.outputs.has(producer.index) ?? false;
    if (!value.isGraphInput) return false;
    const owner = value.graph.owner;
    return owner ? this.#isNarrowControl(owner) : !this.options.keepIo && !value.hasDefault;
  }

  /** What a reader of a value that was float32 takes. */
  wanted(use: Use): Wanted {
    if (use.kind === "input") {
      if (takesEither(use.node)) return "either";
      return this.#places.get(use.node)?.inputs.has(use.index) ? "narrow" : "wide";
    }
    const owner = use.graph.owner;
    return (owner ? this.#isNarrowControl(owner) : !this.options.keepIo) ? "narrow" : "wide";
  }

  /** Nodes that compute on narrow values in the result. */
  get narrowNodes(): number {
    return [...this.#places.values()].filter(({ inputs, outputs }) => inputs.size + outputs.size > 0).length;
  }

  /** Values go in and out of the bodies of If, Loop and Scan in the types that the node has. */
  #isNarrowControl(node: Node): boolean {
    return bodyBinding(node) !== null && this.#places.has(node);
  }

  #decide(node: Node): void {
    const isF32 = (value: Value | null): boolean => value !== null && this.dtypes.get(value) === "f32";
    const why = this.keeper.reason(node);
    if (takesEither(node) || (!node.inputs.some(isF32) && !node.outputs.some(isF32) && node.bodies.length === 0))
      return;
    const isControl = bodyBinding(node) !== null;
    let reason = isControl ? null : why;
    if (isInForeignBody(node)) reason = "it stands in a body of an operator that is not known";
    reason = this.options.keep?.(node) ?? reason;
    const answer = isControl
      ? { inputs: placesOf(node.inputs, isF32), outputs: placesOf(node.outputs, isF32) }
      : narrowablePlaces(node, opsetOf(this.model), this.options.target, this.dtypes);
    if (reason !== null) this.#keep(node, reason);
    else if ("reason" in answer) this.#keep(node, answer.reason);
    else this.#places.set(node, answer);
  }

  #keep(node: Node, reason: string): void {
    this.float.push({ node: node.displayName, op: node.opName, reason });
  }

  /**
   * What the runtime would die of (see unequal-product.ts). The same on every provider: files travel, and two Casts of the values are
   * all that it takes. No CPU runs a product in bfloat16, with a Cast or without.
   */
  #keepFromCrash(nodes: readonly Node[]): void {
    for (const node of nodes) {
      const product = this.#places.has(node) ? unequalProductOf(node) : null;
      if (!product || (this.options.target !== "f16" && this.#places.has(product))) continue;
      this.#places.delete(node);
      this.#keep(node, "on x86, ONNX Runtime crashes when it opens such a Transpose in half precision before a MatMul");
    }
  }

  /** A Reshape between two nodes in float32 would lose digits and gain nothing. */
  #leaveMovesBetweenWide(nodes: readonly Node[]): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const node of nodes) {
        const places = this.#places.get(node);
        if (!places || places.inputs.size === 0 || familyOf(node) !== "movement") continue;
        const read = [...places.inputs].map((i) => node.inputs[i]!);
        const readers = [...places.outputs].flatMap((i) => node.outputs[i]!.uses);
        if (read.some((value) => this.isNarrow(value)) || readers.some((use) => this.wanted(use) !== "wide")) continue;
        this.#places.delete(node);
        this.#keep(node, "it moves float32 values between nodes that stay in float32");
        changed = true;
      }
    }
  }

  /**
   * A Cast to float32 becomes one to the narrow type when its readers take that. With readers of
   * both kinds it does so only when no digit is lost on the way to those in float32.
   */
  #decideCast(node: Node): void {
    if (this.dtypes.get(node.output) !== "f32" || isInForeignBody(node)) return;
    if (this.options.keep && this.options.keep(node) !== null) return;
    const [input] = node.inputs;
    const wants = node.output.uses.map((use) => this.wanted(use));
    if (!input || !wants.includes("narrow")) return;
    const isExact = this.isNarrow(input) || this.dtypes.get(input) === this.options.target;
    if (isExact || !wants.includes("wide")) this.#places.set(node, { inputs: new Set(), outputs: new Set([0]) });
  }
}

/** Operators to which the type of what they read makes no difference. */
const takesEither = (node: Node): boolean => node.is("Cast") || node.is("Shape") || node.is("Size");

/** Whether some body around the node belongs to an operator whose types are not known. */
function isInForeignBody(node: Node): boolean {
  for (let graph: Graph | null = node.graph; graph?.owner; graph = graph.parent) {
    if (!bodyBinding(graph.owner)) return true;
  }
  return false;
}

const placesOf = (values: readonly (Value | null)[], claim: (value: Value | null) => boolean): Set<number> =>
  new Set(values.map((value, i) => (claim(value) ? i : -1)).filter((i) => i >= 0));

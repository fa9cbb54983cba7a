/**
 * Nodes that float16 would harm, found without running the model: by constants beyond its
 * range, by what flows from them, and by floats that are integers in disguise.
 *
 * Wide values: a constant beyond 65504 (the "minus infinity" of attention masks, mostly) makes
 * the result of its reader wide. Adding, moving, choosing pass that on; a node that bounds its
 * input (Softmax, Sigmoid, Clip, ...) ends it, and still has to read it in float32.
 *
 * Integers: sizes, positions and masks that were cast to float. Float16 counts to 2048, so they
 * are computed with in float32 until they meet data.
 */
import type { DType, Graph, Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { type HalfType, type NarrowingLoss, narrowingLoss } from "./narrow-tensor.js";

const widening = new Set("Abs Add Cast Div Identity LeakyRelu Max Min Mul Neg Relu Sub Sum Where".split(" "));
const bounding = new Set("Clip Erf Exp HardSigmoid Hardmax LogSoftmax Sigmoid Softmax Tanh".split(" "));
const integerTypes: ReadonlySet<DType | undefined> = new Set<DType>(["i64", "i32", "u64", "u32", "bool"]);
/** A MatMul with a constant above this size is a layer, not arithmetic on positions. */
const SMALL_CONSTANT = 4096;

/** Answers, in execution order, why a node should stay in float32; null when nothing speaks for it. */
export class Float32Keeper {
  readonly #wide = new Set<Value>();
  readonly #counts = new Set<Value>();
  readonly #losses = new Map<Value, NarrowingLoss>();

  constructor(
    readonly target: HalfType,
    readonly dtypes: ReadonlyMap<Value, DType>,
  ) {}

  /** What a float32 constant would lose. */
  loss(constant: Value): NarrowingLoss {
    let loss = this.#losses.get(constant);
    if (!loss) {
      loss = narrowingLoss(constant.constant!, this.target);
      this.#losses.set(constant, loss);
    }
    return loss;
  }

  /** Must be asked of every node once, producers before readers. */
  reason(node: Node): string | null {
    const counts = this.#isCounting(node);
    if (counts) for (const output of node.outputs) if (output) this.#counts.add(output);
    return this.#widthReason(node) ?? (counts ? "it computes with integers (sizes, positions, masks)" : null);
  }

  #widthReason(node: Node): string | null {
    const overflowing = node.inputs.find((v) => v?.constant?.dtype === "f32" && this.loss(v).overflows);
    const wide = node.inputs.find((value) => value && this.#wide.has(value));
    const fill = node.attributes.get("value");
    const overfilled =
      node.is("ConstantOfShape") &&
      fill?.type === "tensor" &&
      fill.value.dtype === "f32" &&
      narrowingLoss(fill.value, this.target).overflows;
    const passesOn = widening.has(node.op) || familyOf(node) === "movement";
    if (overflowing || overfilled || (wide && passesOn)) {
      if (!bounding.has(node.op)) for (const output of node.outputs) if (output) this.#wide.add(output);
    }
    if (overflowing) return `its constant ${overflowing.label} goes beyond 65504`;
    if (overfilled) return "its fill value goes beyond 65504";
    return wide && (passesOn || bounding.has(node.op)) ? `${wide.label} may go beyond 65504` : null;
  }

  /** Whether all float32 data that the node reads are integers cast to float, and it is arithmetic on them. */
  #isCounting(node: Node): boolean {
    const first = node.inputs[0];
    if (node.is("Cast")) {
      if (!first || this.dtypes.get(node.output) !== "f32") return false;
      return integerTypes.has(this.dtypes.get(first)) || this.#counts.has(first);
    }
    if (node.domain !== "" || !isArithmetic(node)) return false;
    const floats = node.inputs.filter((value) => value && !value.constant && this.dtypes.get(value) === "f32");
    return floats.length > 0 && floats.every((value) => this.#counts.has(value!));
  }
}

function isArithmetic(node: Node): boolean {
  const family = familyOf(node);
  if (family === "unary" || family === "broadcasting" || family === "movement") return true;
  if (node.op.startsWith("Reduce") || node.is("CumSum")) return true;
  if (!node.is("MatMul") && !node.is("Einsum")) return false;
  return node.inputs.every((value) => !value?.constant || value.constant.elementCount <= SMALL_CONSTANT);
}

/** Every node of a graph and of the control flow in it, producers before readers, bodies before the node that owns them. */
export function* executionOrder(graph: Graph): Generator<Node> {
  for (const node of graph.nodes()) {
    for (const body of node.bodies) yield* executionOrder(body);
    yield node;
  }
}

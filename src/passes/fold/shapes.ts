/**
 * Shape arithmetic whose result is the same in every run becomes a constant:
 *
 *   Gather(Shape(x: [N,3,8,8]), 1)               =>  3
 *   Reshape(x, Concat(Gather(Shape(x), 0), 192)) =>  Reshape(x, [0, 192])
 *   Slice(x, 1, Gather(Shape(x), 0))             =>  Slice(x, 1, to the end)
 *
 * Only known sizes are used: a dimension with a name keeps it, copied by 0 or left to
 * the one -1 that Reshape allows.
 */
import { graphsWithin, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineGraphPass, type GraphPassContext, removeWithFeeders } from "../../rewrite/index.js";
import { replaceByConstant } from "./constants.js";
import { type Element, type ShapeVector, shapeOps } from "./shape-vector.js";
import { areSame, symbolOf } from "./size.js";
import { sizeFacts } from "./size-facts.js";
import type { SizeFacts } from "./size-rules.js";

export const foldShapes = defineGraphPass({
  name: "fold-shapes",
  summary: "Compute shapes that are the same in every run",
  numerics: "exact",
  revealsTypes: "for the next round", // a Reshape to a shape that is constant now
  run(context) {
    const facts = sizeFacts();
    const ops = new Set([...shapeOps, "Reshape", "Slice"]);
    for (const graph of graphsWithin(context.model.graph)) {
      // Last first: the ends of a chain become constants and the rest of it goes with them.
      for (const node of graph.nodes()) for (const output of node.outputs) refineType(output, facts);
      const nodes = [...graph.nodes()].filter((node) => node.domain === "" && ops.has(node.op)).reverse();
      for (const node of nodes) if (node.attached) foldNode(node, facts, context);
    }
  },
});

function foldNode(node: Node, facts: SizeFacts, { claim }: GraphPassContext): void {
  for (const [index, numbers] of boundsOf(node, facts)) {
    const old = node.inputs[index]!;
    if (!claim(node.displayName)) return;
    const dims = [numbers.length];
    const tensor =
      old.dtype === "i32" ? Tensor.ofArray("i32", dims, Int32Array.from(numbers)) : Tensor.i64(dims, numbers);
    node.graph.setInput(node, index, node.graph.addConstant(old.label, tensor));
    if (node.op === "Reshape" && numbers.includes(0)) node.graph.removeAttribute(node, "allowzero");
    if (old.useCount === 0 && old.producer) removeWithFeeders(old.producer);
  }
  const known = facts.vectorOf(node.output);
  if (!known || node.output.useCount === 0 || node.outputs.length !== 1) return;
  if (!known.elements.every((element) => typeof element === "number")) return;
  if (claim(node.displayName)) replaceByConstant(node.output, tensorOf(known, known.elements as number[]));
}

/** Inputs that say something about a shape and can be constants, with what they then say. */
function boundsOf(node: Node, facts: SizeFacts): (readonly [number, readonly number[]])[] {
  if (node.op === "Reshape") {
    const shape = reshapeTarget(node, facts);
    return shape ? [[1, shape]] : [];
  }
  if (node.op !== "Slice") return [];
  return [1, 2].flatMap((index) => {
    const bounds = sliceBounds(node, index, facts);
    return bounds ? [[index, bounds] as const] : [];
  });
}

/** A bound that is the size of its axis is "to the end". */
function sliceBounds(node: Node, index: number, { shapeOf, vectorOf }: SizeFacts): number[] | null {
  const input = node.inputs[index];
  if (!input || input.constant) return null;
  const [elements, shape] = [vectorOf(input)?.elements, shapeOf(node.inputs[0])];
  const axes = node.inputs[3] ? vectorOf(node.inputs[3])?.elements : elements?.map((_, axis) => axis);
  const steps = node.inputs[4] ? vectorOf(node.inputs[4])?.elements : elements?.map(() => 1);
  if (!elements || !shape || !axes || !steps) return null;
  const bounds = elements.map((element, i) => {
    if (typeof element === "number") return element;
    const [axis, step] = [axes[i], steps[i]];
    const isEnd = typeof axis === "number" && typeof step === "number" && step > 0 && areSame(element, shape.at(axis));
    return isEnd ? 2 ** 31 - 1 : null;
  });
  return bounds.every((bound) => bound !== null) ? bounds : null;
}

/** Sizes that follow from others are written where the runtime did not see them; ports keep what the model declares. */
function refineType(value: Value | null, { shapeOf }: SizeFacts): void {
  const sizes = shapeOf(value);
  if (!value || !sizes || value.constant || value.isGraphOutput) return;
  if (value.shape?.every((dim) => dim !== null)) return;
  const shape = sizes.map((size, axis) => value.shape?.[axis] ?? (typeof size === "number" ? size : symbolOf(size)));
  value.type = { dtype: value.dtype, shape };
}

function tensorOf({ rank, dtype }: ShapeVector, values: readonly number[]): Tensor {
  const dims = rank === 0 ? [] : [values.length];
  if (dtype === "i64") return Tensor.i64(dims, values);
  return Tensor.ofArray(dtype, dims, dtype === "bool" ? Uint8Array.from(values) : Int32Array.from(values));
}

/** The constant shape that does what a computed one does; null when there is none. */
function reshapeTarget(node: Node, facts: SizeFacts): number[] | null {
  const [data, shapeInput] = node.inputs;
  if (!data || !shapeInput || shapeInput.constant) return null;
  const shape = facts.vectorOf(shapeInput);
  if (shape?.rank !== 1 || shape.dtype !== "i64") return null;
  const { elements } = shape;
  // A zero that means no elements cannot stand beside one that copies.
  if (node.int("allowzero", 0) !== 0 && elements.includes(0)) return null;
  const unknown = elements.filter((element) => typeof element !== "number").length;
  if (unknown === 0) return elements as number[];
  const hasInferred = elements.includes(-1);
  // One size that depends on the others can always be left to Reshape, unless a 0 makes it ambiguous.
  if (unknown === 1 && !hasInferred && !elements.includes(0) && !elements.some((e, i) => copies(e, data, i, facts))) {
    return elements.map((element) => (typeof element === "number" ? element : -1));
  }
  let inferred = hasInferred ? 1 : 0;
  const target = elements.map((element, i) => {
    if (typeof element === "number") return element;
    if (copies(element, data, i, facts)) return 0;
    inferred++;
    return -1;
  });
  return inferred <= 1 && !(inferred > (hasInferred ? 1 : 0) && elements.includes(0)) ? target : null;
}

/** Whether element i is the size of axis i of the tensor that is reshaped: then a 0 copies it. */
const copies = (element: Element, data: Value, i: number, { shapeOf }: SizeFacts): boolean =>
  typeof element !== "number" && areSame(element, shapeOf(data)?.[i]);

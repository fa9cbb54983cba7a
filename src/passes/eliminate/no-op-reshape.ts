/**
 * Nodes that only rename axes: Reshape, Flatten, Squeeze, Unsqueeze.
 *
 *   chain(x) with the shape of x     =>  x
 *   Reshape(chain(x), shape)         =>  Reshape(x, shape)
 *
 * None of them moves an element, so a chain is told by its last shape alone; where a 0 in
 * that shape copies a dimension of the tensor in between, its size must be known.
 */
import { type Node, type Shape, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, isKnown, isSameDim, soleProducer } from "../../rewrite/match.js";

const RENAMERS = ["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

export const eliminateNoOpReshape = defineRewrite({
  name: "eliminate-no-op-reshape",
  summary:
    "Remove Reshape, Flatten, Squeeze and Unsqueeze nodes that leave the shape as it was, and shorten chains of them",
  numerics: "exact",
  roots: RENAMERS,
  rewrite(root, { create, constant }) {
    let source = root.inputs[0];
    if (!source) return null;
    if (copiesInput(root)) return source;
    for (let at: Node | null = root; at; at = renamerOf(at.inputs[0])) {
      source = at.inputs[0]!;
      if (isSameByCount(source.shape, root.output.shape)) return source;
    }
    if (root.op !== "Reshape") return null;
    const shape = constantIntegers(root.inputs[1]);
    const inner = RENAMERS.map((op) => soleProducer(root.inputs[0], op)).find((node) => node !== null);
    const inside = inner?.inputs[0];
    if (!shape || !inside) return null;
    if (!shape.includes(0)) return create("Reshape", [inside, root.inputs[1]!], root.attributes);
    const settled = settledShape(root.output.shape);
    return (
      settled &&
      create("Reshape", [inside, constant(`${root.output.label}/shape`, Tensor.i64([settled.length], settled))])
    );
  },
});

/** Sizes that say the same whatever is reshaped: all known, but for one that the count of elements gives. */
function settledShape(shape: Shape | null): number[] | null {
  if (!shape || shape.filter((dim) => !isKnown(dim)).length > 1 || shape.includes(0)) return null;
  return shape.map((dim) => (isKnown(dim) ? dim : -1));
}

function renamerOf(value: Value | null | undefined): Node | null {
  const node = value?.producer;
  return node && node.graph === value.graph && node.domain === "" && RENAMERS.includes(node.op) ? node : null;
}

/** Whether a Reshape's own shape input says "as it was": 0, the known size, and at most one -1. */
function copiesInput(node: Node): boolean {
  const shape = node.op === "Reshape" ? constantIntegers(node.inputs[1]) : null;
  const input = node.inputs[0]?.shape;
  if (!shape || !input || shape.length !== input.length || node.int("allowzero", 0) !== 0) return false;
  let inferred = 0;
  for (const [axis, size] of shape.entries()) {
    const dim = input[axis]!;
    if (size === -1) inferred++;
    else if (size !== 0 && size !== dim) return false;
  }
  // With an empty tensor -1 may stand for another size than it had.
  return inferred === 0 || (inferred === 1 && input.every((dim) => dim !== 0));
}

/**
 * Same shape, given that both have the same number of elements: then one dimension in
 * one place may be unknown on both sides.
 */
function isSameByCount(a: Shape | null, b: Shape | null): boolean {
  if (!a || !b || a.length !== b.length) return false;
  const doubtful = a.flatMap((dim, axis) => (isSameDim(dim, b[axis]) ? [] : [axis]));
  if (doubtful.length === 0) return true;
  if (doubtful.length > 1) return false;
  return a.every((dim, axis) => axis === doubtful[0] || (isKnown(dim) && dim > 0));
}

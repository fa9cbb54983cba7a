/**
 * What a branch may take for granted because it is taken:
 *
 *   If<then = ... If(c) ..., else = ...>(c)             inside then, c is true
 *   If<then = ... sr ..., ...>(Equal(sr, 16000))        inside then, sr is 16000 (integers)
 *
 * through Not, And and Or as far as they leave no doubt. Readers inside the branch get a
 * constant; the condition itself stays.
 */
import { type Graph, graphsWithin, type Node, Tensor, type Use, type Value } from "../../ir/index.js";
import { defineGraphPass } from "../../rewrite/index.js";
import { bodyOf } from "./rank-trace.js";

export const foldKnownCondition = defineGraphPass({
  name: "fold-known-condition",
  summary: "Read a constant inside a branch for what its condition already says",
  numerics: "exact",
  run({ model, claim }) {
    for (const graph of graphsWithin(model.graph)) {
      for (const node of graph.nodes()) {
        const condition = node.is("If") ? node.inputs[0] : null;
        if (!condition || condition.constant) continue;
        for (const [name, holds] of [
          ["then_branch", true],
          ["else_branch", false],
        ] as const) {
          const branch = bodyOf(node, name);
          if (!branch) continue;
          for (const [value, tensor] of factsOf(condition, holds)) {
            const uses = value.uses.filter((use) => isInside(use, branch) && mayRead(use, value));
            if (uses.length === 0) continue;
            if (!claim(node.displayName)) continue;
            const known = branch.addConstant(value.label, tensor);
            for (const use of uses) if (use.kind === "input") use.node.graph.setInput(use.node, use.index, known);
          }
        }
      }
    }
  },
});

/** Values that have one content whenever `condition` is what is said, with that content. */
function factsOf(condition: Value, holds: boolean): Map<Value, Tensor> {
  const facts = new Map<Value, Tensor>();
  const state = (value: Value | null | undefined, is: boolean): void => {
    if (!value || value.constant || facts.has(value)) return;
    facts.set(value, Tensor.ofArray("bool", onesLike(value) ?? [], Uint8Array.of(is ? 1 : 0)));
    const node = value.producer;
    if (!node || node.outputs[0] !== value) return;
    if (node.is("Not")) state(node.inputs[0], !is);
    // One element of the result leaves no room for more in the operands.
    if ((node.is("And") && is) || (node.is("Or") && !is)) for (const input of node.inputs) state(input, is);
    if (node.is("Equal") && is) noteEqual(node, facts);
  };
  state(condition, holds);
  return facts;
}

function noteEqual(node: Node, facts: Map<Value, Tensor>): void {
  for (const [value, other] of [node.inputs, [...node.inputs].reverse()]) {
    const constant = other?.constant;
    if (!value || value.constant || facts.has(value) || constant?.elementCount !== 1) continue;
    const dims = onesLike(value);
    // Floats that are equal need not be the same: 0 and -0.
    if (dims && constant.bigints() !== null) facts.set(value, constant.withDims(dims));
  }
}

/** The dimensions of a value that surely has one element; null when they are not known. */
function onesLike({ shape }: Value): number[] | null {
  return shape?.every((dim) => dim === 1) ? shape.map(() => 1) : null;
}

/** A condition of unknown rank can be given to another If as a scalar, and to nobody else. */
function mayRead(use: Use, value: Value): boolean {
  if (use.kind !== "input") return false;
  return onesLike(value) !== null || (use.node.is("If") && use.index === 0);
}

function isInside(use: Use, branch: Graph): boolean {
  let graph: Graph | null = use.kind === "input" ? use.node.graph : use.graph;
  while (graph && graph !== branch) graph = graph.parent;
  return graph === branch;
}

/**
 * A branch that is always the one taken moves to the graph around it:
 *
 *   y = If<then_branch=() -> (a) { a = Relu(x) }, else_branch=...>(true)   =>   y = Relu(x)
 *
 * So does one of two branches that do the same, and then the condition does not matter.
 */
import { type Graph, graphsWithin, type Node, type Value } from "../../ir/index.js";
import { defineGraphPass, spliceBody } from "../../rewrite/index.js";
import { constantScalar } from "../../rewrite/match.js";
import { doTheSame } from "./equal-bodies.js";
import { bodyOf } from "./rank-trace.js";
import { replaceOutputs } from "./replace-outputs.js";

export const inlineIf = defineGraphPass({
  name: "inline-if",
  summary: "Put the branch that is always taken in the place of its If, and one of two equal branches",
  numerics: "exact",
  revealsTypes: "for the next round",
  run({ model, claim }) {
    // Inner ones first: a branch that moves is then as small as it gets.
    for (const graph of [...graphsWithin(model.graph)].reverse()) {
      for (const node of graph.nodes()) {
        const branch = node.is("If") ? branchTaken(node) : null;
        if (!branch) continue;
        if (!claim(node.displayName)) continue;
        replaceOutputs(node, spliceBody(branch, node));
      }
    }
  },
});

/** The branch that gives the outputs of an If in every run; null when that depends, or the node is malformed. */
function branchTaken(node: Node): Graph | null {
  const [then, otherwise] = [bodyOf(node, "then_branch"), bodyOf(node, "else_branch")];
  if (!then || !otherwise) return null;
  const condition = conditionOf(node.inputs[0]);
  const branch = condition === null ? (doTheSame(then, otherwise) ? then : null) : condition ? then : otherwise;
  return branch && branch.inputs.length === 0 && branch.outputs.length === node.outputs.length ? branch : null;
}

function conditionOf(value: Value | null | undefined): boolean | null {
  if (value?.constant?.dtype !== "bool") return null;
  const scalar = constantScalar(value);
  return scalar === null ? null : scalar !== 0;
}

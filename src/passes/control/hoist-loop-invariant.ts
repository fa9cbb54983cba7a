/**
 * Nodes of a Loop or Scan body that give the same in every iteration move in front of it:
 *
 *   Loop<body=(i, k, s) -> (k, t) { w = Transpose(x)  t = MatMul(s, w) }>(...)
 *     =>   w = Transpose(x);  Loop<body=(i, k, s) -> (k, t) { t = MatMul(s, w) }>(...)
 *
 * A node that can fail moves only when the Loop surely runs: one that stands behind a
 * check must not run without it. Nothing leaves an If, whose branch may not be taken.
 */
import { type Graph, graphsWithin, type Node, type Value } from "../../ir/index.js";
import { familyOf, isPure } from "../../ops/facts.js";
import { defineGraphPass } from "../../rewrite/index.js";
import { constantIntegers } from "../../rewrite/match.js";
import { moveOut } from "./move-out.js";

export const hoistLoopInvariant = defineGraphPass({
  name: "hoist-loop-invariant",
  summary: "Compute in front of a loop what is the same in every iteration",
  numerics: "exact",
  run({ model, claim }) {
    // Inner loops first: what leaves one may leave the next.
    for (const graph of [...graphsWithin(model.graph)].reverse()) {
      for (const loop of graph.nodes()) {
        const body = loop.is("Loop") || loop.is("Scan") ? loop.bodies[0] : null;
        if (!body) continue;
        const runs = surelyRuns(loop);
        for (const node of body.nodes()) {
          if (!isInvariant(node, body) || !(runs || cannotFail(node))) continue;
          if (!claim(node.displayName)) continue;
          moveOut(node, loop);
        }
      }
    }
  },
});

/** Whether the first iteration takes place in every run. */
function surelyRuns(loop: Node): boolean {
  if (!loop.is("Loop")) return false;
  const [limit, condition] = loop.inputs;
  const isLong = !limit || (constantIntegers(limit)?.[0] ?? 0) >= 1;
  const starts = !condition || (condition.constant?.dtype === "bool" && condition.constant.bytes()[0] === 1);
  return isLong && starts;
}

function isInvariant(node: Node, body: Graph): boolean {
  if (!isPure(node) || node.op === "Constant" || node.bodies.length > 0) return false;
  // A constant of the body alone would fold; an outer value behind an output would need an Identity in its place.
  const isOuter = (value: Value | null): boolean => value !== null && value.graph !== body;
  if (!node.inputs.some(isOuter)) return false;
  if (!node.inputs.every((value) => value === null || isOuter(value) || value.constant !== null)) return false;
  return node.outputs.every((output) => !output?.isGraphOutput);
}

/** Elementwise operators of one input, and those that only ask for or turn a shape. */
const cannotFail = (node: Node): boolean =>
  familyOf(node) === "unary" || node.is("Shape") || node.is("Size") || node.is("Transpose");

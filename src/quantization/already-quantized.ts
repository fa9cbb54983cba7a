/** Whether a model came with integers, and what they left. */
import { functionCalled, type Model, nodesWithin, operatorsOf } from "../ir/index.js";
import { quantizedFormOf, widensWeights } from "../ops/quantizing.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { planStatic } from "./plan-static.js";

/** Says so when the model already computes with integers: quantizing it again would only lose accuracy. */
export function alreadyQuantized(model: Model): string | null {
  const looked = new Set<string>();
  for (const node of nodesWithin(model.graph)) {
    if (quantizedFormOf(node.opName) || widensWeights(node))
      return `the model is quantized already (${node.opName} at ${node.displayName})`;
    const called = functionCalled(model, node);
    if (!called || looked.has(called.title)) continue;
    looked.add(called.title);
    const within = [...operatorsOf(model, called)].find((operator) => quantizedFormOf(operator));
    if (within) return `the model is quantized already (${within} in ${called.title}, called at ${node.displayName})`;
  }
  return null;
}

/** What of a quantized model could be quantized besides. */
export function floatRest(model: Model, target: IntegerTarget): string {
  const { nodes } = planStatic(model, target, { neighbours: false, depthwise: true });
  const left = nodes.length === 1 ? "a node with weights is" : `${nodes.length} nodes with weights are`;
  return nodes.length === 0 ? "" : `; ${left} float: name those that are to be integers too with --include`;
}

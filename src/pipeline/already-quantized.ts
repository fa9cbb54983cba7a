/** Whether a model came with integers. */
import { type Model, nodesWithin } from "../ir/index.js";
import { quantizedFormOf, widensWeights } from "../ops/quantizing.js";

/** Says so when the model already computes with integers: quantizing it again would only lose accuracy. */
export function alreadyQuantized(model: Model): string | null {
  for (const node of nodesWithin(model.graph)) {
    if (quantizedFormOf(node.opName) || widensWeights(node))
      return `the model is quantized already (${node.opName} at ${node.displayName})`;
  }
  return null;
}

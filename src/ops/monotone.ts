/** Activations of which a larger element never gives a smaller one: the largest of some is the largest still. */
import type { Node } from "../ir/index.js";

/** @param axes the last so many, along which slopes must be the same everywhere */
export function neverFalls(node: Node, axes: number): boolean {
  if (node.domain !== "") return false;
  switch (node.op) {
    case "Relu":
    case "Clip": // its bounds are single numbers
    case "Sigmoid":
    case "Tanh":
    case "Softplus":
      return true;
    case "LeakyRelu":
      return node.float("alpha", 0.01) >= 0;
    case "Elu":
      return node.float("alpha", 1) >= 0;
    case "Celu":
      return node.float("alpha", 1) > 0;
    case "Selu":
      return node.float("alpha", 1.67) >= 0 && node.float("gamma", 1.05) >= 0;
    case "ThresholdedRelu":
      return node.float("alpha", 1) >= 0;
    case "HardSigmoid":
      return node.float("alpha", 0.2) >= 0;
    case "PRelu": {
      const slope = node.inputs[1]?.constant;
      const isFlat = slope?.dims.slice(-axes).every((dim) => dim === 1);
      return (isFlat && slope?.toF32()?.every((each) => each >= 0)) ?? false;
    }
    default:
      return false;
  }
}

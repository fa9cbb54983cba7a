/** Activations of which a larger element never gives a smaller one: the largest of some is the largest still. */
import type { Node } from "../ir/index.js";

/** @param axes the last so many, along which bounds and slopes must be the same everywhere */
export function neverFalls(node: Node, axes: number): boolean {
  if (node.domain !== "") return false;
  switch (node.op) {
    case "Relu":
    case "Sigmoid":
    case "Tanh":
    case "Softplus":
    case "Softsign":
      return true;
    case "Clip":
      return node.inputs.slice(1).every((bound) => !bound || bound.constant);
    case "LeakyRelu":
      return node.float("alpha", 0.01) >= 0;
    case "Elu":
      return node.float("alpha", 1) >= 0;
    case "HardSigmoid":
      return node.float("alpha", 0.2) >= 0;
    case "PRelu": {
      const slope = node.inputs[1]?.constant;
      const isFlat = slope?.dtype === "f32" && slope.dims.slice(-axes).every((dim) => dim === 1);
      return isFlat && slope.f32().every((each) => each >= 0);
    }
    default:
      return false;
  }
}

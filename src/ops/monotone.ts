/** Activations of which a larger element never gives a smaller one: the largest of some is the largest still. */
import { type Node, soleReader } from "../ir/index.js";

/**
 * What stands in front of a MaxPool or GlobalMaxPool and may stand behind it with the same result: nobody else reads it, the pool
 * gives nothing but the largest elements, and has some in each window.
 */
export function exchangeableActivation(pool: Node): Node | null {
  if (!(pool.is("MaxPool") || pool.is("GlobalMaxPool")) || mayMissAllData(pool)) return null;
  if (pool.outputs.slice(1).some((places) => places && places.useCount > 0)) return null;
  const value = pool.inputs[0];
  const activation = value?.producer;
  const axes = pool.is("MaxPool") ? pool.ints("kernel_shape")?.length : value?.shape && value.shape.length - 2;
  if (!activation || soleReader(value) !== pool) return null;
  return neverFalls(activation, axes ?? Number.POSITIVE_INFINITY) ? activation : null;
}

/** With gaps between its elements a window may lie in the padding alone, and gives the least number there is. */
function mayMissAllData(pool: Node): boolean {
  const hasGaps = pool.ints("dilations")?.some((dilation) => dilation > 1) ?? false;
  const isPadded =
    (pool.ints("pads")?.some((pad) => pad !== 0) ?? false) ||
    pool.string("auto_pad", "NOTSET").startsWith("SAME") ||
    pool.int("ceil_mode", 0) !== 0;
  return hasGaps && isPadded;
}

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

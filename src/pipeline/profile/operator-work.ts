/**
 * Arithmetic and memory traffic of one node whose shapes are known, to hold beside the time that it took.
 *
 * FLOPs are counted as the field does: a multiply-accumulate is two; an operation on each element is one,
 * whatever it is; Softmax counts 5 and normalizations 8 for each element; what only moves data counts none.
 * Bytes are those of all operands and results, each once: what must move if nothing lies in a cache yet.
 * A Gather reads the rows that it takes, and a view of the same bytes moves none.
 */
import { ownEntry } from "../../base/own-entry.js";
import { elementCount, isStatic, type Node, packedBytes, type Value } from "../../ir/index.js";
import { isProduct, macsOf } from "../../ops/macs.js";

export interface Work {
  /** null where a shape that it depends on is unknown. */
  readonly flops: number | null;
  readonly bytes: number | null;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const views = words("Reshape Squeeze Unsqueeze Flatten Identity Shape Size Dropout Optional");
const moves = words(
  "Transpose Concat Split Slice Gather GatherElements GatherND Scatter ScatterElements ScatterND Pad Expand Tile Cast " +
    "Constant ConstantOfShape DepthToSpace SpaceToDepth Range OneHot NonZero Where Compress ReverseSequence ReorderInput " +
    "ReorderOutput MemcpyFromHost MemcpyToHost",
);
const picks = words("Gather GatherElements GatherND Slice Split");
/** Operations for each element of the result. */
const perElement: Readonly<Record<string, number>> = {
  Softmax: 5,
  LogSoftmax: 6,
  LayerNormalization: 8,
  SimplifiedLayerNormalization: 6,
  SkipLayerNormalization: 9,
  RMSNormalization: 6,
  InstanceNormalization: 8,
  GroupNormalization: 8,
  BatchNormalization: 2,
};

export function workOf(node: Node): Work {
  return { flops: flopsOf(node), bytes: bytesOf(node) };
}

function flopsOf(node: Node): number | null {
  if (views.has(node.op) || moves.has(node.op)) return 0;
  // What its bodies do is counted there.
  if (node.bodies.length > 0) return 0;
  if (isProduct(node)) {
    const macs = macsOf(node);
    return macs === null ? null : 2 * macs;
  }
  const results = elements(node.outputs[0]);
  if (results === null) return null;
  if (/^(Arg|Reduce|Global)/.test(node.op)) return elements(node.inputs[0]);
  if (/Pool$/.test(node.op)) return results * elementCount(node.ints("kernel_shape") ?? []);
  if (node.op === "Sum" || node.op === "Max" || node.op === "Min" || node.op === "Mean") {
    return results * Math.max(1, node.inputs.length - 1);
  }
  return results * (ownEntry(perElement, node.op) ?? 1);
}

function bytesOf(node: Node): number | null {
  if (views.has(node.op) || node.bodies.length > 0) return 0;
  const written = total(node.outputs);
  if (written === null) return null;
  if (picks.has(node.op)) {
    const indices = total(node.inputs.slice(1));
    return indices === null ? null : 2 * written + indices;
  }
  const read = total(node.inputs);
  return read === null ? null : read + written;
}

function total(values: readonly (Value | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (!value) continue;
    const count = elements(value);
    if (count === null || !value.dtype) return null;
    sum += packedBytes(value.dtype, count);
  }
  return sum;
}

function elements(value: Value | null | undefined): number | null {
  const shape = value?.shape ?? null;
  return isStatic(shape) ? elementCount(shape) : null;
}

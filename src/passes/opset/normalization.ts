/** BatchNormalization, GroupNormalization and Dropout. */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { addBefore, type Converter, constantFor } from "./converter.js";

export const batchNormSpatial: Converter = {
  at: 9,
  refuse: (node) => (node.int("spatial", 1) === 1 ? null : "statistics per element (spatial = 0) are not defined"),
  convert: (node) => node.graph.removeAttribute(node, "spatial"),
};

/** Further outputs said that the node trains; now an attribute does, and what it computes is different. */
export const batchNormTrainingMode: Converter = {
  at: 14,
  refuse: (node) =>
    node.outputs.some((value, i) => i > 0 && value) ? "training is defined in another way, and this node trains" : null,
};

const maskIsRead = (node: Node): boolean => (node.outputs[1]?.useCount ?? 0) > 0;
const refuseMask = (node: Node): string | null => (maskIsRead(node) ? "the mask means something else" : null);
const dropMask = (node: Node): void => {
  if (node.outputs[1]) node.graph.dropNodeOutput(node, 1);
};

export const dropoutMaskType: Converter = { at: 10, refuse: refuseMask, convert: dropMask };

/** Without the input `training_mode` the node passes its data on, as it did. */
export const dropoutRatioToInput: Converter = {
  at: 12,
  refuse: refuseMask,
  convert(node) {
    dropMask(node);
    const ratio = node.float("ratio", null);
    node.graph.removeAttribute(node, "ratio");
    // Nobody looked at it where nothing is dropped; the input is checked.
    if (ratio !== null && ratio >= 0 && ratio < 1)
      node.graph.setInput(node, 1, constantFor(node, "ratio", Tensor.f32([], [ratio])));
  },
};

/**
 * Scale and bias had one element a group, now one a channel: each is repeated C / num_groups
 * times. C is a size of the input, taken at run time where it is not known.
 */
export const groupNormPerChannel: Converter = {
  at: 21,
  convert(node) {
    const groups = node.int("num_groups", 1);
    const grid = gridOf(node, groups);
    for (const index of [1, 2]) {
      const column = addBefore(node, {
        op: "Reshape",
        inputs: [node.inputs[index]!, constantFor(node, "column", Tensor.i64([2], [groups, 1]))],
        suffix: "column",
      });
      const repeated = addBefore(node, { op: "Expand", inputs: [column, grid], suffix: "repeated" });
      const flat = constantFor(node, "flat", Tensor.i64([1], [-1]));
      node.graph.setInput(
        node,
        index,
        addBefore(node, { op: "Reshape", inputs: [repeated, flat], suffix: "channels" }),
      );
    }
  },
};

/** The vector [1, C / num_groups], which stretches [num_groups, 1] to one element a channel. */
function gridOf(node: Node, groups: number): Value {
  const input = node.inputs[0]!;
  const channels = input.shape?.[1];
  if (typeof channels === "number") return constantFor(node, "grid", Tensor.i64([2], [1, channels / groups]));
  const size = addBefore(node, {
    op: "Shape",
    inputs: [input],
    attributes: { start: attr.int(1), end: attr.int(2) },
    suffix: "channels",
  });
  const divisor = constantFor(node, "num_groups", Tensor.i64([1], [groups]));
  const perGroup = addBefore(node, { op: "Div", inputs: [size, divisor], suffix: "per_group" });
  const one = constantFor(node, "one", Tensor.i64([1], [1]));
  return addBefore(node, { op: "Concat", inputs: [one, perGroup], attributes: { axis: attr.int(0) }, suffix: "grid" });
}

/**
 * Upsample and Resize.
 *
 * Up to opset 10 there was one way to resize: output index i reads position i / scale
 * (`asymmetric`), and `nearest` rounds that position down where the axis grows and up
 * where it shrinks. Opset 11 made both a choice, of which rounding holds for all axes:
 * a node that grows some axes and shrinks others becomes two. Nearest picks indices
 * axis by axis, so the two together pick the same elements.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { addBefore, type Converter, constantFor, replaceOperator } from "./converter.js";

const modes = new Set(["nearest", "linear"]);
const refuseMode = (node: Node): string | null => {
  const mode = node.string("mode", "nearest");
  return modes.has(mode) ? null : `the mode ${JSON.stringify(mode)} is not defined`;
};

export const upsampleScalesToInput: Converter = {
  at: 9,
  refuse: (node) =>
    node.attributes.get("scales")?.type === "floats" ? refuseMode(node) : "its attribute scales is missing",
  convert(node) {
    const scales = node.attributes.get("scales");
    node.graph.removeAttribute(node, "scales");
    if (scales?.type !== "floats") return;
    node.graph.setInput(node, 1, constantFor(node, "scales", Tensor.f32([scales.value.length], scales.value)));
  },
};

export const upsampleToResize: Converter = {
  at: 10,
  refuse: refuseMode,
  convert(node, { enlarging }) {
    enlarging.add(replaceOperator(node, "Resize", node.inputs, node.attributes));
  },
};

export const resizeCoordinates: Converter = {
  at: 11,
  refuse: refuseMode,
  convert(node, { enlarging }) {
    const graph = node.graph;
    const [, scales] = node.inputs;
    graph.setAttribute(node, "coordinate_transformation_mode", attr.string("asymmetric"));
    if (node.string("mode", "nearest") === "nearest") {
      const shrinking = shrinks(scales ?? null, enlarging.has(node));
      graph.setAttribute(node, "nearest_mode", attr.string(shrinking === "all" ? "ceil" : "floor"));
      if (shrinking === "some" && scales) growFirst(node, scales);
    }
    const last = node.inputs[1] ?? null;
    graph.setInput(node, 1, constantFor(node, "roi", Tensor.f32([0], [])));
    graph.setInput(node, 2, last);
  },
};

/** Which axes shrink, going by the scales: "some" also when they are computed. An axis of scale 1 rounds nothing. */
function shrinks(scales: Value | null, enlarging: boolean): "none" | "some" | "all" {
  if (enlarging) return "none";
  const factors = scales?.constant?.toF32();
  if (!factors) return "some";
  if (factors.every((factor) => factor >= 1)) return "none";
  return factors.every((factor) => factor <= 1) ? "all" : "some";
}

/** Leaves the shrinking axes to `node` and puts a node before it that grows the others. */
function growFirst(node: Node, scales: Value): void {
  const one = constantFor(node, "one", Tensor.f32([1], [1]));
  const factors = scales.constant?.toF32();
  const limited = (op: "Max" | "Min"): Value =>
    factors
      ? constantFor(
          node,
          "scales",
          Tensor.f32(
            [factors.length],
            factors.map((factor) => Math[op === "Max" ? "max" : "min"](factor, 1)),
          ),
        )
      : addBefore(node, { op, inputs: [scales, one], suffix: op === "Max" ? "grow" : "shrink", type: scales.type });
  const grown = addBefore(node, {
    op: "Resize",
    inputs: [node.inputs[0]!, constantFor(node, "roi", Tensor.f32([0], [])), limited("Max")],
    attributes: Object.fromEntries(node.attributes),
    suffix: "grown",
    type: { dtype: node.inputs[0]!.dtype, shape: null },
  });
  node.graph.setInput(node, 0, grown);
  node.graph.setInput(node, 1, limited("Min"));
  node.graph.setAttribute(node, "nearest_mode", attr.string("ceil"));
  if (one.useCount === 0) node.graph.removeConstant(one);
}

/** Inputs that stood empty because they had to be there may be left out from 13 on. */
export const resizeOptionalInputs: Converter = {
  at: 13,
  refuse: (node) =>
    node.string("coordinate_transformation_mode", "half_pixel") === "tf_half_pixel_for_nn"
      ? "the coordinate transformation tf_half_pixel_for_nn is gone"
      : null,
  convert(node) {
    for (const index of [1, 2]) {
      const value = node.inputs[index];
      if (value?.constant?.elementCount !== 0) continue;
      node.graph.setInput(node, index, null);
      if (value.useCount === 0) value.graph.removeConstant(value);
    }
  },
};

/** Operators whose name, mode names or defaults changed, and that are otherwise what they were. */
import { attr, Tensor } from "../../ir/index.js";
import { type Converter, constantFor, replaceOperator } from "./converter.js";

export const scatterToScatterElements: Converter = {
  at: 11,
  convert: (node) => void replaceOperator(node, "ScatterElements", node.inputs, node.attributes),
};

/** The coordinates had no half-pixel shift of the input until 16 made one the default. */
export const roiAlignCoordinates: Converter = {
  at: 16,
  convert: (node) => node.graph.setAttribute(node, "coordinate_transformation_mode", attr.string("output_half_pixel")),
};

const sampleModes: Readonly<Record<string, string>> = { bilinear: "linear", bicubic: "cubic" };

export const gridSampleModes: Converter = {
  at: 20,
  convert(node) {
    const mode = sampleModes[node.string("mode", "bilinear")];
    if (mode) node.graph.setAttribute(node, "mode", attr.string(mode));
  },
};

/** `axis` became an input, and what holds without it went from 1 to -2. */
export const dftAxisToInput: Converter = {
  at: 20,
  convert(node) {
    const axis = node.int("axis", 1);
    node.graph.removeAttribute(node, "axis");
    if (node.inputs.length < 2) node.graph.setInput(node, 1, null);
    node.graph.setInput(node, 2, constantFor(node, "axis", Tensor.scalar("i64", axis)));
  },
};

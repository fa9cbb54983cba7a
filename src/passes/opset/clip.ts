/** Clip: `min` and `max` became inputs of the data's type. Absent bounds mean the ends of the type, before and after. */
import { type Converter, constantFor, floatScalar } from "./converter.js";

const bounds = ["min", "max"] as const;

export const clipToInputs: Converter = {
  at: 11,
  refuse: (node, { dtypeOf }) =>
    bounds.every((name) => !node.attributes.has(name)) || floatScalar(dtypeOf(node.inputs[0]), 0)
      ? null
      : "the bounds become inputs of the data's type, which is not known here",
  convert(node, { dtypeOf }) {
    bounds.forEach((name, i) => {
      const bound = node.float(name, null);
      if (bound === null) return;
      node.graph.removeAttribute(node, name);
      const scalar = floatScalar(dtypeOf(node.inputs[0]), bound);
      if (scalar) node.graph.setInput(node, i + 1, constantFor(node, name, scalar));
    });
  },
};

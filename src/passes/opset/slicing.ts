/** Slice, Split, TopK and Pad: what was an attribute became an input, so that it may be computed. */
import { attr } from "../../ir/index.js";
import {
  type Converter,
  constantFor,
  floatScalar,
  intsToInput,
  replaceOperator,
  setIntsInput,
  takeInts,
} from "./converter.js";

export const sliceToInputs: Converter = {
  at: 10,
  convert(node) {
    intsToInput(node, "starts", 1);
    intsToInput(node, "ends", 2);
    intsToInput(node, "axes", 3);
  },
};

export const topKToInput: Converter = {
  at: 10,
  convert(node) {
    setIntsInput(node, 1, "K", takeInts(node, "k") ?? [1]);
  },
};

export const splitToInput: Converter = {
  at: 13,
  convert: (node) => intsToInput(node, "split", 1, true),
};

/** Equal parts were implied by the number of outputs; now that number is said. */
export const splitNumOutputs: Converter = {
  at: 18,
  convert(node) {
    if (node.inputs[1]) return;
    // ONNX Runtime does not split nothing by number, but by sizes it does.
    if (node.inputs[0]?.shape?.at(node.int("axis", 0)) === 0) {
      setIntsInput(
        node,
        1,
        "split",
        node.outputs.map(() => 0),
      );
      return;
    }
    node.graph.setAttribute(node, "num_outputs", attr.int(node.outputs.length));
    // ONNX Runtime takes an input that is left out by an empty name for one.
    if (node.inputs.length > 1) replaceOperator(node, node.op, node.inputs.slice(0, 1), node.attributes);
  },
};

export const padToInputs: Converter = {
  at: 11,
  refuse: (node, { dtypeOf }) =>
    padValue(node.float("value", 0), node.string("mode", "constant")) === null ||
    floatScalar(dtypeOf(node.inputs[0]), 0)
      ? null
      : "the padding value becomes an input of the data's type, which is not known here",
  convert(node, { dtypeOf }) {
    const value = padValue(node.float("value", 0), node.string("mode", "constant"));
    node.graph.removeAttribute(node, "value");
    setIntsInput(node, 1, "pads", takeInts(node, "pads") ?? []);
    const scalar = value === null ? null : floatScalar(dtypeOf(node.inputs[0]), value);
    if (scalar) node.graph.setInput(node, 2, constantFor(node, "constant_value", scalar));
  },
};

/** Zero is what an absent value means, and the other modes read none. */
const padValue = (value: number, mode: string): number | null => (mode === "constant" && value !== 0 ? value : null);

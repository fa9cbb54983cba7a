/**
 * Tensors that hold the elements of another one, only elsewhere: what is known of one's
 * elements is known of the other's, so no run needs to give out both.
 */
import type { Value } from "../../ir/index.js";

/** They hand on every element of their first input, once. */
const movers = new Set(["Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"]);

/** The value that these elements were first seen in; the value itself where it was computed. */
export function elementsOf(value: Value): Value {
  let source = value;
  for (;;) {
    const { producer } = source;
    const before = producer?.domain === "" && movers.has(producer.op) ? producer.inputs[0] : null;
    if (!before || before.constant || before.graph !== value.graph) return source;
    source = before;
  }
}

/** Hands the readers of a control node to values that stand for its outputs, and takes the node away. */
import type { Node, Value } from "../../ir/index.js";
import { removeWithFeeders } from "../../rewrite/index.js";

/**
 * `results`: one per output of `node`, visible where it stands. Names and types that are
 * public stay; where a public output cannot be another's value, an Identity makes it one.
 */
export function replaceOutputs(node: Node, results: readonly (Value | null)[]): void {
  const { graph } = node;
  for (const [i, output] of node.outputs.entries()) {
    const result = results[i];
    if (!output || !result || output.useCount === 0) continue;
    const isShared = result.isGraphInput || result.constant || result.graph !== graph || result.isGraphOutput;
    const standIn = output.isGraphOutput && isShared ? passOn(node, result) : result;
    if (standIn.producer && standIn.graph === graph) describe(standIn, output);
    graph.replaceUses(output, standIn);
  }
  removeWithFeeders(node);
}

function passOn(node: Node, value: Value): Value {
  const spec = { op: "Identity", inputs: [value], outputs: [{ label: value.label, type: value.type }] };
  const identity = node.graph.addNode({ ...spec, provenance: node.provenance }, node);
  identity.output.info = value.info;
  return identity.output;
}

/** What is known of either. A port's shape is what the model declares; elsewhere the value's own is the narrower one. */
function describe(value: Value, old: Value): void {
  const [first, second] = old.isGraphOutput ? [old.type, value.type] : [value.type, old.type];
  if (old.isGraphOutput) value.label = old.label;
  value.info = old.isGraphOutput ? (old.info ?? value.info) : (value.info ?? old.info);
  value.type =
    first && second ? { dtype: first.dtype ?? second.dtype, shape: first.shape ?? second.shape } : (first ?? second);
}

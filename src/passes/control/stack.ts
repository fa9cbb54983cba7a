/** What loops that are written out have in common. */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";

/** Nodes that all iterations of one loop together may have when it is written out. */
export const MOST_NODES = 16;

export const isRead = (output: Value | null | undefined): boolean => !!output && output.useCount > 0;

/** Values of one shape along a new axis, in front of `node`; from opset 13 on. */
export function stack(node: Node, values: readonly Value[], axis: number): Value {
  const { graph, name, provenance } = node;
  const add = (op: string, inputs: Value[], label: string, attributes = {}): Value =>
    graph.addNode({ op, inputs, attributes, outputs: [{ label }], name, provenance }, node).output;
  const axes = graph.addConstant("axes", Tensor.i64([1], [axis]));
  const rows = values.map((value) => add("Unsqueeze", [value, axes], value.label));
  return rows.length === 1 ? rows[0]! : add("Concat", rows, `${node.displayName}/stack`, { axis: attr.int(axis) });
}

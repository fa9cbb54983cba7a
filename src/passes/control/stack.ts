/** What loops that are written out have in common. */
import { type Attribute, attr, type Graph, type Node, Tensor, type Value } from "../../ir/index.js";

/** Bytes that all iterations of one loop together may take in a file when it is written out: two dozen nodes, or so. */
const MOST_BYTES = 2048;
/** Of a node, without its names; an edge, without its name. */
const NODE_BYTES = 20;
const EDGE_BYTES = 2;

/**
 * Why so many iterations are too many, or null.
 * @param added nodes that each of them needs besides those of the body
 */
export function whyTooLong(body: Graph, times: number, added: number): string | null {
  const bytes = bodyBytes(body) + added * 2 * NODE_BYTES;
  return times > 1 && times * bytes > MOST_BYTES
    ? `${times} iterations of about ${bytes} bytes are too many to write out`
    : null;
}

/** About what the nodes of a body take. Constants of the outermost are there once, however often it is written out. */
function bodyBytes(body: Graph): number {
  let bytes = 0;
  for (const node of body.nodes()) {
    bytes += NODE_BYTES + node.op.length + node.name.length;
    for (const value of [...node.inputs, ...node.outputs]) bytes += EDGE_BYTES + (value?.label.length ?? 0);
    for (const [name, attribute] of node.attributes) bytes += EDGE_BYTES + name.length + attributeBytes(attribute);
    for (const inner of node.bodies) {
      bytes += bodyBytes(inner);
      for (const { constant } of inner.constants) bytes += constant?.byteLength ?? 0;
    }
  }
  return bytes;
}

function attributeBytes({ type, value }: Attribute): number {
  if (type === "tensor" || type === "string") return value.byteLength;
  return Array.isArray(value) ? EDGE_BYTES * value.length : EDGE_BYTES;
}

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

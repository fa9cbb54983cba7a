/** Copies of nodes, bodies included, for models that are made to ask the runtime something. */
import { type Attribute, Graph, type Node, type Value } from "../ir/index.js";

/**
 * Appends a copy of `node` to `graph`. `values` maps originals to copies: it must hold
 * what the node reads from outside, and gets its outputs.
 */
export function copyNode(node: Node, graph: Graph, values: Map<Value, Value>): Node {
  const copy = graph.addNode({
    op: node.op,
    domain: node.domain,
    name: node.name,
    inputs: node.inputs.map((value) => (value ? mapped(value, values) : null)),
    attributes: [...node.attributes].map(([name, attribute]) => [name, copyAttribute(attribute, values)] as const),
    outputs: node.outputs.map((value) => (value ? { label: value.label, type: null } : null)),
    provenance: node.provenance,
  });
  copy.extras = node.extras;
  node.outputs.forEach((value, i) => {
    if (value) values.set(value, copy.outputs[i]!);
  });
  return copy;
}

function mapped(value: Value, values: ReadonlyMap<Value, Value>): Value {
  const copy = values.get(value);
  if (!copy) throw new Error(`internal: ${value.label} was not copied before its reader`);
  return copy;
}

function copyAttribute(attribute: Attribute, values: Map<Value, Value>): Attribute {
  if (attribute.type === "graph") return { ...attribute, value: copyBody(attribute.value, values) };
  if (attribute.type === "graphs") {
    return { ...attribute, value: attribute.value.map((body) => copyBody(body, values)) };
  }
  return attribute;
}

/** A copy of a graph with its inputs, constants and outputs; what it captures is looked up in `values`. */
function copyBody(body: Graph, values: Map<Value, Value>): Graph {
  const copy = new Graph();
  copy.extras = body.extras;
  for (const input of body.inputs) {
    const twin = copy.addInput(input.label, input.type, input.origin.defaultTensor);
    twin.info = input.info;
    values.set(input, twin);
  }
  for (const constant of body.constants) values.set(constant, copyConstant(constant, copy));
  for (const node of body.nodes()) copyNode(node, copy, values);
  for (const { name, value, info } of body.outputs) copy.addOutput(name, mapped(value, values), info);
  return copy;
}

export function copyConstant(constant: Value, graph: Graph): Value {
  const { constant: tensor, sparse } = constant.origin;
  return tensor ? graph.addConstant(constant.label, tensor) : graph.addSparse(constant.label, sparse!);
}

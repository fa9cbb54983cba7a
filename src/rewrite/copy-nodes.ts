/** Copies of nodes, bodies included: for models that are made to ask the runtime something, and for bodies that move. */
import { type Attribute, Graph, type Node, type Value } from "../ir/index.js";

export interface CopyOptions {
  /** Where the copy goes; the end of the graph when absent. */
  readonly before?: Node;
  /** Whether types and descriptions of outputs come along; a probe leaves them to the runtime. */
  readonly keepTypes?: boolean;
  /** What stands in for a body; a copy of it when absent. */
  readonly bodyOf?: (body: Graph) => Graph;
}

/**
 * Adds a copy of `node` to `graph`. `values` maps originals to copies: it must hold
 * what the node reads from outside, and gets its outputs.
 */
export function copyNode(node: Node, graph: Graph, values: Map<Value, Value>, options: CopyOptions = {}): Node {
  const { keepTypes = false, before, bodyOf = (body) => copyGraph(body, values, keepTypes) } = options;
  const copy = graph.addNode(
    {
      op: node.op,
      domain: node.domain,
      name: node.name,
      inputs: node.inputs.map((value) => (value ? mapped(value, values) : null)),
      attributes: [...node.attributes].map(([name, attribute]) => [name, copyAttribute(attribute, bodyOf)] as const),
      outputs: node.outputs.map((value) =>
        value ? { label: value.label, type: keepTypes ? value.type : null } : null,
      ),
      provenance: node.provenance,
    },
    before,
  );
  copy.extras = node.extras;
  node.outputs.forEach((value, i) => {
    if (!value) return;
    values.set(value, copy.outputs[i]!);
    if (keepTypes) copy.outputs[i]!.info = value.info;
  });
  return copy;
}

function mapped(value: Value, values: ReadonlyMap<Value, Value>): Value {
  const copy = values.get(value);
  if (!copy) throw new Error(`internal: ${value.label} was not copied before its reader`);
  return copy;
}

function copyAttribute(attribute: Attribute, bodyOf: (body: Graph) => Graph): Attribute {
  if (attribute.type === "graph") return { ...attribute, value: bodyOf(attribute.value) };
  return attribute.type === "graphs" ? { ...attribute, value: attribute.value.map(bodyOf) } : attribute;
}

/** A copy of a graph with its inputs, constants and outputs; what it captures is looked up in `values`. */
export function copyGraph(body: Graph, values: Map<Value, Value>, keepTypes: boolean): Graph {
  const copy = new Graph();
  copy.extras = body.extras;
  for (const input of body.inputs) {
    const twin = copy.addInput(input.label, input.type, input.origin);
    twin.info = input.info;
    values.set(input, twin);
  }
  for (const constant of body.constants) values.set(constant, copyConstant(constant, copy, keepTypes));
  for (const node of body.nodes()) copyNode(node, copy, values, { keepTypes });
  for (const { name, value, info } of body.outputs) copy.addOutput(name, mapped(value, values), info);
  return copy;
}

export function copyConstant(constant: Value, graph: Graph, keepInfo = false): Value {
  const { constant: tensor, sparse } = constant.origin;
  const copy = tensor ? graph.addConstant(constant.label, tensor) : graph.addSparse(constant.label, sparse!);
  if (keepInfo) copy.info = constant.info;
  return copy;
}

/** A map for copies that stay in the same model: what was not copied is read where it is. */
export class Captures extends Map<Value, Value> {
  override get(value: Value): Value {
    return super.get(value) ?? value;
  }
}

/**
 * Puts a copy of what a body does before `node`, a node of the graph around it, with
 * `inputs` in the places of the body's; `constants` that were copied before are shared. Returns what the body's outputs are there.
 */
export function spliceBody(
  body: Graph,
  node: Node,
  inputs: readonly Value[] = [],
  constants = new Map<Value, Value>(),
): Value[] {
  const values = new Captures();
  body.inputs.forEach((input, i) => void values.set(input, inputs[i]!));
  for (const constant of body.constants) {
    const copy = constants.get(constant) ?? copyConstant(constant, node.graph, true);
    constants.set(constant, copy);
    values.set(constant, copy);
  }
  for (const inner of body.nodes()) copyNode(inner, node.graph, values, { before: node, keepTypes: true });
  return body.outputs.map(({ value }) => values.get(value));
}

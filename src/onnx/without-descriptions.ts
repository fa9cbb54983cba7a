/** A model that says nothing of the values which its nodes make: their types and shapes can be found out from the rest. */
import type { AttributeProto, GraphProto, ModelProto, NodeProto } from "./schema.js";
import { cloneMessage } from "./write-model.js";

export const withoutDescriptions = (message: ModelProto): ModelProto =>
  message.graph ? cloneMessage(message, { graph: bareGraph(message.graph) }) : message;

function bareGraph(graph: GraphProto): GraphProto {
  const nodes = graph.node ?? [];
  const made = new Set(nodes.flatMap(({ output = [] }) => output));
  return cloneMessage(graph, {
    node: nodes.map(bareNode),
    value_info: (graph.value_info ?? []).filter(({ name = "" }) => !made.has(name)),
  });
}

const bareNode = (node: NodeProto): NodeProto =>
  node.attribute?.some(hasBodies) ? cloneMessage(node, { attribute: node.attribute.map(bareAttribute) }) : node;

const hasBodies = ({ g, graphs = [] }: AttributeProto): boolean => Boolean(g) || graphs.length > 0;

const bareAttribute = (attribute: AttributeProto): AttributeProto =>
  hasBodies(attribute)
    ? cloneMessage(attribute, {
        ...(attribute.g && { g: bareGraph(attribute.g) }),
        ...(attribute.graphs && { graphs: attribute.graphs.map(bareGraph) }),
      })
    : attribute;

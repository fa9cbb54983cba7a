/** Walks over the tensors of a message, wherever they stand, in a stable order. */
import type { AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto } from "./schema.js";

/** Where a tensor stands: readers accept external data for dense initializers; elsewhere not all of them do. */
export interface PlacedTensor {
  readonly tensor: TensorProto;
  readonly isInitializer: boolean;
}

export function* tensorsWithin(message: ModelProto): Generator<PlacedTensor> {
  if (message.graph) yield* graphTensors(message.graph);
  for (const fn of message.functions ?? []) {
    for (const attribute of fn.attribute_proto ?? []) yield* attributeTensors(attribute);
    for (const node of fn.node ?? []) yield* nodeTensors(node);
  }
}

function* graphTensors(graph: GraphProto): Generator<PlacedTensor> {
  for (const tensor of graph.initializer ?? []) yield { tensor, isInitializer: true };
  for (const { values, indices } of graph.sparse_initializer ?? []) yield* elsewhere([values, indices]);
  for (const node of graph.node ?? []) yield* nodeTensors(node);
}

function* nodeTensors(node: NodeProto): Generator<PlacedTensor> {
  for (const attribute of node.attribute ?? []) yield* attributeTensors(attribute);
}

function* attributeTensors(attribute: AttributeProto): Generator<PlacedTensor> {
  yield* elsewhere([attribute.t, ...(attribute.tensors ?? [])]);
  for (const sparse of [attribute.sparse_tensor, ...(attribute.sparse_tensors ?? [])]) {
    yield* elsewhere([sparse?.values, sparse?.indices]);
  }
  for (const graph of [attribute.g, ...(attribute.graphs ?? [])]) if (graph) yield* graphTensors(graph);
}

function* elsewhere(tensors: readonly (TensorProto | null | undefined)[]): Generator<PlacedTensor> {
  for (const tensor of tensors) if (tensor) yield { tensor, isInitializer: false };
}

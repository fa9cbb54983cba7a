/** What is carried through unread (functions, sparse and opaque attributes) has only the places of its tensors resolved. */
import type { AttributeProto, NodeProto, SparseTensorProto } from "../../onnx/index.js";
import { settleTensor, type TensorHome } from "./tensor.js";

export function settleNode(node: NodeProto, wire: TensorHome): void {
  for (const attribute of node.attribute ?? []) settleAttribute(attribute, wire);
}

export function settleSparse(sparse: SparseTensorProto | undefined, wire: TensorHome): void {
  settleTensor(sparse?.values, wire);
  settleTensor(sparse?.indices, wire);
}

export function settleAttribute(proto: AttributeProto, wire: TensorHome): void {
  for (const tensor of [proto.t, ...(proto.tensors ?? [])]) settleTensor(tensor, wire);
  for (const sparse of [proto.sparse_tensor, ...(proto.sparse_tensors ?? [])]) settleSparse(sparse, wire);
  for (const body of [proto.g, ...(proto.graphs ?? [])]) {
    for (const tensor of body?.initializer ?? []) settleTensor(tensor, wire);
    for (const sparse of body?.sparse_initializer ?? []) settleSparse(sparse, wire);
    for (const node of body?.node ?? []) settleNode(node, wire);
  }
}

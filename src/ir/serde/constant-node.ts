/** Constant nodes in their seven forms, read as tensors. */
import { type AttributeProto, cloneMessage, hasField, longToBigint, type NodeProto } from "../../onnx/index.js";
import { Tensor } from "../tensor.js";
import { canonicalDomain } from "./domain.js";
import { type TensorHome, tensorFromProto } from "./tensor.js";

/** The bytes of a string attribute. */
export const bytesOf = (proto: AttributeProto): Uint8Array => (hasField(proto, "s") ? proto.s! : new Uint8Array(0));

/** Which type an attribute without one has, by the field that is filled; 0 when none is. */
export function guessType(proto: AttributeProto): number {
  const fields = ["f", "i", "s", "t", "g"] as const;
  const at = fields.findIndex((field) => Object.hasOwn(proto, field));
  if (at >= 0) return at + 1;
  const lists = ["floats", "ints", "strings", "tensors", "graphs"] as const;
  const list = lists.findIndex((field) => (proto[field]?.length ?? 0) > 0);
  return list >= 0 ? list + 6 : 0;
}

/** The attributes that may hold a constant, with the type that each must have. */
const constantForms: ReadonlyMap<string, number> = new Map([
  ["value", 4],
  ["value_float", 1],
  ["value_int", 2],
  ["value_string", 3],
  ["value_floats", 6],
  ["value_ints", 7],
  ["value_strings", 8],
]);

/** A Constant node whose value the house can hold: not sparse, not a reference to a function's attribute. */
export function isPlainConstant(node: NodeProto): boolean {
  if (node.op_type !== "Constant" || canonicalDomain(node.domain) !== "") return false;
  if (node.output?.length !== 1 || node.output[0] === "" || node.input?.length) return false;
  const [attribute, ...more] = node.attribute ?? [];
  if (more.length > 0 || !attribute || attribute.ref_attr_name) return false;
  const type = constantForms.get(attribute.name ?? "");
  return type !== undefined && (attribute.type || guessType(attribute) || type) === type;
}

/** The tensor that a plain Constant node stands for. */
export function constantTensor(node: NodeProto, wire: TensorHome): Tensor {
  const attribute = node.attribute![0]!;
  switch (attribute.name) {
    case "value_float":
      return Tensor.f32([], [attribute.f ?? 0]);
    case "value_floats":
      return Tensor.f32([attribute.floats?.length ?? 0], attribute.floats ?? []);
    case "value_int":
      return Tensor.i64([], [longToBigint(attribute.i ?? 0)]);
    case "value_ints": {
      const values = (attribute.ints ?? []).map(longToBigint);
      return Tensor.i64([values.length], values);
    }
    case "value_string":
      return Tensor.strings([], [bytesOf(attribute)]);
    case "value_strings":
      return Tensor.strings([attribute.strings?.length ?? 0], attribute.strings ?? []);
    default: {
      const tensor = attribute.t ?? {};
      // What was said about the node is said about the tensor from now on.
      const said = cloneMessage(tensor, {
        metadata_props: [...(tensor.metadata_props ?? []), ...(node.metadata_props ?? [])],
        doc_string: tensor.doc_string || node.doc_string || undefined,
      });
      return tensorFromProto(said, wire);
    }
  }
}

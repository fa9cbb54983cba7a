/**
 * ModelProto to Model. Names become references, `Constant` nodes become constants,
 * nodes are put in execution order; whatever the house has no word for is kept as
 * it came and written back by to-onnx.
 */
import {
  type AttributeProto,
  type GraphProto,
  hasField,
  longToBigint,
  type NodeProto,
  readModel,
  type ValueInfoProto,
  type WireModel,
} from "../../onnx/index.js";
import type { Attribute } from "../attribute.js";
import { graphError } from "../errors.js";
import { Graph } from "../graph.js";
import type { Model } from "../model.js";
import { Tensor } from "../tensor.js";
import type { Value } from "../value.js";
import { executionOrder } from "./execution-order.js";
import { settleTensor, tensorFromProto } from "./tensor.js";
import { typeFromProto } from "./type.js";

/** Reads a model file. Throws the MODEL_, TENSOR_, EXTERNAL_DATA_ and GRAPH_ codes. */
export const loadModel = (path: string): Model => fromOnnx(readModel(path));

export function fromOnnx(wire: WireModel): Model {
  const { message } = wire;
  const irVersion = Number(longToBigint(message.ir_version!));
  const reader = new GraphReader(wire, irVersion);
  const opsets = new Map<string, number>();
  for (const { domain, version } of message.opset_import ?? []) {
    opsets.set(canonicalDomain(domain), Number(longToBigint(version ?? 0)));
  }
  for (const fn of message.functions ?? []) for (const node of fn.node ?? []) settleNode(node, wire);
  return {
    graph: reader.graph(message.graph!, null),
    opsets,
    irVersion,
    functions: new Set((message.functions ?? []).map((f) => `${canonicalDomain(f.domain)}::${f.name ?? ""}`)),
    extras: message,
    path: wire.path,
  };
}

/** "ai.onnx" and "" are the same domain. */
const canonicalDomain = (domain: string | undefined): string => (!domain || domain === "ai.onnx" ? "" : domain);

/** Names visible at one place: this graph's, then those of the graphs around it. */
class Scope {
  readonly #values = new Map<string, Value>();
  constructor(readonly outer: Scope | null) {}

  find(name: string): Value | null {
    return this.#values.get(name) ?? this.outer?.find(name) ?? null;
  }

  define(name: string, value: Value): void {
    if (this.#values.has(name)) throw graphError("GRAPH_DUPLICATE", `the name "${name}" is defined twice in one graph`);
    this.#values.set(name, value);
  }
}

class GraphReader {
  constructor(
    readonly wire: WireModel,
    readonly irVersion: number,
  ) {}

  graph(proto: GraphProto, outer: Scope | null): Graph {
    const graph = new Graph();
    graph.extras = proto;
    const scope = new Scope(outer);
    const infos = new Map((proto.value_info ?? []).map((info) => [info.name ?? "", info]));
    this.#inputsAndConstants(proto, graph, scope, infos);

    for (const node of executionOrder(proto, (name) => scope.find(name) !== null)) {
      if (isPlainConstant(node)) this.#constant(node, graph, scope, infos);
      else this.#node(node, graph, scope, infos);
    }

    for (const info of proto.output ?? []) {
      const name = info.name ?? "";
      const value = scope.find(name);
      if (!value)
        throw graphError("GRAPH_DANGLING", `nothing produces the graph output "${name}"`, { fields: { output: name } });
      value.type ??= typeFromProto(info.type);
      graph.addOutput(name, value, info);
    }
    return graph;
  }

  #inputsAndConstants(proto: GraphProto, graph: Graph, scope: Scope, infos: Map<string, ValueInfoProto>): void {
    const inputs = new Map((proto.input ?? []).map((info) => [info.name ?? "", info]));
    const defaults = new Map<string, Tensor>();
    for (const initializer of proto.initializer ?? []) {
      const name = initializer.name ?? "";
      const tensor = tensorFromProto(initializer, this.wire);
      // Before IR version 4 every initializer had to be an input too, and was a constant nonetheless.
      if (inputs.has(name) && this.irVersion >= 4) defaults.set(name, tensor);
      else {
        const value = graph.addConstant(name, tensor);
        value.info = inputs.get(name) ?? infos.get(name) ?? null;
        scope.define(name, value);
        inputs.delete(name);
      }
    }
    for (const [name, info] of inputs) {
      const value = graph.addInput(name, typeFromProto(info.type), defaults.get(name));
      value.info = info;
      scope.define(name, value);
    }
    for (const sparse of proto.sparse_initializer ?? []) {
      const name = sparse.values?.name ?? "";
      settleTensor(sparse.values, this.wire);
      settleTensor(sparse.indices, this.wire);
      scope.define(name, graph.addSparse(name, sparse));
    }
  }

  #constant(node: NodeProto, graph: Graph, scope: Scope, infos: Map<string, ValueInfoProto>): void {
    const name = node.output![0]!;
    const value = graph.addConstant(name, constantTensor(node, this.wire));
    value.info = infos.get(name) ?? null;
    scope.define(name, value);
  }

  #node(proto: NodeProto, graph: Graph, scope: Scope, infos: Map<string, ValueInfoProto>): void {
    const title = proto.name || `${proto.op_type}:${proto.output?.[0] ?? ""}`;
    if (!proto.op_type) throw graphError("GRAPH_INVALID", `node ${title} has no operator`);
    const inputs = (proto.input ?? []).map((name) => {
      if (name === "") return null;
      const value = scope.find(name);
      if (!value) {
        throw graphError("GRAPH_DANGLING", `node ${title} reads "${name}", which nothing produces`, {
          fields: { node: title, input: name },
        });
      }
      return value;
    });
    const attributes = new Map<string, Attribute>();
    for (const attribute of proto.attribute ?? []) {
      attributes.set(attribute.name ?? "", this.#attribute(attribute, scope));
    }
    const node = graph.addNode({
      op: proto.op_type,
      domain: canonicalDomain(proto.domain),
      name: proto.name ?? "",
      inputs,
      attributes,
      outputs: (proto.output ?? []).map((label) =>
        label === "" ? null : { label, type: typeFromProto(infos.get(label)?.type) },
      ),
      provenance: [title],
    });
    node.extras = proto;
    for (const value of node.outputs) {
      if (!value) continue;
      value.info = infos.get(value.label) ?? null;
      scope.define(value.label, value);
    }
  }

  #attribute(proto: AttributeProto, scope: Scope): Attribute {
    const value = this.#attributeValue(proto, scope);
    const { doc_string, $unknowns } = proto;
    if (value.type === "opaque" || (!doc_string && !$unknowns)) return value;
    const extras = { ...(doc_string && { doc_string }) };
    if ($unknowns) Object.defineProperty(extras, "$unknowns", { value: $unknowns, enumerable: false });
    return { ...value, extras };
  }

  #attributeValue(proto: AttributeProto, scope: Scope): Attribute {
    if (proto.ref_attr_name) return { type: "opaque", value: proto };
    // IR versions before 2 did not write `type`; then the filled field tells.
    switch (proto.type || guessType(proto)) {
      case 1:
        return { type: "float", value: proto.f ?? 0 };
      case 2:
        return { type: "int", value: longToBigint(proto.i ?? 0) };
      case 3:
        return { type: "string", value: bytesOf(proto) };
      case 4:
        return { type: "tensor", value: tensorFromProto(proto.t ?? {}, this.wire) };
      case 5:
        return { type: "graph", value: this.graph(proto.g ?? {}, scope) };
      case 6:
        return { type: "floats", value: proto.floats ?? [] };
      case 7:
        return { type: "ints", value: (proto.ints ?? []).map(longToBigint) };
      case 8:
        return { type: "strings", value: proto.strings ?? [] };
      case 9:
        return { type: "tensors", value: (proto.tensors ?? []).map((t) => tensorFromProto(t, this.wire)) };
      case 10:
        return { type: "graphs", value: (proto.graphs ?? []).map((g) => this.graph(g, scope)) };
      default:
        settleAttribute(proto, this.wire);
        return { type: "opaque", value: proto };
    }
  }
}

const bytesOf = (proto: AttributeProto): Uint8Array => (hasField(proto, "s") ? proto.s! : new Uint8Array(0));

function guessType(proto: AttributeProto): number {
  const fields = ["f", "i", "s", "t", "g"] as const;
  const at = fields.findIndex((field) => Object.hasOwn(proto, field));
  if (at >= 0) return at + 1;
  const lists = ["floats", "ints", "strings", "tensors", "graphs"] as const;
  const list = lists.findIndex((field) => (proto[field]?.length ?? 0) > 0);
  return list >= 0 ? list + 6 : 0;
}

const constantForms = [
  "value",
  "value_float",
  "value_int",
  "value_string",
  "value_floats",
  "value_ints",
  "value_strings",
];

/** A Constant node whose value the house can hold: not sparse, not a reference to a function's attribute. */
function isPlainConstant(node: NodeProto): boolean {
  if (node.op_type !== "Constant" || canonicalDomain(node.domain) !== "" || node.output?.length !== 1) return false;
  const [attribute, ...more] = node.attribute ?? [];
  return more.length === 0 && !!attribute && !attribute.ref_attr_name && constantForms.includes(attribute.name ?? "");
}

function constantTensor(node: NodeProto, wire: WireModel): Tensor {
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
      if (node.metadata_props?.length)
        tensor.metadata_props = [...(tensor.metadata_props ?? []), ...node.metadata_props];
      if (node.doc_string && !tensor.doc_string) tensor.doc_string = node.doc_string;
      return tensorFromProto(tensor, wire);
    }
  }
}

/** Function bodies are carried through unread; only the places of their tensors are resolved. */
function settleNode(node: NodeProto, wire: WireModel): void {
  for (const attribute of node.attribute ?? []) settleAttribute(attribute, wire);
}

function settleAttribute(proto: AttributeProto, wire: WireModel): void {
  for (const tensor of [proto.t, ...(proto.tensors ?? [])]) settleTensor(tensor, wire);
  for (const sparse of [proto.sparse_tensor, ...(proto.sparse_tensors ?? [])]) {
    settleTensor(sparse?.values, wire);
    settleTensor(sparse?.indices, wire);
  }
  for (const body of [proto.g, ...(proto.graphs ?? [])]) {
    for (const tensor of body?.initializer ?? []) settleTensor(tensor, wire);
    for (const node of body?.node ?? []) settleNode(node, wire);
  }
}

/**
 * ModelProto to Model. Names become references, `Constant` nodes become constants,
 * nodes are put in execution order; whatever the house has no word for is kept as
 * it came and written back by to-onnx.
 */
import { InferOptError } from "../../base/errors.js";
import {
  type AttributeProto,
  type GraphProto,
  longToBigint,
  type NodeProto,
  readModel,
  type SparseTensorProto,
  type ValueInfoProto,
  type WireModel,
} from "../../onnx/index.js";
import type { Attribute } from "../attribute.js";
import { graphError } from "../errors.js";
import { Graph } from "../graph.js";
import type { Model } from "../model.js";
import type { Tensor } from "../tensor.js";
import type { Value } from "../value.js";
import { bytesOf, constantTensor, guessType, isPlainConstant } from "./constant-node.js";
import { canonicalDomain } from "./domain.js";
import { executionOrder } from "./execution-order.js";
import { refuseEndlessCalls } from "./expansion.js";
import { settleAttribute, settleNode, settleSparse } from "./settle.js";
import { type TensorHome, tensorFromProto } from "./tensor.js";
import { mergeTypes, typeFromProto } from "./type.js";

/** Reads a model file. Throws the MODEL_, TENSOR_, EXTERNAL_DATA_ and GRAPH_ codes. */
export const loadModel = (path: string): Model => fromOnnx(readModel(path));

/** What a runtime wrote of the model `original`, in whose folder weights stay that it did not change. */
export const loadWritten = (path: string, original: string): Model =>
  fromOnnx({ ...readModel(path), writtenFrom: original });

export function fromOnnx(wire: WireModel): Model {
  const { message } = wire;
  const irVersion = Number(longToBigint(message.ir_version!));
  const reader = new GraphReader(wire, irVersion);
  // Since IR version 3 a model must say which operators it speaks of; a file cut off behind its graph does not.
  if (irVersion >= 3 && !message.opset_import?.length) {
    throw new InferOptError("MODEL_CORRUPT", "input", `${wire.path} imports no operator set`, {
      hint: "The file is truncated or the export is broken: export, copy or download it again.",
      fields: { path: wire.path },
    });
  }
  const opsets = new Map<string, number>();
  for (const { domain, version } of message.opset_import ?? []) {
    opsets.set(canonicalDomain(domain), Number(longToBigint(version ?? 0)));
  }
  refuseEndlessCalls(message, wire.path);
  for (const fn of message.functions ?? []) {
    for (const attribute of fn.attribute_proto ?? []) settleAttribute(attribute, wire);
    for (const node of fn.node ?? []) settleNode(node, wire);
  }
  return {
    graph: reader.graph(message.graph!, null, { outputsGoBy: "name" }),
    opsets,
    irVersion,
    functions: new Set((message.functions ?? []).map((f) => `${canonicalDomain(f.domain)}::${f.name ?? ""}`)),
    extras: message,
    path: wire.path,
  };
}

/** Names visible at one place: this graph's, then those of the graphs around it. */
class Scope {
  readonly #values = new Map<string, Value>();
  constructor(readonly outer: Scope | null) {}

  find(name: string): Value | null {
    return this.#values.get(name) ?? this.outer?.find(name) ?? null;
  }

  define(name: string, value: Value): void {
    if (this.#values.has(name)) throw duplicate(name);
    this.#values.set(name, value);
  }
}

const duplicate = (name: string): InferOptError =>
  graphError("GRAPH_DUPLICATE", `the name "${name}" is defined twice in one graph`, { fields: { name } });

/** The name of a port as it stands, unless a body names one value twice: a Loop may hand on a value and collect it too. */
function portName(taken: Set<string>, name: string): string {
  let free = name;
  for (let i = 1; taken.has(free); i++) free = `${name}_${i}`;
  taken.add(free);
  return free;
}

interface ReadOptions {
  /** Those of a model go by name; those of bodies and functions by position. */
  readonly outputsGoBy?: "name" | "position";
}

/** Reads graphs, bodies and the bodies of functions alike. */
export class GraphReader {
  constructor(
    readonly wire: TensorHome,
    readonly irVersion: number,
  ) {}

  graph(proto: GraphProto, outer: Scope | null, { outputsGoBy = "position" }: ReadOptions = {}): Graph {
    const graph = new Graph();
    graph.extras = proto;
    const scope = new Scope(outer);
    const infos = new Map((proto.value_info ?? []).map((info) => [info.name ?? "", info]));
    this.#inputsAndConstants(proto, graph, scope, infos);

    for (const node of executionOrder(proto, (name) => scope.find(name) !== null)) {
      if (isPlainConstant(node)) this.#constant(node, graph, scope, infos);
      else this.#node(node, graph, scope, infos);
    }

    const portNames = new Set<string>();
    for (const info of proto.output ?? []) {
      const name = info.name ?? "";
      // It is the same one again, and is written as often as the file has it.
      if (outputsGoBy === "name" && portNames.has(name)) continue;
      const value = scope.find(name);
      if (!value)
        throw graphError("GRAPH_DANGLING", `nothing produces the graph output "${name}"`, { fields: { output: name } });
      // What a graph promises about its output is more than what a description in passing says.
      if (value.graph === graph && value.producer) value.type = mergeTypes(typeFromProto(info.type), value.type);
      else value.type ??= typeFromProto(info.type);
      graph.addOutput(portName(portNames, name), value, info);
    }
    return graph;
  }

  #inputsAndConstants(proto: GraphProto, graph: Graph, scope: Scope, infos: Map<string, ValueInfoProto>): void {
    const inputs = new Map<string, ValueInfoProto>();
    for (const info of proto.input ?? []) {
      if (!info.name) throw graphError("GRAPH_INVALID", "a graph input has no name");
      if (inputs.has(info.name)) throw duplicate(info.name);
      inputs.set(info.name, info);
    }
    const defaults = new Map<string, Tensor>();
    for (const initializer of proto.initializer ?? []) {
      const name = initializer.name ?? "";
      const tensor = tensorFromProto(initializer, this.wire);
      if (defaults.has(name)) throw duplicate(name);
      // Before IR version 4 every initializer had to be an input too, and was a constant nonetheless.
      if (inputs.has(name) && this.irVersion >= 4) defaults.set(name, tensor);
      else {
        const value = graph.addConstant(name, tensor);
        const input = inputs.get(name);
        value.info = infos.get(name) ?? (input?.doc_string ? input : null);
        scope.define(name, value);
        inputs.delete(name);
      }
    }
    const sparseDefaults = new Map<string, SparseTensorProto>();
    for (const sparse of proto.sparse_initializer ?? []) {
      const name = sparse.values?.name ?? "";
      settleSparse(sparse, this.wire);
      if (inputs.has(name) && this.irVersion >= 4) {
        if (defaults.has(name) || sparseDefaults.has(name)) throw duplicate(name);
        sparseDefaults.set(name, sparse);
        continue;
      }
      const value = graph.addSparse(name, sparse);
      value.info = infos.get(name) ?? null;
      scope.define(name, value);
      inputs.delete(name);
    }
    for (const [name, info] of inputs) {
      const [tensor, sparse] = [defaults.get(name), sparseDefaults.get(name)];
      const given = tensor ? { defaultTensor: tensor } : sparse ? { defaultSparse: sparse } : {};
      const value = graph.addInput(name, typeFromProto(info.type), given);
      value.info = info;
      scope.define(name, value);
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
      const name = attribute.name ?? "";
      if (attributes.has(name)) throw graphError("GRAPH_INVALID", `node ${title} has two attributes called "${name}"`);
      attributes.set(name, this.#attribute(attribute, scope));
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
    if (proto.ref_attr_name) {
      settleAttribute(proto, this.wire);
      return { type: "opaque", value: proto };
    }
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

/**
 * Model to ModelProto. Makes wire names unique and keeps labels where it can; a
 * value behind an output port takes the port's public name, and an Identity is put
 * in where ONNX needs one (a graph input, an outer value, or one value behind
 * several ports). Ports of bodies go by position, so their names give way to others.
 */
import { invariant } from "../../base/errors.js";
import {
  type AttributeProto,
  bigintToLong,
  bodiesOf,
  cloneMessage,
  type GraphProto,
  type ModelProto,
  modelBytes,
  type NodeProto,
  type SparseTensorProto,
  type StagedModel,
  stageModel,
  type TensorAnnotation,
  type ValueInfoProto,
  type WriteOptions,
  withoutDescriptions,
  writeLinked,
} from "../../onnx/index.js";
import { type Attribute, graphsOf } from "../attribute.js";
import type { Graph, OutputPort } from "../graph.js";
import type { Model } from "../model.js";
import type { Node } from "../node.js";
import type { Value } from "../value.js";
import { graphsWithin } from "../walk.js";
import { canonicalDomain } from "./domain.js";
import { tensorToProto } from "./tensor.js";
import { infoToProto, outputToProto } from "./type.js";

/** Initializers need not be graph inputs from IR version 4 on, which is how we write them. */
const LEAST_IR_VERSION = 4;

export interface SaveOptions extends WriteOptions {
  /** Whether the file says what was found out about values inside the graph, which readers find out by themselves. Default: true. */
  readonly isDescribed?: boolean;
}

export interface SavedModel extends StagedModel {
  /** In the file, those of bodies too: writing may put an Identity behind an output. */
  readonly nodes: number;
  /** What the same model would take when it is saved in another way, external data with it. */
  bytesAs(path: string, options?: SaveOptions): number;
}

/** Writes the model beside `path`, to be renamed with `commit()`. Throws OUTPUT_FAILED. */
export function saveModel(model: Model, path: string, options: SaveOptions = {}): SavedModel {
  const message = toOnnx(model);
  const saidBy = ({ isDescribed = true }: SaveOptions) => (isDescribed ? message : withoutDescriptions(message));
  return {
    ...stageModel(saidBy(options), path, options),
    nodes: nodesIn(message.graph),
    bytesAs: (other, as = {}) => modelBytes(saidBy(as), other, as),
  };
}

const nodesIn = (graph: GraphProto | undefined): number =>
  (graph?.node ?? []).reduce(
    (sum, node) => sum + 1 + bodiesOf(node).reduce((within, body) => within + nodesIn(body), 0),
    0,
  );

/** Writes the model for the runtime's eyes only: its weights stay where they are (see linked-model.ts). */
export const linkModel = (model: Model, path: string): void => writeLinked(toOnnx(model), path);

export function toOnnx(model: Model): ModelProto {
  const message = model.extras as ModelProto;
  return cloneMessage(message, {
    ir_version: bigintToLong(BigInt(Math.max(model.irVersion, LEAST_IR_VERSION))),
    opset_import: [...model.opsets].map(([domain, version]) => {
      const known = message.opset_import?.find((each) => canonicalDomain(each.domain) === domain);
      return cloneMessage(known ?? { domain }, { version: bigintToLong(BigInt(version)) });
    }),
    graph: graphToProto(model.graph, new Names(null)),
  });
}

/** Wire names of one graph; those of the graphs around it are taken too, since ONNX forbids shadowing. */
class Names {
  readonly #taken = new Set<string>();
  readonly #ofValue = new Map<Value, string>();
  constructor(readonly outer: Names | null) {}

  isTaken(name: string): boolean {
    return this.#taken.has(name) || (this.outer?.isTaken(name) ?? false);
  }

  reserve(name: string): void {
    this.#taken.add(name);
  }

  give(value: Value, name: string): void {
    this.#ofValue.set(value, name);
    this.#taken.add(name);
  }

  /** The name as it stands, also where a graph around has it, unless this one has it for something else. */
  own(label: string): string {
    return this.#taken.has(label) ? this.unique(label) : label;
  }

  unique(label: string): string {
    if (label !== "" && !this.isTaken(label)) return label;
    for (let i = 1; ; i++) {
      const name = `${label || "value"}_${i}`;
      if (!this.isTaken(name)) return name;
    }
  }

  of(value: Value): string {
    const name = this.#ofValue.get(value) ?? this.outer?.of(value);
    if (name === undefined) throw new Error(`internal: ${value.label} has no name here`);
    return name;
  }

  has(value: Value): boolean {
    return this.#ofValue.has(value);
  }
}

function graphToProto(graph: Graph, names: Names): GraphProto {
  const proto = (graph.extras ?? {}) as GraphProto;
  const isBody = names.outer !== null;
  const nameOfPort = portNaming(graph, names);
  const portNames = new Map<OutputPort, string>();
  const identities: OutputPort[] = [];
  for (const port of graph.outputs) {
    const { value } = port;
    const name = isBody ? nameOfPort(port.name) : port.name;
    portNames.set(port, name);
    const isFree = value.graph === graph && !names.has(value);
    if (isFree && (!value.isGraphInput || value.label === port.name)) names.give(value, name);
    else {
      names.reserve(name);
      identities.push(port);
    }
  }
  for (const input of graph.inputs) {
    if (names.has(input)) continue;
    const clash = !isBody && graph.outputs.some(({ name }) => name === input.label);
    invariant(!clash, `the output ${input.label} is not the input of that name`);
    names.give(input, nameOfPort(input.label, input.info as ValueInfoProto | null));
  }
  // All names of this graph first: a body must not take one that its outer graph uses later.
  for (const value of ownValues(graph)) if (!names.has(value)) names.give(value, names.unique(value.label));

  const infos: ValueInfoProto[] = [];
  const nodes: NodeProto[] = [];
  const ported = new Set(graph.outputs.map(({ value }) => value));
  for (const node of graph.nodes()) {
    nodes.push(nodeToProto(node, names));
    for (const value of node.outputs) {
      if (value && !ported.has(value)) infos.push(...descriptions(value, names));
    }
  }
  for (const value of graph.constants) if (value.info && !ported.has(value)) infos.push(...descriptions(value, names));
  for (const port of identities) {
    const name = portNames.get(port)!;
    nodes.push({ op_type: "Identity", name: `${name}/Identity`, input: [names.of(port.value)], output: [name] });
  }

  const constants = graph.constants.filter((value) => value.constant);
  const kept = new Set(ownValues(graph).map((value) => names.of(value)));
  return cloneMessage(proto, {
    name: proto.name ?? "graph",
    node: nodes,
    initializer: [
      ...constants.map((value) => tensorToProto(value.constant!, names.of(value))),
      ...graph.inputs.flatMap((v) =>
        v.origin.defaultTensor ? [tensorToProto(v.origin.defaultTensor, names.of(v))] : [],
      ),
    ],
    sparse_initializer: [...graph.constants, ...graph.inputs].flatMap((value) => {
      const sparse = (value.origin.sparse ?? value.origin.defaultSparse) as SparseTensorProto | undefined;
      return sparse
        ? [cloneMessage(sparse, { values: cloneMessage(sparse.values ?? {}, { name: names.of(value) }) })]
        : [];
    }),
    // What a body promised about its inputs stands too: the results of a loop that never runs have their shapes from it.
    input: graph.inputs.map((value) =>
      (graph.owner ? outputToProto : infoToProto)(names.of(value), value.type, value.info as ValueInfoProto | null),
    ),
    output: asOften(
      isBody ? [] : (proto.output ?? []),
      graph.outputs.map((port) =>
        outputToProto(portNames.get(port)!, port.value.type, port.info as ValueInfoProto | null),
      ),
    ),
    value_info: infos,
    quantization_annotation: (proto.quantization_annotation ?? []).filter((a) => annotationHolds(a, kept)),
  });
}

/**
 * How ports of a body are named: anew where a graph around has the name. Operators of other domains may tell ports by their
 * names, though (ONNX Runtime's BeamSearch does), and those of the body hide others, which only matters where they are read.
 */
function portNaming(graph: Graph, names: Names): (label: string, info?: ValueInfoProto | null) => string {
  if (!graph.owner?.domain) return (label) => names.unique(label);
  const within = new Set(graphsWithin(graph));
  const read = new Set<string>();
  for (const each of within) {
    const values = [...each.nodes()].flatMap(({ inputs }) => inputs).concat(each.outputs.map(({ value }) => value));
    for (const value of values) if (value && !within.has(value.graph)) read.add(names.of(value));
  }
  return (label, info) => {
    // Labels are made unique throughout a model now and then.
    const name = info?.name ?? label;
    return read.has(name) ? names.unique(name) : names.own(name);
  };
}

/** A model may list an output more than once: callers that go by position count on it. */
function asOften(before: readonly ValueInfoProto[], outputs: ValueInfoProto[]): ValueInfoProto[] {
  const names = before.map(({ name }) => name);
  if (new Set(names).size === names.length) return outputs;
  const repeated = names.flatMap((name) => outputs.find((output) => output.name === name) ?? []);
  return [...repeated, ...outputs.filter(({ name }) => !names.includes(name))];
}

/** The entry in value_info, or none. A tensor's description that came along goes when the type has been taken back. */
function descriptions(value: Value, names: Names): ValueInfoProto[] {
  const info = value.info as ValueInfoProto | null;
  const isKnown = value.type ? value.type.dtype !== null || info : info && !info.type?.tensor_type;
  return isKnown ? [infoToProto(names.of(value), value.type, info)] : [];
}

/** An annotation names tensors; it goes when one of them is gone. */
function annotationHolds(annotation: TensorAnnotation, kept: ReadonlySet<string>): boolean {
  const parameters = (annotation.quant_parameter_tensor_names ?? []).map(({ value }) => value ?? "");
  return [annotation.tensor_name ?? "", ...parameters].every((name) => kept.has(name));
}

function ownValues(graph: Graph): Value[] {
  const values = [...graph.inputs, ...graph.constants];
  for (const node of graph.nodes()) for (const output of node.outputs) if (output) values.push(output);
  return values;
}

function nodeToProto(node: Node, names: Names): NodeProto {
  const attributes = [...node.attributes].map(([name, attribute]) => attributeToProto(name, attribute, names));
  return cloneMessage((node.extras ?? {}) as NodeProto, {
    op_type: node.op,
    domain: node.domain === "" ? undefined : node.domain,
    name: node.name || undefined,
    input: node.inputs.map((value) => (value ? names.of(value) : "")),
    output: node.outputs.map((value) => (value ? names.of(value) : "")),
    attribute: attributes,
  });
}

/** An attribute without bodies, for a place where no names of values are needed. */
export function plainAttributeToProto(name: string, attribute: Attribute): AttributeProto {
  invariant(graphsOf(attribute).length === 0, "an attribute with bodies needs names");
  return attributeToProto(name, attribute, new Names(null));
}

function attributeToProto(name: string, attribute: Attribute, names: Names): AttributeProto {
  if (attribute.type === "opaque") return attribute.value as AttributeProto;
  return cloneMessage((attribute.extras ?? {}) as AttributeProto, { name, ...attributeFields(attribute, names) });
}

function attributeFields(attribute: Exclude<Attribute, { type: "opaque" }>, names: Names): AttributeProto {
  const body = (graph: Graph): GraphProto => graphToProto(graph, new Names(names));
  switch (attribute.type) {
    case "float":
      return { type: 1, f: attribute.value };
    case "int":
      return { type: 2, i: bigintToLong(attribute.value) };
    case "string":
      return { type: 3, s: attribute.value };
    case "tensor":
      return { type: 4, t: tensorToProto(attribute.value, null) };
    case "graph":
      return { type: 5, g: body(attribute.value) };
    case "floats":
      return { type: 6, floats: [...attribute.value] };
    case "ints":
      return { type: 7, ints: attribute.value.map(bigintToLong) };
    case "strings":
      return { type: 8, strings: [...attribute.value] };
    case "tensors":
      return { type: 9, tensors: attribute.value.map((tensor) => tensorToProto(tensor, null)) };
    case "graphs":
      return { type: 10, graphs: attribute.value.map(body) };
  }
}

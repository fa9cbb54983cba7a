/**
 * The functions that a model brings along, read when somebody asks: a call's function, and
 * its body with the attributes and the absent inputs of that call put in.
 */
import {
  type AttributeProto,
  cloneMessage,
  type FunctionProto,
  type GraphProto,
  longToBigint,
  type ModelProto,
  type NodeProto,
} from "../../onnx/index.js";
import { graphsOf } from "../attribute.js";
import type { Graph } from "../graph.js";
import type { Model } from "../model.js";
import type { Node } from "../node.js";
import { graphsWithin } from "../walk.js";
import { canonicalDomain } from "./domain.js";
import { titleOf } from "./expansion.js";
import { GraphReader } from "./from-onnx.js";
import { plainAttributeToProto } from "./to-onnx.js";

// What functions say in 64-bit integers is read where their opsets are changed.
export { bigintToLong, type Long64, longToBigint } from "../../onnx/index.js";

export interface LocalFunction {
  /** `domain::name`, with the overload behind it where there is one. */
  readonly title: string;
  /** Opset version by domain; "" is ai.onnx. */
  readonly opsets: ReadonlyMap<string, number>;
  readonly proto: FunctionProto;
}

const functionsOf = (model: Model): FunctionProto[] => (model.extras as ModelProto).functions ?? [];

/** The function that a node calls, or null. Overloads tell functions of one name apart. */
export function functionCalled(model: Model, node: Node): LocalFunction | null {
  if (!model.functions.has(`${node.domain}::${node.op}`)) return null;
  const title = titleOf(node.domain, node.op, (node.extras as NodeProto | null)?.overload);
  const proto = functionsOf(model).find((fn) => titleOf(fn.domain, fn.name, fn.overload) === title);
  return proto ? localFunction(proto) : null;
}

function localFunction(proto: FunctionProto): LocalFunction {
  const imports = (proto.opset_import ?? []).map(
    ({ domain, version }) => [canonicalDomain(domain), Number(longToBigint(version ?? 0))] as const,
  );
  return { title: titleOf(proto.domain, proto.name, proto.overload), opsets: new Map(imports), proto };
}

/**
 * What a call does, as a graph of its own whose inputs are the call's in order; those that
 * the call leaves out are inputs that nobody reads. Throws the GRAPH_ and TENSOR_ codes for
 * a body that cannot be read. null for a call that hands on bodies, or an output that is an
 * absent input.
 */
export function functionBody(model: Model, { proto }: LocalFunction, call: Node): Graph | null {
  const given = [...call.attributes];
  if (given.some(([, attribute]) => graphsOf(attribute).length > 0)) return null;
  const attributes = new Map((proto.attribute_proto ?? []).map((attribute) => [attribute.name ?? "", attribute]));
  for (const [name, attribute] of given) attributes.set(name, plainAttributeToProto(name, attribute));

  const inputs = proto.input ?? [];
  if (call.inputs.length > inputs.length || call.outputs.length > (proto.output ?? []).length) return null;
  const absent = new Set(inputs.filter((_, i) => !call.inputs[i]));
  if (proto.output?.some((name) => absent.has(name))) return null;
  const said = (call.extras as NodeProto | null)?.metadata_props;
  const node = (proto.node ?? []).map((inner) => {
    const copy = specialized(inner, attributes, absent);
    // Exporters say at the call where it comes from; its parts come from there too.
    return said?.length && !copy.metadata_props?.length ? cloneMessage(copy, { metadata_props: said }) : copy;
  });
  const body: GraphProto = {
    name: proto.name ?? "",
    input: inputs.map((name) => ({ name })),
    output: (proto.output ?? []).map((name) => ({ name })),
    node,
  };
  const graph = new GraphReader({ path: model.path, ranges: [] }, model.irVersion).graph(body, null);
  nameAfter(call, graph);
  return graph;
}

/** Names that tell which call a part belongs to: a function may be called many times. */
function nameAfter(call: Node, body: Graph): void {
  const stem = call.displayName;
  for (const graph of graphsWithin(body)) {
    for (const constant of graph.constants) constant.label = `${stem}/${constant.label}`;
    for (const node of graph.nodes()) {
      node.name = `${stem}/${node.name || node.op}`;
      node.provenance = call.provenance;
      for (const output of node.outputs) if (output) output.label = `${stem}/${output.label}`;
    }
  }
}

/** A node of the body with references to attributes resolved; those that the call does not set and that have no default go. */
function specialized(
  node: NodeProto,
  attributes: ReadonlyMap<string, AttributeProto>,
  absent: ReadonlySet<string>,
): NodeProto {
  const resolved = (node.attribute ?? []).flatMap((attribute): AttributeProto[] => {
    if (attribute.ref_attr_name) {
      const found = attributes.get(attribute.ref_attr_name);
      return found ? [cloneMessage(found, { name: attribute.name ?? "" })] : [];
    }
    const inside = (body: GraphProto): GraphProto =>
      cloneMessage(body, { node: (body.node ?? []).map((inner) => specialized(inner, attributes, absent)) });
    if (!attribute.g && !attribute.graphs?.length) return [attribute];
    return [
      cloneMessage(attribute, {
        ...(attribute.g && { g: inside(attribute.g) }),
        ...(attribute.graphs?.length && { graphs: attribute.graphs.map(inside) }),
      }),
    ];
  });
  const input = (node.input ?? []).map((name) => (absent.has(name) ? "" : name));
  return cloneMessage(node, { attribute: resolved, input });
}

/** The functions that a function calls, in bodies too. */
export function functionsCalledBy(model: Model, { proto }: LocalFunction): LocalFunction[] {
  const known = new Map(functionsOf(model).map((fn) => [titleOf(fn.domain, fn.name, fn.overload), fn]));
  const called = new Set<FunctionProto>();
  for (const node of protosWithin(proto.node)) {
    const fn = known.get(titleOf(node.domain, node.op_type, node.overload));
    if (fn) called.add(fn);
  }
  return [...called].map(localFunction);
}

/** What a call of a function runs, as `Node.opName` has it: in bodies, and in the functions that it calls, too. */
export function operatorsOf(model: Model, fn: LocalFunction): ReadonlySet<string> {
  const operators = new Set<string>();
  const seen = new Set<string>();
  const pending = [fn];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (seen.has(next.title)) continue;
    seen.add(next.title);
    for (const { domain, op_type: op = "" } of protosWithin(next.proto.node)) {
      const home = canonicalDomain(domain);
      operators.add(home === "" ? op : `${home}::${op}`);
    }
    pending.push(...functionsCalledBy(model, next));
  }
  return operators;
}

function* protosWithin(nodes: readonly NodeProto[] | null | undefined): Generator<NodeProto> {
  for (const node of nodes ?? []) {
    yield node;
    for (const { g, graphs } of node.attribute ?? []) {
      for (const body of [g, ...(graphs ?? [])]) yield* protosWithin(body?.node);
    }
  }
}

/** Takes out the functions whose title is not among those called any more. */
export function dropFunctions(model: Model, isCalled: (title: string) => boolean): void {
  const message = model.extras as ModelProto;
  const kept = functionsOf(model).filter((fn) => isCalled(titleOf(fn.domain, fn.name, fn.overload)));
  message.functions = kept;
  model.functions.clear();
  for (const fn of kept) model.functions.add(`${canonicalDomain(fn.domain)}::${fn.name ?? ""}`);
}

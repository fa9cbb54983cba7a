/**
 * Element types of all values, worked out from the types of inputs and constants by
 * the operators' signatures, through nested bodies. Dtypes only: shapes are asked of
 * the runtime. What the file says about a value wins; what nothing tells is absent.
 */
import { ownEntry } from "../base/own-entry.js";
import { type DType, dtypeOfCode, type Graph, type Model, type Node, opsetOf, type Value } from "../ir/index.js";
import { type Signature, signatureOf } from "./signature.js";

/** The dtype of every value of the model whose dtype is known. */
export function dtypesOf(model: Model): Map<Value, DType> {
  const dtypes = new Map<Value, DType>();
  visit(model.graph, opsetOf(model), dtypes);
  return dtypes;
}

function visit(graph: Graph, opset: number, dtypes: Map<Value, DType>): void {
  for (const value of [...graph.inputs, ...graph.constants]) note(dtypes, value, value.dtype);
  for (const node of graph.nodes()) {
    for (const value of node.outputs) note(dtypes, value, value?.dtype);
    if (node.bodies.length > 0) visitBodies(node, opset, dtypes);
    else inferNode(node, opset, dtypes);
  }
}

function note(dtypes: Map<Value, DType>, value: Value | null | undefined, dtype: DType | null | undefined): void {
  if (value && dtype && !dtypes.has(value)) dtypes.set(value, dtype);
}

/** If, Loop and Scan pass values in and out of their bodies by position. */
function visitBodies(node: Node, opset: number, dtypes: Map<Value, DType>): void {
  const binding = bodyBinding(node);
  for (const body of node.bodies) {
    body.inputs.forEach((value, i) => {
      const outer = binding ? node.inputs[i + binding.inputOffset] : null;
      note(dtypes, value, outer && dtypes.get(outer));
    });
    visit(body, opset, dtypes);
    if (!binding) continue;
    for (const [input, output] of carriedPlaces(node, body)) {
      const inner = body.outputs[output]?.value;
      const carried = body.inputs[input];
      note(dtypes, inner, carried && dtypes.get(carried));
    }
    node.outputs.forEach((value, i) => {
      const inner = body.outputs[i + binding.outputOffset]?.value;
      note(dtypes, value, inner && dtypes.get(inner));
    });
  }
}

/**
 * How a control-flow node's places line up with its bodies': body input i is node input
 * i + inputOffset, node output i is body output i + outputOffset. null for other operators.
 */
export function bodyBinding(node: Node): { readonly inputOffset: number; readonly outputOffset: number } | null {
  if (node.is("If")) return { inputOffset: 0, outputOffset: 0 };
  // Loop: body inputs are (iteration, condition, carried...), node inputs (trip count, condition, carried...).
  if (node.is("Loop")) return { inputOffset: 0, outputOffset: 1 };
  // Scan of opset 8 has the lengths of the sequences in front, and no directions were split by kind yet.
  if (node.is("Scan")) return { inputOffset: node.attributes.has("directions") ? 1 : 0, outputOffset: 0 };
  return null;
}

/** Values that go round: [place in the body's inputs, place in its outputs], of one type by definition. */
function carriedPlaces(node: Node, body: Graph): [input: number, output: number][] {
  // Loop: inputs are (iteration, condition, carried...), outputs (condition, carried..., scanned...).
  if (node.is("Loop")) return body.inputs.slice(2).map((_, i) => [i + 2, i + 1]);
  const states = node.is("Scan") ? body.inputs.length - node.int("num_scan_inputs", 0) : 0;
  return body.inputs.slice(0, states).map((_, i) => [i, i]);
}

function inferNode(node: Node, opset: number, dtypes: Map<Value, DType>): void {
  if (node.domain !== "") return;
  const signature = signatureOf(node.op, opset);
  if (!signature?.tensorsOnly) return;
  const bound = bindVariables(node, signature, dtypes);
  node.outputs.forEach((value, i) => {
    const place = signature.output(i);
    if (place?.kind === "fixed") note(dtypes, value, place.dtype);
    else if (place?.kind === "variable") note(dtypes, value, bound.get(place.name) ?? chosenDtype(node, dtypes));
  });
  // One operand of a known type tells the type of the others.
  node.inputs.forEach((value, i) => {
    const place = signature.input(i);
    if (place?.kind === "variable") note(dtypes, value, bound.get(place.name));
    else if (place?.kind === "fixed") note(dtypes, value, place.dtype);
  });
}

function bindVariables(node: Node, signature: Signature, dtypes: ReadonlyMap<Value, DType>): Map<string, DType> {
  const bound = new Map<string, DType>();
  const bind = (value: Value | null, name: string | null): void => {
    const dtype = value && dtypes.get(value);
    if (dtype && name && !bound.has(name)) bound.set(name, dtype);
  };
  node.inputs.forEach((value, i) => {
    const place = signature.input(i);
    bind(value, place?.kind === "variable" ? place.name : null);
  });
  node.outputs.forEach((value, i) => {
    const place = signature.output(i);
    bind(value, place?.kind === "variable" ? place.name : null);
  });
  return bound;
}

/** Operators whose result type an attribute chooses: [attribute, what holds without it]. */
const chosen: Readonly<Record<string, readonly [attribute: string, absent: DType | "input"]>> = {
  Cast: ["to", "f32"],
  EyeLike: ["dtype", "input"],
  RandomNormal: ["dtype", "f32"],
  RandomUniform: ["dtype", "f32"],
  RandomNormalLike: ["dtype", "input"],
  RandomUniformLike: ["dtype", "input"],
  Bernoulli: ["dtype", "input"],
  Multinomial: ["dtype", "i32"],
  BlackmanWindow: ["output_datatype", "f32"],
  HammingWindow: ["output_datatype", "f32"],
  HannWindow: ["output_datatype", "f32"],
  MelWeightMatrix: ["output_datatype", "f32"],
  BitCast: ["to", "f32"],
};

/** The result type of an operator that says it by an attribute; null when it does not, or nothing tells. */
function chosenDtype(node: Node, dtypes: ReadonlyMap<Value, DType>): DType | null {
  if (node.is("ConstantOfShape") || node.is("Constant")) {
    const value = node.attributes.get("value");
    if (value?.type === "tensor") return value.value.dtype;
    return node.is("ConstantOfShape") ? "f32" : null;
  }
  if (node.is("QuantizeLinear")) return dtypeOfCode(node.int("output_dtype", 0)) ?? "u8";
  if (node.is("DequantizeLinear")) return dtypeOfCode(node.int("output_dtype", 0)) ?? dtypeAt(node, 1, dtypes);
  const [attribute, absent] = ownEntry(chosen, node.op) ?? [];
  if (!attribute) return null;
  const code = node.int(attribute, null);
  if (code !== null) return dtypeOfCode(code);
  return absent === "input" ? dtypeAt(node, 0, dtypes) : (absent ?? null);
}

function dtypeAt(node: Node, index: number, dtypes: ReadonlyMap<Value, DType>): DType | null {
  const value = node.inputs[index];
  return value ? (dtypes.get(value) ?? null) : null;
}

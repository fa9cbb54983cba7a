/**
 * Small changes to a graph that holds a pattern some pass looks for: another constant, another axis, one more reader.
 * Most leave a valid graph that the pass must decline, or rewrite differently; the runtime drops the rest.
 */
import { f32ToF16Bits } from "../../src/base/f16.js";
import {
  type Attribute,
  attr,
  type DType,
  type Graph,
  isFloat,
  type Model,
  type Node,
  nodesWithin,
  Tensor,
  type Use,
  type Value,
} from "../../src/ir/index.js";
import type { Chance } from "./chance.js";

export type Mutation = (model: Model, chance: Chance) => void;

const nodesOf = (model: Model): Node[] => [...nodesWithin(model.graph)];
const constantsOf = (model: Model): Value[] =>
  model.graph.constants.filter((value) => value.constant !== null && !value.uses.some(makesUpSizes));

/** Whether it says how often a Loop runs whose rows are of a size that nobody knows: of none the runtime makes that up. */
const makesUpSizes = (use: Use): boolean =>
  use.kind === "input" &&
  use.node.is("Loop") &&
  use.index < 2 &&
  use.node.outputs
    .slice(use.node.inputs.length - 2)
    .some((rows) => rows?.shape?.every((dim) => typeof dim === "number") !== true);

function replaceConstant(graph: Graph, old: Value, tensor: Tensor): void {
  const value = graph.addConstant(old.label, tensor);
  graph.replaceUses(old, value);
  graph.removeConstant(old);
}

function floatsOf(tensor: Tensor): number[] | null {
  if (tensor.dtype === "f64") return [...new Float64Array(Uint8Array.from(tensor.bytes()).buffer)];
  return tensor.toF32() ? Array.from(tensor.toF32()!) : null;
}

/** A tensor of reals of any of the three types. */
export function reals(dtype: DType, dims: readonly number[], values: readonly number[]): Tensor {
  if (dtype === "f64") return Tensor.ofArray("f64", dims, Float64Array.from(values));
  if (dtype === "f16")
    return Tensor.ofArray(
      "f16",
      dims,
      Uint16Array.from(values, (value) => f32ToF16Bits(value)),
    );
  return Tensor.f32(dims, values);
}

/** One element, or all of them, become something else. */
const otherValues: Mutation = (model, chance) => {
  const constants = constantsOf(model);
  if (constants.length === 0) return;
  const value = chance.pick(constants);
  const tensor = value.constant!;
  if (tensor.elementCount === 0) return;
  const at = chance.below(tensor.elementCount);
  const floats = floatsOf(tensor);
  if (floats) {
    const style = chance.below(5);
    if (style === 0) floats[at] = chance.pick([0, 1, -1, 2, 0.5, 3, 6, 1e-6, -0]);
    else if (style === 1) floats[at] = floats[at]! * chance.pick([1.01, -1, 0.5, 2, 1.1]);
    else if (style === 2) floats[at] = floats[at]! + chance.pick([1, -1, 0.01]);
    else if (style === 3) floats.fill(floats[at]!);
    else floats.fill(chance.pick([0, 1, 2]));
    replaceConstant(model.graph, value, reals(tensor.dtype, tensor.dims, floats));
  } else if (tensor.dtype === "i64") {
    const integers = tensor.bigints()!;
    const style = chance.below(4);
    if (style === 0) integers[at] = BigInt(chance.pick([0, 1, -1, 2, 3, -2]));
    else if (style === 1) integers[at] = integers[at]! + BigInt(chance.pick([1, -1]));
    else if (style === 2) integers[at] = -integers[at]!;
    else integers.splice(0, integers.length, ...chance.shuffled(integers));
    replaceConstant(model.graph, value, Tensor.i64(tensor.dims, integers));
  } else if (tensor.dtype === "bool") {
    const bytes = Uint8Array.from(tensor.bytes());
    bytes[at] = 1 - bytes[at]!;
    replaceConstant(model.graph, value, Tensor.fromBytes("bool", tensor.dims, bytes));
  }
};

/** The same elements under another shape. */
const otherRank: Mutation = (model, chance) => {
  const constants = constantsOf(model);
  if (constants.length === 0) return;
  const value = chance.pick(constants);
  const tensor = value.constant!;
  const { dims } = tensor;
  const ones = dims.filter((dim) => dim !== 1);
  const choices = [[1, ...dims], [...dims, 1], ones, [...dims, 1, 1], [...dims].reverse()];
  replaceConstant(model.graph, value, tensor.withDims(chance.pick(choices)));
};

/** A scalar becomes a vector along some dimension, or the other way round. */
const otherExtent: Mutation = (model, chance) => {
  const constants = constantsOf(model).filter(({ constant }) => isFloat(constant!.dtype));
  if (constants.length === 0) return;
  const value = chance.pick(constants);
  const tensor = value.constant!;
  const floats = floatsOf(tensor)!;
  const size = chance.pick([1, 2, 3, 4]);
  const dims =
    tensor.dims.length === 0 ? [size] : tensor.dims.map((dim, i) => (i === tensor.dims.length - 1 ? size : dim));
  const count = dims.reduce((product, dim) => product * dim, 1);
  const values = Array.from({ length: count }, (_, i) => floats[i % floats.length]! * (chance.one(0.5) ? 1 : 1.5));
  if (floats.length > 0) replaceConstant(model.graph, value, reals(tensor.dtype, dims, values));
};

/** What was constant is fed from outside. */
const constantToInput: Mutation = (model, chance) => {
  const constants = constantsOf(model);
  if (constants.length === 0) return;
  const value = chance.pick(constants);
  const input = model.graph.addInput(value.label, { dtype: value.dtype, shape: value.shape });
  model.graph.replaceUses(value, input);
  model.graph.removeConstant(value);
};

/** A second constant with the same bytes serves one of the readers. */
const duplicateConstant: Mutation = (model, chance) => {
  const shared = constantsOf(model).filter(({ useCount }) => useCount > 1);
  if (shared.length === 0) return;
  const value = chance.pick(shared);
  const use = chance.pick(value.uses);
  const twin = model.graph.addConstant(`${value.label}_twin`, value.constant!);
  if (use.kind === "input") use.node.graph.setInput(use.node, use.index, twin);
};

const words = [
  "SAME_UPPER",
  "SAME_LOWER",
  "VALID",
  "NOTSET",
  "tanh",
  "none",
  "constant",
  "reflect",
  "edge",
  "linear",
  "nearest",
];

const otherAttribute: Mutation = (model, chance) => {
  const sites = nodesOf(model).flatMap((node) =>
    [...node.attributes].map(([name, attribute]) => ({ node, name, attribute })),
  );
  if (sites.length === 0) return;
  const { node, name, attribute } = chance.pick(sites);
  const next = changed(attribute, chance);
  if (next === null) node.graph.removeAttribute(node, name);
  else if (next) node.graph.setAttribute(node, name, next);
};

/** null: without the attribute. undefined: it stays. */
function changed(attribute: Attribute, chance: Chance): Attribute | null | undefined {
  if (attribute.type.startsWith("graph")) return undefined;
  if (chance.one(0.3)) return null;
  switch (attribute.type) {
    case "int":
      return attr.int(chance.pick([attribute.value + 1n, attribute.value - 1n, -attribute.value, 0n, 1n]));
    case "ints": {
      const values = [...attribute.value];
      if (values.length === 0) return undefined;
      const at = chance.below(values.length);
      values[at] = values[at]! + BigInt(chance.pick([1, -1]));
      return attr.ints(chance.one(0.4) ? chance.shuffled(attribute.value) : values);
    }
    case "float":
      return attr.float(chance.pick([attribute.value * 1.05, 0, 1, -attribute.value, 0.5]));
    case "string":
      return attr.string(chance.pick(words));
    default:
      return undefined;
  }
}

const odd: Readonly<Record<string, () => Attribute>> = {
  keepdims: () => attr.int(0),
  axis: () => attr.int(-1),
  auto_pad: () => attr.string("SAME_UPPER"),
  group: () => attr.int(2),
  dilations: () => attr.ints([2, 2]),
  strides: () => attr.ints([2, 2]),
  pads: () => attr.ints([1, 1, 1, 1]),
  alpha: () => attr.float(0.5),
  beta: () => attr.float(0.5),
  transA: () => attr.int(1),
  transB: () => attr.int(1),
  epsilon: () => attr.float(0.1),
  noop_with_empty_axes: () => attr.int(1),
  approximate: () => attr.string("tanh"),
  allowzero: () => attr.int(1),
  stash_type: () => attr.int(1),
  start: () => attr.int(1),
  end: () => attr.int(-1),
  mode: () => attr.string("reflect"),
  is_causal: () => attr.int(1),
  softcap: () => attr.float(2),
  interleaved: () => attr.int(1),
};

const moreAttribute: Mutation = (model, chance) => {
  const nodes = nodesOf(model);
  if (nodes.length === 0) return;
  const node = chance.pick(nodes);
  const name = chance.pick(Object.keys(odd));
  if (!node.attributes.has(name)) node.graph.setAttribute(node, name, odd[name]!());
};

/** What is in the middle is also a result of the model. */
const outputInTheMiddle: Mutation = (model, chance) => {
  const values = [...model.graph.nodes()].flatMap(({ outputs }) => outputs.filter((output) => output !== null));
  const inner = values.filter((value) => !model.graph.outputs.some((port) => port.name === value.label));
  if (inner.length === 0) return;
  const value = chance.pick(inner);
  model.graph.addOutput(value.label, value);
};

/** One value behind two ports, a constant or an input behind a port. */
const oddOutput: Mutation = (model, chance) => {
  const { graph } = model;
  const value = chance.pick([...graph.outputs.map((port) => port.value), ...graph.constants, ...graph.inputs]);
  graph.addOutput(`odd${graph.outputs.length}`, value);
};

const anotherReader: Mutation = (model, chance) => {
  const nodes = [...model.graph.nodes()];
  if (nodes.length === 0) return;
  const { output } = chance.pick(nodes);
  const reader = model.graph.addNode({
    op: chance.pick(["Neg", "Abs", "Identity", "Shape"]),
    inputs: [output],
    outputs: [{ label: `reader${nodes.length}` }],
  });
  model.graph.addOutput(reader.output.label, reader.output);
};

const swapInputs: Mutation = (model, chance) => {
  const nodes = nodesOf(model).filter(({ inputs }) => inputs.length >= 2);
  if (nodes.length === 0) return;
  const node = chance.pick(nodes);
  const [a, b] = chance.shuffled([...node.inputs.keys()]);
  const [x, y] = [node.inputs[a!]!, node.inputs[b!]!];
  node.graph.setInput(node, a!, y);
  node.graph.setInput(node, b!, x);
};

const families = [
  ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"],
  ["Relu", "Sigmoid", "Tanh", "Erf", "Neg", "Abs", "Exp", "Identity", "Softplus", "HardSwish", "Sqrt"],
  ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare"],
  ["Conv", "ConvTranspose"],
  ["Softmax", "LogSoftmax", "Hardmax"],
  ["MaxPool", "AveragePool"],
  ["Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"],
  ["And", "Or", "Xor"],
];

/** A node is replaced by one of another operator with as many inputs. */
const otherOperator: Mutation = (model, chance) => {
  const nodes = nodesOf(model).filter((node) =>
    families.some((family) => node.domain === "" && family.includes(node.op)),
  );
  if (nodes.length === 0) return;
  const node = chance.pick(nodes);
  const op = chance.pick(families.find((family) => family.includes(node.op))!);
  const outputs = node.outputs.map((output) => output && { label: output.label });
  const next = node.graph.addNode({ op, inputs: node.inputs, attributes: node.attributes, outputs }, node);
  for (const [i, output] of node.outputs.entries()) if (output) node.graph.replaceUses(output, next.outputs[i]!);
  node.graph.removeNode(node);
};

/** Something harmless or harmful between a node and one of its inputs. */
const insertBetween: Mutation = (model, chance) => {
  const nodes = [...model.graph.nodes()].filter(({ inputs }) => inputs.some((input) => input !== null));
  if (nodes.length === 0) return;
  const node = chance.pick(nodes);
  const index = chance.pick([...node.inputs.keys()].filter((i) => node.inputs[i] !== null));
  const op = chance.pick(["Identity", "Identity", "Neg", "Cast", "Transpose", "Unsqueeze", "Relu"]);
  const input = node.inputs[index]!;
  const { graph } = model;
  const label = `between${node.inputs.length}${[...graph.nodes()].length}`;
  const to = { to: attr.int(chance.pick([1, 10, 11, 7])) };
  const made = graph.addNode(
    { op, inputs: [input], outputs: [{ label }], ...(op === "Cast" && { attributes: to }) },
    node,
  );
  if (op === "Unsqueeze") graph.setInput(made, 1, graph.addConstant(`${label}_axes`, Tensor.i64([1], [0])));
  graph.setInput(node, index, made.output);
};

/** A node reads another value that is there. */
const rewire: Mutation = (model, chance) => {
  const nodes = [...model.graph.nodes()];
  if (nodes.length === 0) return;
  const at = chance.below(nodes.length);
  const node = nodes[at]!;
  if (node.inputs.length === 0) return;
  const earlier = nodes.slice(0, at).flatMap(({ outputs }) => outputs.filter((output) => output !== null));
  const source = chance.pick([...earlier, ...model.graph.inputs]);
  model.graph.setInput(node, chance.below(node.inputs.length), source);
};

const dropOptionalInput: Mutation = (model, chance) => {
  const nodes = nodesOf(model).filter(({ inputs }) => inputs.length >= 2);
  if (nodes.length === 0) return;
  const node = chance.pick(nodes);
  node.graph.setInput(node, node.inputs.length - 1, null);
};

const otherInputShape: Mutation = (model, chance) => {
  const typed = model.graph.inputs.filter(({ type }) => type?.shape);
  if (typed.length === 0) return;
  const input = chance.pick(typed);
  const shape = [...input.type!.shape!];
  const style = chance.below(6);
  const at = chance.below(Math.max(shape.length, 1));
  if (style === 0 && shape.length > 0) shape[at] = chance.pick(["N", "M", "batch"]);
  else if (style === 1 && shape.length > 0) shape[at] = null;
  else if (style === 2 && shape.length > 0) shape[at] = chance.pick([1, 2, 3, 4]);
  else if (style === 3) shape.unshift(chance.pick([1, 2, "N"]));
  else if (style === 4) shape.shift();
  else if (shape.length > 0 && chance.one(0.3)) shape[at] = 0;
  input.type = { dtype: input.type!.dtype, shape };
};

/** Every float32 of the model becomes another real type. */
const otherReal: Mutation = (model, chance) => {
  const dtype = chance.pick<DType>(["f16", "f64"]);
  for (const input of model.graph.inputs) if (input.dtype === "f32") input.type = { dtype, shape: input.shape };
  for (const value of constantsOf(model)) {
    const tensor = value.constant!;
    if (tensor.dtype === "f32")
      replaceConstant(model.graph, value, reals(dtype, tensor.dims, Array.from(tensor.f32())));
  }
};

const duplicateNode: Mutation = (model, chance) => {
  const nodes = [...model.graph.nodes()].filter(({ bodies }) => bodies.length === 0);
  if (nodes.length === 0) return;
  const node = chance.pick(nodes);
  const outputs = node.outputs.map((output) => output && { label: `${output.label}_again` });
  const twin = model.graph.addNode(
    { op: node.op, domain: node.domain, inputs: node.inputs, attributes: node.attributes, outputs },
    node,
  );
  const use = chance.pick(node.output.uses.filter(({ kind }) => kind === "input"));
  if (use?.kind === "input") use.node.graph.setInput(use.node, use.index, twin.output);
  else model.graph.addOutput(twin.output.label, twin.output);
};

const unusedInput: Mutation = (model) => void model.graph.addInput("unused", { dtype: "f32", shape: [2] });

export const mutations: readonly Mutation[] = [
  ...[otherValues, otherValues, otherValues, otherRank, otherExtent, constantToInput, duplicateConstant],
  ...[otherAttribute, otherAttribute, moreAttribute, outputInTheMiddle, oddOutput, anotherReader, swapInputs],
  ...[otherOperator, insertBetween, rewire, dropOptionalInput, otherInputShape, otherInputShape, otherReal],
  ...[duplicateNode, unusedInput],
];

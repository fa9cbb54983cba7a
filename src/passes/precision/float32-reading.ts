/**
 * A model in half precision read as if it were in float32: its weights are those of the file, and everything is computed
 * in float32. Inputs and outputs keep their types, so that both readings take the same samples. Half precision rounds
 * wherever a runtime happens to put its Casts; what two models in half precision have in common is this.
 */
import {
  type Attribute,
  attr,
  type DType,
  dtypeCode,
  dtypeOfCode,
  graphsWithin,
  type Model,
  type Node,
  Tensor,
  type Value,
} from "../../ir/index.js";
import { dtypesOf } from "../../ops/dtypes.js";
import { isHalf, isHalfType, type Store } from "../../rewrite/index.js";

interface Reading {
  /** Inputs and weights are moved by up to what half precision rounds them by: what that does, half precision may do. */
  readonly isNoisy?: boolean;
  /** Where weights in float32 go, for a model that stays; without it they are where they were, and a Cast behind each widens it at run time. */
  readonly store?: Store;
}

/** Changes the model in place. */
export function readAsFloat32(model: Model, { isNoisy = false, store }: Reading = {}): void {
  const graphs = [...graphsWithin(model.graph)];
  const nodes = graphs.flatMap((graph) => [...graph.nodes()]);
  const dtypes = dtypesOf(model);
  const given = [...model.graph.outputs];
  for (const graph of graphs) {
    for (const value of [...graph.constants, ...graph.inputs].filter(isHalf)) {
      if (value.constant && store) widenConstant(value, store);
      else if (value.constant || graph === model.graph) widenBehind(value, isNoisy);
      else widenType(value);
    }
  }
  for (const node of nodes) {
    for (const output of node.outputs) if (output && isHalf(output)) widenType(output);
    for (const [name, attribute] of node.attributes) {
      const wider = widened(name, attribute);
      if (wider) node.graph.setAttribute(node, name, wider);
    }
  }
  for (const [i, { value, info }] of given.entries()) {
    const dtype = dtypes.get(value) ?? null;
    if (isHalfType(dtype)) model.graph.setOutput(i, value.producer ? cast(value, dtype, null).output : value, info);
  }
  for (const graph of graphs)
    for (const value of [...graph.constants].filter(isHalf)) if (value.useCount === 0) graph.removeConstant(value);
}

/** Half a unit in the last place of 1, in float16. */
const UNIT = 2 ** -11;

function widenType(value: Value): void {
  value.type = { dtype: "f32", shape: value.shape };
}

function cast(value: Value, to: DType, before: Node | null): Node {
  const outputs = [{ label: `${value.label}_${to}`, type: { dtype: to, shape: value.shape } }];
  return value.graph.addNode(
    { op: "Cast", inputs: [value], attributes: { to: attr.int(dtypeCode(to)) }, outputs },
    before,
  );
}

function widenConstant(value: Value, store: Store): void {
  const { dims, extras } = value.constant!;
  const wide = store(Tensor.f32(dims, value.constant!.toF32()!));
  const heir = value.graph.addConstant(value.label, Tensor.fromSource("f32", dims, wide.byteSource, extras));
  value.graph.replaceUses(value, heir);
}

function widenBehind(value: Value, isNoisy: boolean): void {
  const { graph, constant } = value;
  const before = graph.firstNode;
  const wide = cast(value, "f32", before);
  // Single numbers are mostly exact: axes of powers, sizes, a half.
  const heir = isNoisy && constant?.elementCount !== 1 ? noisy(wide.output, before) : wide.output;
  graph.replaceUses(value, heir, wide);
}

/** v * (1 + u * Sin(9973 * Atan(v))), u half a unit in the last place of 1: Atan, since weights may be infinite. */
function noisy(value: Value, before: Node | null): Value {
  const { graph } = value;
  const add = (op: string, inputs: Value[]): Value =>
    graph.addNode({ op, inputs, outputs: [{ label: `${value.label}_noise` }] }, before).output;
  const number = (each: number): Value => graph.addConstant("noise", Tensor.f32([], [each]));
  const phase = add("Sin", [add("Mul", [add("Atan", [value]), number(9973)])]);
  return add("Mul", [value, add("Add", [add("Mul", [phase, number(UNIT)]), number(1)])]);
}

/** Attributes that name the type of a result, and tensors of which one is made. */
const typeNames: ReadonlySet<string> = new Set(["dtype", "output_datatype", "output_dtype", "to"]);

function widened(name: string, attribute: Attribute): Attribute | null {
  if (attribute.type === "int")
    return typeNames.has(name) && isHalfType(dtypeOfCode(Number(attribute.value))) ? attr.int(dtypeCode("f32")) : null;
  if (attribute.type !== "tensor" || !isHalfType(attribute.value.dtype)) return null;
  return attr.tensor(Tensor.f32(attribute.value.dims, attribute.value.toF32()!));
}

/** What a conversion of one operator at one opset version looks like, and the few edits that most of them need. */
import { f32ToBf16Bits, f32ToF16Bits } from "../../base/f16.js";
import { type Attribute, type DType, type NewOutput, type Node, Tensor, type Value } from "../../ir/index.js";

export interface ConvertContext {
  /** The opset that the model will have in the end. */
  readonly target: number;
  /** The dtype of a value of the model as it was read; null when nothing tells. */
  readonly dtypeOf: (value: Value | null | undefined) => DType | null;
  /** Resize nodes made from Upsample, whose scales are at least 1 by definition. */
  readonly enlarging: Set<Node>;
}

export interface Converter {
  /** The opset version whose form of the operator `convert` leaves behind. */
  readonly at: number;
  /**
   * Why a node of the preceding form has no equal at `at`, or null. Asked of the model as it
   * was read, before anything is changed: it may look at types and attributes only.
   */
  readonly refuse?: (node: Node, context: ConvertContext) => string | null;
  /** Of a node in a function of the model, whose types nobody knows: whether the version may concern it; absent when always. */
  readonly concerns?: (int: (attribute: string) => number | null) => boolean;
  /** Changes a node of the form just before `at`; absent when what is not refused stays as it is. Must not throw. */
  readonly convert?: (node: Node, context: ConvertContext) => void;
}

/** Takes an attribute of integers off a node and returns it, all 64 bits. */
export function takeInts(node: Node, name: string): readonly bigint[] | null {
  const attribute = node.attributes.get(name);
  if (!attribute) return null;
  node.graph.removeAttribute(node, name);
  if (attribute.type === "int") return [attribute.value];
  return attribute.type === "ints" ? attribute.value : null;
}

/** Makes input `index` an int64 vector that the node alone reads. */
export function setIntsInput(node: Node, index: number, name: string, values: readonly (number | bigint)[]): void {
  node.graph.setInput(node, index, constantFor(node, name, Tensor.i64([values.length], values)));
}

/** Moves an attribute of integers to input `index`; does nothing when it is absent, or empty where that means the same. */
export function intsToInput(node: Node, attribute: string, index: number, emptyIsAbsent = false): void {
  const values = takeInts(node, attribute);
  if (values && !(emptyIsAbsent && values.length === 0)) setIntsInput(node, index, attribute, values);
}

export const constantFor = (node: Node, name: string, tensor: Tensor): Value =>
  node.graph.addConstant(`${node.displayName}/${name}`, tensor);

/** Scalars of these types can be written; others do not occur in what is converted. */
const scalarWriters: { readonly [D in DType]?: (value: number) => Tensor } = {
  f32: (value) => Tensor.f32([], [value]),
  f64: (value) => Tensor.ofArray("f64", [], Float64Array.of(value)),
  f16: (value) => Tensor.ofArray("f16", [], Uint16Array.of(f32ToF16Bits(value))),
  bf16: (value) => Tensor.ofArray("bf16", [], Uint16Array.of(f32ToBf16Bits(value))),
};

/** A floating scalar of the dtype, or null when it is not one of the usual floating types. */
export const floatScalar = (dtype: DType | null, value: number): Tensor | null =>
  (dtype && scalarWriters[dtype]?.(value)) ?? null;

export interface Addition {
  readonly op: string;
  readonly inputs: readonly (Value | null)[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Appended to the label of the node's output. */
  readonly suffix: string;
  readonly type?: NewOutput["type"];
}

/** Adds a node with one output directly before `node`, on its behalf. */
export function addBefore(node: Node, addition: Addition): Value {
  return addAt(node, node, addition);
}

/** Adds a node with one output directly after `node`, on its behalf. */
export function addAfter(node: Node, addition: Addition): Value {
  return addAt(node, node.next, addition);
}

function addAt(node: Node, before: Node | null, { op, inputs, attributes, suffix, type }: Addition): Value {
  return node.graph.addNode(
    {
      op,
      name: node.name && `${node.name}/${suffix}`,
      inputs,
      attributes: attributes ?? {},
      // A type without an element type is no type on the wire.
      outputs: [{ label: `${node.output.label}_${suffix}`, type: type?.dtype ? type : null }],
      provenance: node.provenance,
    },
    before,
  ).output;
}

/** Puts a node of another operator in the place of `node`: same name, same outputs, same readers. */
export function replaceOperator(
  node: Node,
  op: string,
  inputs: readonly (Value | null)[],
  attributes: Iterable<readonly [string, Attribute]>,
): Node {
  const successor = node.graph.addNode(
    {
      op,
      name: node.name,
      inputs,
      attributes,
      outputs: node.outputs.map((value) => value && { label: value.label, type: value.type }),
      provenance: node.provenance,
    },
    node,
  );
  successor.extras = node.extras;
  node.outputs.forEach((value, i) => {
    const heir = successor.outputs[i];
    if (!value || !heir) return;
    heir.info = value.info;
    node.graph.replaceUses(value, heir);
  });
  node.graph.removeNode(node);
  return successor;
}

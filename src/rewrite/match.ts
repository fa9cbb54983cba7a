/**
 * Questions about the neighbourhood of a node. None of them looks across the border
 * of a body, and an input that a caller can override is never a constant.
 */
import { type Dim, type Graph, type Node, soleReader, type Tensor, type Value } from "../ir/index.js";

import { textOf } from "../ops/attribute-text.js";

type MaybeValue = Value | null | undefined;

/** The producer of a value in `graph`, when it is the operator `op` of ai.onnx, or `domain::op`. */
export function producerOf(value: MaybeValue, op: string, graph: Graph): Node | null {
  const node = value?.producer;
  return node && node.graph === graph && node.opName === op && node.outputs[0] === value ? node : null;
}

/** The same, and nobody but one node of that graph reads the value: it goes when its reader goes. */
export function soleProducer(value: MaybeValue, op: string): Node | null {
  if (!value || soleReader(value) === null) return null;
  const node = producerOf(value, op, value.graph);
  // Other outputs (running statistics, masks, indices) would lose their producer.
  return node && readsOnlyFirst(node) ? node : null;
}

/** Whether nothing but the first output of a node is read. */
export const readsOnlyFirst = (node: Node): boolean =>
  node.outputs.every((output, i) => i === 0 || !output || output.useCount === 0);

/** What makes a value, also where it is seen through a Reshape. */
export const makerBehindView = ({ producer }: Value): Node | null =>
  producer?.is("Reshape") ? (producer.inputs[0]?.producer ?? null) : producer;

export const constantOf = (value: MaybeValue): Tensor | null => value?.constant ?? null;

/** Integers of a constant, or null; bounded, so that nobody expands a weight by mistake. */
export function constantIntegers(value: MaybeValue): number[] | null {
  const tensor = value?.constant;
  return tensor && tensor.elementCount <= 4096 ? tensor.integers() : null;
}

/** The element of a constant that has exactly one, whatever its rank; integers and floats alike. */
export function constantScalar(value: MaybeValue): number | null {
  const tensor = value?.constant;
  if (tensor?.elementCount !== 1) return null;
  return tensor.toF32()?.[0] ?? tensor.integers()?.[0] ?? null;
}

/** The same, where combining the constant with `other` leaves the shape of `other` as it is. */
export function scalarBeside(constant: MaybeValue, other: MaybeValue): number | null {
  const rank = constant?.shape?.length ?? Number.POSITIVE_INFINITY;
  return rank <= (other?.shape?.length ?? 0) ? constantScalar(constant) : null;
}

export const hasRank = (value: MaybeValue, rank: number): boolean => value?.shape?.length === rank;

/** Whether every element of a constant is `wanted`; -0.0 is not 0. */
export function equalsElementwise(value: MaybeValue, wanted: number): boolean {
  const tensor = value?.constant;
  if (!tensor || tensor.dtype === "string") return false;
  const floats = tensor.toF32();
  if (floats) return floats.every((element) => Object.is(element, wanted));
  return tensor.bigints()?.every((element) => element === BigInt(wanted)) ?? false;
}

/** Names that exporters give to every dimension that they do not know: two of them need not be equal. */
const vagueNames = new Set(["?", "-1", "None", "none", "unknown", "unk", "dynamic", "dyn", "*"]);

export const isVagueName = (name: string): boolean => vagueNames.has(name);

/** Same size for sure: equal numbers, or one name that stands for one size. */
export const isSameDim = (a: Dim | undefined, b: Dim | undefined): boolean =>
  a != null && a === b && !(typeof a === "string" && isVagueName(a));

/** Whether two values have the same shape in every run. */
export function hasSameShape(a: MaybeValue, b: MaybeValue): boolean {
  const [one, other] = [a?.shape, b?.shape];
  return !!one && one.length === other?.length && one.every((dim, i) => isSameDim(dim, other[i]));
}

/** Whether combining `small` with `big` by numpy broadcasting surely gives the shape of `big`. */
export function broadcastsTo(small: MaybeValue, big: MaybeValue): boolean {
  const from = small?.shape;
  const rank = big?.shape?.length;
  if (!from || rank === undefined || from.length > rank) return false;
  return from.every((dim, i) => dim === 1 || isSameDim(dim, big!.shape![rank - from.length + i]));
}

/** The two inputs of a node as [constant, other]; null unless exactly one is constant. */
export function splitConstant(node: Node): { constant: Value; other: Value; index: 0 | 1 } | null {
  const [a, b] = node.inputs;
  if (node.inputs.length !== 2 || !a || !b || !!a.constant === !!b.constant) return null;
  return a.constant ? { constant: a, other: b, index: 0 } : { constant: b, other: a, index: 1 };
}

/** The two inputs of a node in both orders; none where they are one value, or not two. */
export function inputOrders(node: Node | null | undefined): (readonly [Value, Value])[] {
  const [a, b, ...more] = node?.inputs ?? [];
  if (!a || !b || a === b || more.length > 0) return [];
  return [
    [a, b],
    [b, a],
  ];
}

export const isKnown = (dim: Dim | undefined): dim is number => typeof dim === "number";

/** Axes counted from the front; null when one is out of range or occurs twice. */
export function normalizeAxes(axes: readonly number[], rank: number): number[] | null {
  const normal = axes.map((axis) => (axis < 0 ? axis + rank : axis));
  return normal.every((axis) => axis >= 0 && axis < rank) && new Set(normal).size === normal.length ? normal : null;
}

/** Whether two nodes do the same to their first inputs: one operator, the same further inputs, equal plain attributes. */
export function isSameStep(a: Node, b: Node): boolean {
  if (a.opName !== b.opName || a.inputs.length !== b.inputs.length) return false;
  // Equal constants are one value by now.
  return a.inputs.slice(1).every((input, i) => input === b.inputs[i + 1]) && hasSameAttributes(a, b);
}

/** Whether two nodes have equal attributes, all of them plain. */
export const hasSameAttributes = (a: Node, b: Node): boolean =>
  a.attributes.size === b.attributes.size &&
  [...a.attributes].every(([name, attribute]) => {
    const other = b.attributes.get(name);
    const text = textOf(attribute);
    return other?.type === attribute.type && text !== null && text === textOf(other);
  });

/** The axes that a node names, by an input or, in older opsets, by an attribute; null when it names none or they are computed. */
export const givenAxes = (node: Node, input = 1): readonly number[] | null =>
  node.inputs[input] ? constantIntegers(node.inputs[input]) : node.ints("axes");

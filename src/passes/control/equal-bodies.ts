/** Whether two bodies do the same: the same pure nodes in the same order, on the same values. */
import type { Attribute, Graph, Node, Value } from "../../ir/index.js";
import { textOf } from "../../ops/attribute-text.js";
import { isPure } from "../../ops/facts.js";

/** Above, constants are compared by where they are. */
const LARGEST_BYTES = 4096;

/** Values of the first body and what stands for each in the second. */
type Pairs = Map<Value, Value>;

export function doTheSame(a: Graph, b: Graph): boolean {
  return areEqual(a, b, new Map());
}

/** Whether two nodes of different bodies do the same with values that both of them see, and with equal constants. */
export const doTheSameHere = (a: Node, b: Node): boolean => areEqualNodes(a, b, new Map());

/** The same operator with the same attributes, whatever its inputs are. */
export const areAlike = (a: Node, b: Node): boolean =>
  a.opName === b.opName && a.inputs.length === b.inputs.length && isPure(a) && haveEqualAttributes(a, b, new Map());

/** One value, or two constants of the same type, shape and bytes. */
export const areEqualValues = (a: Value | null, b: Value | null): boolean => isSame(a, b, new Map());

function areEqual(a: Graph, b: Graph, pairs: Pairs): boolean {
  if (a.inputs.length !== b.inputs.length || a.nodeCount !== b.nodeCount || a.outputs.length !== b.outputs.length)
    return false;
  a.inputs.forEach((input, i) => void pairs.set(input, b.inputs[i]!));
  const others = b.nodes();
  for (const node of a.nodes()) {
    const other = others.next().value;
    if (!other || !areEqualNodes(node, other, pairs)) return false;
  }
  return a.outputs.every(({ value }, i) => isSame(value, b.outputs[i]!.value, pairs));
}

function areEqualNodes(a: Node, b: Node, pairs: Pairs): boolean {
  if (a.opName !== b.opName || !isPure(a) || a.outputs.length !== b.outputs.length) return false;
  if (a.inputs.length !== b.inputs.length || !a.inputs.every((value, i) => isSame(value, b.inputs[i]!, pairs)))
    return false;
  if (!haveEqualAttributes(a, b, pairs)) return false;
  return a.outputs.every((output, i) => {
    const other = b.outputs[i] ?? null;
    if (output && other) pairs.set(output, other);
    return (output === null) === (other === null);
  });
}

function haveEqualAttributes(a: Node, b: Node, pairs: Pairs): boolean {
  if (a.attributes.size !== b.attributes.size) return false;
  return [...a.attributes].every(([name, attribute]) => {
    const other = b.attributes.get(name);
    return other !== undefined && areEqualAttributes(attribute, other, pairs);
  });
}

function areEqualAttributes(a: Attribute, b: Attribute, pairs: Pairs): boolean {
  if (a.type === "graph" && b.type === "graph") return areEqual(a.value, b.value, pairs);
  const text = textOf(a);
  return a.type === b.type && text !== null && text === textOf(b);
}

function isSame(a: Value | null, b: Value | null, pairs: Pairs): boolean {
  if (!a || !b) return a === b;
  if (a === b || pairs.get(a) === b) return true;
  const [one, other] = [a.constant, b.constant];
  if (!one || !other || one.dtype !== other.dtype || one.dims.join() !== other.dims.join()) return false;
  if (one === other) return true;
  // Large ones that are equal are one already: eliminate-duplicate-constant has seen to it.
  if (one.dtype === "string" || one.byteLength > LARGEST_BYTES) return false;
  return Buffer.compare(one.bytes(), other.bytes()) === 0;
}

/**
 * A sequence whose elements are known is no sequence:
 *
 *   SequenceAt(SequenceConstruct(a, b), 1)               =>   b
 *   ConcatFromSequence<axis=0>(SequenceConstruct(a, b))  =>   Concat<axis=0>(a, b)
 *   SequenceLength(SequenceInsert(s, a))                 =>   2, for an s of one element
 *
 * and an optional that is surely there is its element.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers } from "../../rewrite/match.js";

export const eliminateSequence = defineRewrite({
  name: "eliminate-sequence",
  summary: "Read elements of a sequence where they come from when it is known what it holds",
  numerics: "exact",
  revealsTypes: "for the next round",
  roots: ["SequenceAt", "ConcatFromSequence", "SequenceLength", "OptionalGetElement"],
  rewrite(root, { create, constant }) {
    if (root.is("OptionalGetElement")) return elementOfOptional(root);
    const elements = elementsOf(root.inputs[0]);
    if (!elements) return null;
    if (root.is("SequenceLength")) return constant(root.output.label, Tensor.i64([], [elements.length]));
    if (root.is("SequenceAt")) {
      const index = indexOf(root.inputs[1], elements.length);
      const element = index === null ? null : elements[index];
      return element && isFree(root, element) ? element : null;
    }
    const axis = root.int("axis", null);
    if (axis === null || elements.length === 0) return null;
    if (root.int("new_axis", 0) === 0) return create("Concat", elements, { axis: attr.int(axis) });
    return null;
  },
});

/** What a sequence holds, in order; null when that is not known before it runs. */
function elementsOf(value: Value | null | undefined): readonly Value[] | null {
  const node = value?.producer;
  if (node?.domain !== "") return null;
  switch (node.op) {
    case "SequenceEmpty":
      return [];
    case "Identity":
      return elementsOf(node.inputs[0]);
    case "SequenceConstruct":
      return node.inputs.every((input) => input !== null) ? (node.inputs as Value[]) : null;
    case "SequenceInsert": {
      const elements = elementsOf(node.inputs[0]);
      const tensor = node.inputs[1];
      // A position of -1 is before the last one; none is behind it.
      const at = node.inputs[2] ? indexOf(node.inputs[2], elements?.length ?? 0, 1) : (elements?.length ?? null);
      return elements && tensor && at !== null ? [...elements.slice(0, at), tensor, ...elements.slice(at)] : null;
    }
    case "SequenceErase": {
      const elements = elementsOf(node.inputs[0]);
      if (!elements) return null;
      const at = node.inputs[1] ? indexOf(node.inputs[1], elements.length) : elements.length - 1;
      return at === null || at < 0 ? null : elements.filter((_, i) => i !== at);
    }
    default:
      return null;
  }
}

/** A constant position counted from the front, if there is such a place; `beyond` more are allowed at the end. */
function indexOf(value: Value | null | undefined, length: number, beyond = 0): number | null {
  const [given, ...more] = constantIntegers(value) ?? [];
  if (given === undefined || more.length > 0) return null;
  const index = given < 0 ? given + length : given;
  return index >= 0 && index < length + beyond ? index : null;
}

function elementOfOptional(node: Node): Value | null {
  const optional = node.inputs[0];
  const source = optional?.producer?.is("Optional") ? optional.producer.inputs[0] : null;
  return source && isFree(node, source) ? source : null;
}

/** A public output cannot be an input's, an outer or another output's value. */
function isFree(root: Node, value: Value): boolean {
  const isPort = root.output.isGraphOutput;
  if (!isPort) return true;
  return !value.isGraphInput && value.graph === root.graph && !value.isGraphOutput;
}

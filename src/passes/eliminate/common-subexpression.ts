/**
 * Two pure nodes of one graph with the same operator, attributes and inputs give the
 * same values: readers of the second read the first. Not across bodies, so that
 * nothing is computed where it was not before.
 */
import { type Graph, graphsWithin, type Node, type Value } from "../../ir/index.js";
import { textOf } from "../../ops/attribute-text.js";
import { familyOf, isCommutative, isPure } from "../../ops/facts.js";
import { defineGraphPass, type GraphPassContext, removeWithFeeders } from "../../rewrite/index.js";

export const eliminateCommonSubexpression = defineGraphPass({
  name: "eliminate-common-subexpression",
  summary: "Compute once what several nodes compute alike",
  numerics: "exact",
  run(context) {
    const numbers = new Map<Value, number>();
    const numberOf = (value: Value): number => {
      if (!numbers.has(value)) numbers.set(value, numbers.size);
      return numbers.get(value)!;
    };
    for (const graph of graphsWithin(context.model.graph)) mergeWithin(graph, numberOf, context);
  },
});

function mergeWithin(graph: Graph, numberOf: (value: Value) => number, context: GraphPassContext): void {
  const seen = new Map<string, Node>();
  for (const node of graph.nodes()) {
    const key = keyOf(node, numberOf);
    if (key === null) continue;
    const first = seen.get(key);
    if (!first) seen.set(key, node);
    else if (canStandIn(first, node) && context.claim(node.displayName)) standIn(first, node);
  }
}

/** Equal for two nodes that surely compute the same; null for nodes that must not be merged. */
function keyOf(node: Node, numberOf: (value: Value) => number): string | null {
  if (!isPure(node) || node.bodies.length > 0) return null;
  const inputs = node.inputs.map((value) => (value ? (scalarKey(node, value) ?? String(numberOf(value))) : ""));
  // Three and more are added from the left: another order would round otherwise.
  if (isCommutative(node) && inputs.length === 2) inputs.sort();
  const attributes: string[] = [];
  for (const [name, attribute] of node.attributes) {
    const text = textOf(attribute);
    if (text === null) return null;
    attributes.push(`${name}=${text}`);
  }
  // A Split may say by its outputs alone how many parts it makes.
  return [node.op, node.outputs.length, inputs.join(), ...attributes.sort()].join("\n");
}

/** A constant of one element is the same operand in any of its shapes that leaves the rank to another input. */
function scalarKey(node: Node, value: Value): string | null {
  const tensor = value.constant;
  if (tensor?.elementCount !== 1 || tensor.dtype === "string" || familyOf(node) !== "broadcasting") return null;
  const ranks = node.inputs.map((input) => (input && input !== value ? (input.shape?.length ?? -1) : -1));
  if (Math.max(...ranks) < Math.max(tensor.dims.length, 1) || node.attributes.has("axis")) return null;
  return `${tensor.dtype}:${Buffer.from(tensor.bytes()).toString("hex")}`;
}

function canStandIn(first: Node, second: Node): boolean {
  return second.outputs.every((output, i) => {
    if (!output || output.useCount === 0) return true;
    const other = first.outputs[i];
    // One value behind two outputs needs an Identity again: nothing would be won.
    return !!other && !(output.isGraphOutput && other.isGraphOutput);
  });
}

function standIn(first: Node, second: Node): void {
  second.outputs.forEach((output, i) => {
    const other = first.outputs[i];
    if (!output || !other) return;
    if (output.isGraphOutput) other.type = output.type ?? other.type;
    else other.type ??= output.type;
    first.graph.replaceUses(output, other);
  });
  first.standFor([first, second]);
  removeWithFeeders(second);
}

/**
 * What a person expects to be fused, or folded, or removed, told by an operator and its
 * neighbourhood; and the words for what stands around a node. Reasons name operators, never
 * nodes, so that equal ones make one group; names go into the detail.
 */
import type { Model, Node, Value } from "../../ir/index.js";

export interface Finding {
  /** Why it stays; a pass that said so itself at the node, or at one of the parts, is believed before this. */
  readonly reason: string;
  /** Names: who else reads it, what feeds it. */
  readonly detail?: string | undefined;
  /** The pass it is expected of, where that is not the first of the expectation. */
  readonly pass?: string | undefined;
  /** The flag that would change it. */
  readonly help?: string | undefined;
  /** The other nodes of the same attempt: none of them is listed again. */
  readonly parts?: readonly Node[];
}

export interface Expectation {
  /** Operators that a look is worth at, one node for each attempt. */
  readonly ops: readonly string[] | "*";
  /** Passes of which it is expected, likeliest first; none where no pass does it. */
  readonly passes: readonly string[];
  /** null: nobody would expect this node to go. */
  readonly look: (node: Node, scene: Scene) => Finding | null;
}

export interface Scene {
  readonly model: Model;
  readonly opset: number;
}

/** Nodes of the same graph that read a value, each once. */
export function readersOf(value: Value): readonly Node[] {
  const nodes = value.uses.flatMap((use) => (use.kind === "input" && use.node.graph === value.graph ? [use.node] : []));
  return [...new Set(nodes)];
}

/** Who reads a value besides a node of its graph, by name; null when nobody does. */
export function alsoReadBy(value: Value, reader: Node): string | null {
  const others = value.uses.flatMap((use) => {
    if (use.kind === "output") return [`the output ${value.label}`];
    if (use.node === reader) return [];
    return [use.node.graph === value.graph ? titleOf(use.node) : `${titleOf(use.node)} inside a body`];
  });
  return others.length === 0
    ? null
    : `${[...new Set(others)].slice(0, 3).join(", ")} read${others.length === 1 ? "s" : ""} it too`;
}

export const titleOf = (node: Node): string => `${node.opName} ${node.displayName}`;

/** What makes a value, as an operator or in words. */
export function makerOf(value: Value | null | undefined): string {
  if (!value) return "nothing";
  if (value.producer) return article(value.producer.opName);
  return value.constant ? "a constant" : "an input of the graph";
}

/** What reads a value, operators each once. */
export function readerOps(value: Value): string {
  const ops = [...new Set(readersOf(value).map(({ opName }) => opName))].sort();
  if (value.isGraphOutput) ops.push("an output of the graph");
  return ops.length === 0 ? "a body" : ops.slice(0, 3).join(", ");
}

const article = (op: string): string => `${/^[AEIOU]/.test(op) ? "an" : "a"} ${op}`;

/** The producer of a value in the graph of its reader; null for inputs, constants, and across the border of a body. */
export function feederOf(node: Node, index: number): Node | null {
  const producer = node.inputs[index]?.producer;
  return producer?.graph === node.graph ? producer : null;
}

/** Nodes of some operators that follow a node, in breadth and at most so many steps away. */
export function following(node: Node, ops: ReadonlySet<string>, steps: number): readonly Node[] {
  const found = new Set<Node>();
  let edge = [node];
  for (let step = 0; step < steps; step++) {
    edge = edge
      .flatMap(({ outputs }) => outputs.flatMap((output) => (output ? readersOf(output) : [])))
      .filter((each) => each.domain === "" && ops.has(each.op) && !found.has(each));
    for (const each of edge) found.add(each);
  }
  return [...found];
}

/** The same against the flow; not past a product of two computed factors. */
export function preceding(node: Node, ops: ReadonlySet<string>, steps: number): readonly Node[] {
  const found = new Set<Node>();
  let edge = [node];
  for (let step = 0; step < steps; step++) {
    edge = edge
      .flatMap((each) => (each.op === "MatMul" ? [] : each.inputs.map((_, i) => feederOf(each, i))))
      .filter((each): each is Node => each?.domain === "" && ops.has(each.op) && !found.has(each));
    for (const each of edge) found.add(each);
  }
  return [...found];
}

/**
 * Which layers of a pruned net are fitted, to what, and in which order. A layer that reads what it read before is right
 * as it is. All others are to make what they made in the original; of a residual sum, the operand that is computed later
 * makes up for what became of the other:
 *
 *   target of the later operand = sum in the original - other operand in the pruned net
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import { valuesRead } from "../../rewrite/index.js";
import { isLinear, type LinearLayer, linearLayer } from "./linear-layers.js";
import type { NetPair } from "./net-pair.js";

export interface FitTask {
  readonly node: Node;
  readonly name: string;
  /** Of the original. */
  readonly target: Value;
  readonly keptOutputs: Int32Array | null;
  /** Of the pruned net, where it is taken from the target. */
  readonly minus: Value | null;
}

export interface Unfitted {
  readonly node: string;
  readonly reason: string;
}

/** In execution order. A layer is described anew when its turn comes: see `linearLayer`. */
export function fitTasks(pair: NetPair): {
  readonly tasks: readonly FitTask[];
  readonly unfitted: readonly Unfitted[];
} {
  const { graph } = pair.sliced.model;
  const order = new Map([...graph.nodes()].map((node, i) => [node, i]));
  const tasks: FitTask[] = [];
  const unfitted: Unfitted[] = [];
  for (const node of graph.nodes()) {
    if (!isLinear(node)) continue;
    const [input, weight] = node.inputs;
    // Products of two activations have no weights to fit.
    if (!input || !weight?.constant || (pair.readsSame(node, 0) && !pair.changing.has(node))) continue;
    const layer = linearLayer(node);
    const made = "reason" in layer ? layer : taskOf(layer, pair, order);
    if ("reason" in made) unfitted.push({ node: node.displayName, reason: made.reason });
    else tasks.push(made);
  }
  return { tasks, unfitted };
}

function taskOf(
  layer: LinearLayer,
  pair: NetPair,
  order: ReadonlyMap<Node, number>,
): FitTask | { readonly reason: string } {
  const own = pair.originalOf(layer.output);
  if (!own) return { reason: "pruning has put something else in its place" };
  const channels = layer.groups * layer.outputs;
  const size = own.shape?.[layer.axis];
  if (typeof size !== "number") return { reason: "the number of its channels is unknown" };
  const keptOutputs = pair.keptAlong(own, layer.axis, size);
  if ((keptOutputs?.length ?? size) !== channels) return { reason: "its channels could not be found again" };
  const residual = residualOf(layer, own, pair, order);
  const { node } = layer;
  return { node, name: node.displayName, target: residual?.sum ?? own, keptOutputs, minus: residual?.other ?? null };
}

function residualOf(
  { output, node }: LinearLayer,
  own: Value,
  pair: NetPair,
  order: ReadonlyMap<Node, number>,
): { readonly sum: Value; readonly other: Value } | null {
  const add = soleReader(output);
  if (!add?.is("Add")) return null;
  const other = add.inputs.find((value) => value !== output);
  if (!other || other.constant || !isSameShape(other, output) || !isSameShape(other, add.output)) return null;
  const position = other.producer ? (order.get(other.producer) ?? Number.POSITIVE_INFINITY) : -1;
  const sum = pair.originalOf(add.output);
  const originalOther = pair.originalOf(other);
  if (position > order.get(node)! || !sum || !originalOther || pair.nodeBefore(add) !== soleReader(own)) return null;
  return { sum, other };
}

/** As far as is known, so that nothing is repeated along an axis. */
function isSameShape({ shape: a }: Value, { shape: b }: Value): boolean {
  return a !== null && b !== null && a.length === b.length && a.every((dim, i) => dim !== null && dim === b[i]);
}

/** Of layers that wait, those whose input depends on no other that waits. */
export function readyTasks(pair: NetPair, waiting: readonly FitTask[]): readonly FitTask[] {
  const pending = new Set(waiting.map(({ node }) => node));
  const blocked = new Set<Value>();
  for (const node of pair.sliced.model.graph.nodes()) {
    // What bodies read from outside counts as read.
    const isBlocked = pending.has(node) || readsAny(node, blocked);
    if (isBlocked) for (const value of node.outputs) if (value) blocked.add(value);
  }
  return waiting.filter(({ node, minus }) => !blocked.has(node.inputs[0]!) && !(minus && blocked.has(minus)));
}

function readsAny(node: Node, values: ReadonlySet<Value>): boolean {
  if (node.inputs.some((value) => value && values.has(value))) return true;
  return node.bodies.length > 0 && [...valuesRead(node)].some((value) => values.has(value));
}

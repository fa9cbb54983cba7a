/** Reverse-mode differentiation over a graph: adds the nodes that compute gradients, and gives them by value. */
import type { Graph, Node, Value } from "../../ir/index.js";
import { type Formula, NoGradient } from "./formula.js";
import { Site } from "./gradient-rule.js";
import { gradientRules } from "./gradients/index.js";

export interface Gradients {
  /** Of those asked for that the seeds depend on by operators with a rule. */
  readonly gradients: ReadonlyMap<Value, Value>;
  /** Nodes that no gradient passes, and why: what lies before them learns only by other ways, if any. */
  readonly blocked: ReadonlyMap<Node, string>;
}

/**
 * @param seeds gradients of values of the graph, each of that value's sizes
 * @param wanted values whose gradients are asked for
 */
export function backpropagate(
  graph: Graph,
  seeds: ReadonlyMap<Value, Value>,
  wanted: ReadonlySet<Value>,
  f: Formula,
): Gradients {
  // The formula adds to the end of the graph while we walk.
  const forward = [...graph.nodes()];
  const depending = dependents(forward, wanted);
  const parts = new Map<Value, Value[]>([...seeds].map(([value, seed]) => [value, [seed]]));
  const blocked = new Map<Node, string>();
  for (const node of forward.reverse()) {
    const inputs = new Set(node.inputs.flatMap((value, i) => (value && depending.has(value) ? [i] : [])));
    if (inputs.size === 0) continue;
    const incoming = node.outputs.map((output) => (output ? totalOf(f, parts, output) : null));
    if (incoming.every((each) => each === null)) continue;
    try {
      const rule = node.domain === "" ? gradientRules.get(node.op) : undefined;
      if (!rule) throw new NoGradient(`${node.opName} has no gradient here`);
      const found = rule(new Site(node, f, incoming, inputs));
      for (const i of inputs) {
        const [value, gradient] = [node.inputs[i]!, found[i]];
        if (gradient) parts.set(value, [...(parts.get(value) ?? []), gradient]);
      }
    } catch (reason) {
      if (!(reason instanceof NoGradient)) throw reason;
      blocked.set(node, reason.message);
    }
  }
  const gradients = new Map<Value, Value>();
  for (const value of wanted) {
    const total = totalOf(f, parts, value);
    if (total) gradients.set(value, total);
  }
  return { gradients, blocked };
}

/** What has been found of a value's gradient, added up; null when nothing was. */
function totalOf(f: Formula, parts: Map<Value, Value[]>, value: Value): Value | null {
  const found = parts.get(value);
  if (!found) return null;
  const total = found.length === 1 ? found[0]! : f.op("Sum", found);
  parts.set(value, [total]);
  return total;
}

/** The wanted values and all that is computed from them in float32. */
function dependents(nodes: readonly Node[], wanted: ReadonlySet<Value>): ReadonlySet<Value> {
  const reached = new Set(wanted);
  for (const node of nodes) {
    if (!node.inputs.some((value) => value && reached.has(value))) continue;
    for (const output of node.outputs) if (output && output.dtype === "f32") reached.add(output);
  }
  return reached;
}

/**
 * Nodes of two forms of a model side by side. Rewrites give their results the names of what they replace, and so does the
 * runtime: tensors of one name in both files are the same, also where one is integers and the other float, and the nodes
 * between them belong together. A node belongs to the nearest such tensor that it leads to, its own result first; one that
 * leads to none, to the end of the graph.
 */
import { type Model, type Node, nodesWithin, type Value } from "../../ir/index.js";
import type { ProfiledStep } from "../../runtime/node-profile.js";
import { withoutBlocks } from "../output/written-name.js";
import type { ExecutedGraph } from "./executed-graph.js";
import type { ComparedPart } from "./profile-facts.js";

export interface TimedGraph extends ExecutedGraph {
  readonly steps: readonly ProfiledStep[];
  /** The model as its file has it: the names that the runtime makes up are not in there. */
  readonly file: Model;
}

/** Every step of both is in one part; the parts' times add up to those of the models. The greatest change first. */
export function compareNodes(before: TimedGraph, after: TimedGraph): ComparedPart[] {
  const [tensorBefore, tensorAfter] = [namedTensors(before.file), namedTensors(after.file)];
  const [old, now] = [made(before, tensorBefore), made(after, tensorAfter)];
  const common = new Set([...old].filter((name) => now.has(name)));
  const parts = new Map<string, { before: string[]; after: string[]; beforeMs: number; afterMs: number }>();
  const add = (graph: TimedGraph, tensorOf: TensorOf, side: "before" | "after"): void => {
    const leadsTo = leading((label) => {
      const name = tensorOf(label);
      return name !== null && common.has(name) ? name : null;
    });
    for (const [i, step] of graph.steps.entries()) {
      const node = graph.nodes[i];
      const value = (node && leadsTo(node)) ?? END;
      const part = parts.get(value) ?? { before: [], after: [], beforeMs: 0, afterMs: 0 };
      part[side].push(step.name || step.op);
      part[`${side}Ms`] += step.leastMs;
      parts.set(value, part);
    }
  };
  add(before, tensorBefore, "before");
  add(after, tensorAfter, "after");
  return [...parts]
    .map(([value, part]) => ({ value, ...part }))
    .sort((a, b) => Math.abs(b.afterMs - b.beforeMs) - Math.abs(a.afterMs - a.beforeMs));
}

/** What is not in front of any tensor of both. */
const END = "";

/** The tensor of the file that a label of the executed graph means; null for one that the runtime made up. */
type TensorOf = (label: string) => string | null;

/** The tensor of the file that a label means: conversions between integers and float do not make another. */
export function namedTensors({ graph }: Model): TensorOf {
  const meant = new Map<string, string>();
  for (const node of nodesWithin(graph)) {
    for (const value of node.outputs) {
      if (!value) continue;
      const source = node.is("QuantizeLinear") || node.is("DequantizeLinear") ? node.inputs[0] : null;
      // Constants have no node, and integers of them are nobody's result.
      meant.set(value.label, (source && meant.get(source.label)) ?? source?.label ?? value.label);
    }
  }
  // In the runtime's blocked layout a tensor has this behind its name.
  return (label) => meant.get(label) ?? meant.get(withoutBlocks(label)) ?? null;
}

const made = ({ nodes }: TimedGraph, tensorOf: TensorOf): Set<string> =>
  new Set(nodes.flatMap((node) => node?.outputs.flatMap((value) => (value && tensorOf(value.label)) ?? []) ?? []));

/** For each node the nearest tensor that it leads to, of those that `commonTensor` knows. */
export function leading(commonTensor: TensorOf): (node: Node) => string | null {
  const known = new Map<Node, string | null>();
  const readers = (value: Value): Node[] => value.uses.flatMap((use) => (use.kind === "input" ? [use.node] : []));
  return function leadsTo(node: Node): string | null {
    const found = known.get(node);
    if (found !== undefined) return found;
    const seen = new Set<Node>([node]);
    let value: string | null = null;
    for (let level: Node[] = [node]; level.length > 0 && value === null; ) {
      const next: Node[] = [];
      for (const each of level) {
        for (const output of each.outputs) {
          if (!output) continue;
          value ??= commonTensor(output.label);
          for (const reader of readers(output)) {
            if (!seen.has(reader)) next.push(reader);
            seen.add(reader);
          }
        }
        if (value !== null) break;
      }
      level = next;
    }
    // What is in a body leads on from the node that owns it.
    const owner = node.graph.owner;
    value ??= owner ? leadsTo(owner) : null;
    known.set(node, value);
    return value;
  };
}

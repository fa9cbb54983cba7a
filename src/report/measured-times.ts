/**
 * Milliseconds of the nodes of a graph in its own model and in the other one. Nodes that belong together in both share what
 * they took there: each has its part of it by what it takes in its own model, so that all of them add up to the whole.
 */
import type { GraphFacts } from "../pipeline/inspect/graph-facts.js";
import type { ExecutedNodes } from "../pipeline/profile/executed-nodes.js";
import type { RunResult } from "../pipeline/result.js";

export interface MeasuredTimes {
  /** An entry for each node of the graph; of a node that was fused into others 0. */
  readonly own: readonly number[];
  /** null where the other model was not profiled, or where nothing tells what belongs together. */
  readonly other: readonly number[] | null;
  /** "" for a node that nothing was executed for. */
  readonly providers: readonly string[];
}

/** null where that model was not profiled. */
export function measuredTimes({ graphs, executed }: RunResult, side: "before" | "after"): MeasuredTimes | null {
  const graph = graphs?.[side];
  const nodes = executed?.[side];
  if (!graph || !nodes) return null;
  const otherSide = side === "before" ? "after" : "before";
  const [otherGraph, otherNodes] = [graphs[otherSide], executed[otherSide]];
  const own = timesOf(graph, nodes);
  const at = new Map(nodes.nodes.map((node, i) => [node, i]));
  return {
    own,
    other:
      otherGraph && otherNodes ? shared(graph, own, byPart(otherGraph.parts, timesOf(otherGraph, otherNodes))) : null,
    providers: graph.nodes.map((node) => nodes.providers[at.get(node) ?? -1] ?? ""),
  };
}

function timesOf(graph: GraphFacts, { nodes, ms }: ExecutedNodes): number[] {
  const times = new Map(nodes.map((node, i) => [node, ms[i]!]));
  return graph.nodes.map((node) => {
    const found = times.get(node) ?? 0;
    // Names may stand there twice: what they took is counted once.
    times.delete(node);
    return found;
  });
}

function byPart(parts: readonly number[], times: readonly number[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const [i, part] of parts.entries()) sums.set(part, (sums.get(part) ?? 0) + times[i]!);
  return sums;
}

/** What is of no part has no counterpart, and took nothing there. */
function shared({ parts }: GraphFacts, own: readonly number[], there: ReadonlyMap<number, number>): number[] {
  const here = byPart(parts, own);
  const members = byPart(
    parts,
    own.map(() => 1),
  );
  return parts.map((part, i) => {
    const whole = part > 0 ? (there.get(part) ?? 0) : 0;
    const sum = here.get(part)!;
    return sum > 0 ? (whole * own[i]!) / sum : whole / members.get(part)!;
  });
}

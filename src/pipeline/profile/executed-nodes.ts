/**
 * What each node of a model's file took and where it ran. The runtime executes others: it fuses them, converts their layout,
 * and gives what it makes names of its own. A step belongs to the node that makes the nearest tensor of the file that the
 * step leads to, so that the times of the nodes add up to those of the steps; a kernel that several were fused into, to the
 * one that it is named after: a Conv with its Relu takes the time of a Conv, in float as on integers.
 */
import { type Model, type Node, nodesWithin } from "../../ir/index.js";
import type { PlacedStep } from "../../runtime/port.js";
import { shortName } from "../short-name.js";
import { stepNodes } from "./executed-graph.js";
import { leading, namedTensors } from "./match-nodes.js";

export interface ExecutedFacts {
  /** null where it was not profiled, or where nothing tells which nodes the steps belong to. */
  readonly before: ExecutedNodes | null;
  readonly after: ExecutedNodes | null;
}

/** An entry in each list for each node of the file that something was executed for, in execution order. */
export interface ExecutedNodes {
  readonly nodes: readonly string[];
  /** In the run in which each step took least. */
  readonly ms: readonly number[];
  /** Where most of its time passed. */
  readonly providers: readonly string[];
  /** What belongs to no node of the file, in milliseconds. */
  readonly elsewhereMs: number;
}

/** @param executed the graph that the runtime made of the file; null where it could not be written, and names have to tell */
export function executedNodes(file: Model, executed: Model | null, steps: readonly PlacedStep[]): ExecutedNodes {
  const ownerOf = owners(file, executed, steps);
  const found = new Map<string, { ms: number; byProvider: Map<string, number> }>();
  let elsewhereMs = 0;
  for (const [i, { ms, provider }] of steps.entries()) {
    const owner = ownerOf(i);
    if (!owner) {
      elsewhereMs += ms;
      continue;
    }
    const name = shortName(owner.displayName);
    const sum = found.get(name) ?? { ms: 0, byProvider: new Map<string, number>() };
    sum.ms += ms;
    sum.byProvider.set(provider, (sum.byProvider.get(provider) ?? 0) + ms);
    found.set(name, sum);
  }
  return {
    nodes: [...found.keys()],
    ms: [...found.values()].map(({ ms }) => toMicroseconds(ms)),
    providers: [...found.values()].map(({ byProvider }) => [...byProvider].sort((a, b) => b[1] - a[1])[0]![0]),
    elsewhereMs: toMicroseconds(elsewhereMs),
  };
}

/** The profiler tells no less; sums would have tails. */
const toMicroseconds = (ms: number): number => Math.round(1000 * ms) / 1000;

/** The node of the file's own graph, by the place of a step; what is in a body belongs to the node that owns it. */
function owners(file: Model, executed: Model | null, steps: readonly PlacedStep[]): (step: number) => Node | null {
  const byName = new Map<string, Node>();
  const makers = new Map<string, Node>();
  for (const node of file.graph.nodes()) {
    const inside = node.bodies.flatMap((body) => [...nodesWithin(body)]);
    for (const each of [...inside, node]) {
      if (each.name !== "") byName.set(each.name, node);
      for (const value of each.outputs) if (value) makers.set(value.label, node);
    }
  }
  const nodes = executed ? stepNodes(executed, steps) : [];
  const tensorOf = namedTensors(file);
  const known = (label: string): string | null => {
    const name = tensorOf(label);
    return name !== null && makers.has(name) ? name : null;
  };
  const leadsTo = leading(known);
  const maker = (tensor: string | null): Node | null => (tensor === null ? null : makers.get(tensor)!);
  const last = (step: number): Node | null => {
    const node = nodes[step] ?? null;
    const made = node?.outputs.find((value) => value && known(value.label) !== null)?.label ?? null;
    return (
      maker(made === null ? null : known(made)) ??
      namesake(steps[step]!.name, byName, (label) => maker(known(label))) ??
      maker(node && leadsTo(node))
    );
  };
  const lasts = steps.map((_, step) => last(step));
  const taken = new Set(lasts);
  return (step) => {
    const owner = lasts[step]!;
    return owner && (fusedInto(owner, steps[step]!.op, taken, new Set()) ?? owner);
  };
}

/**
 * The nearest node that a kernel is named after, from the last node of what was fused upward: through nodes that nothing else
 * was executed for, and which nobody else reads. null where there is none.
 */
function fusedInto(last: Node, kernel: string, taken: ReadonlySet<Node | null>, seen: Set<Node>): Node | null {
  if (isNamedAfter(kernel, last.op)) return last;
  for (const input of last.inputs) {
    const source = input?.producer ?? null;
    if (!source || seen.has(source) || taken.has(source) || source.graph !== last.graph) continue;
    seen.add(source);
    const found = fusedInto(source, kernel, taken, seen);
    if (found) return found;
  }
  return null;
}

/** FusedConv, QLinearConv and QConv_2 are after Conv, Expand is not after Exp; a Gemm is what becomes of a MatMul with an Add. */
const isNamedAfter = (kernel: string, op: string): boolean =>
  kernel.split(op).some((rest, i) => i > 0 && !/^[a-z]/.test(rest)) || (op === "MatMul" && kernel.endsWith("Gemm"));

/** What the runtime makes of one node it names after it, or in its blocked layout after the tensor, and puts something behind. */
function namesake(
  name: string,
  byName: ReadonlyMap<string, Node>,
  makerOf: (label: string) => Node | null,
): Node | null {
  const blocked = /^(.+)_nchwc$/s.exec(name)?.[1];
  const plain = name.replace(/_token_\d+$/, "");
  return byName.get(name) ?? (blocked === undefined ? null : makerOf(blocked)) ?? byName.get(plain) ?? null;
}

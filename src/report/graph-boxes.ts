/**
 * What a drawing of a graph shows: a box for each node, or for a stretch of nodes of one scope where there are too many.
 * Conversions between integers and float are part of their edges, as the runtime makes them part of its kernels.
 */
import type { GraphFacts } from "../pipeline/inspect/graph-facts.js";
import type { LayerRow } from "./layer-rows.js";

export interface GraphBox {
  readonly title: string;
  /** The operator, or how many nodes there are in it. */
  readonly kind: string;
  readonly nodes: readonly string[];
  /** Positions of the boxes whose results it reads, all before it. */
  readonly reads: readonly number[];
  /** As in GraphFacts; that of most nodes. */
  readonly precision: string;
  /** Where most of its nodes ran; "" where that is not known. */
  readonly provider: string;
  /** Numbers of the parts that its nodes belong to. */
  readonly parts: readonly number[];
  readonly beforeMs: number | null;
  readonly afterMs: number | null;
  readonly savedMs: number | null;
  /** The least of its nodes. */
  readonly sqnrDb: number | null;
  readonly weightBytes: number;
}

const MOST_BOXES = 300;

/** `rows`: of the graph's nodes, in any order. */
export function graphBoxes(graph: GraphFacts, rows: readonly LayerRow[], most = MOST_BOXES): GraphBox[] {
  const byNode = new Map(rows.map((row) => [row.node, row]));
  const shown = withoutConversions(graph);
  const place = new Map(shown.map(({ at }, i) => [at[0]!, i]));
  const { stretches, scope } = stretchesOf(
    shown.map(({ at }) => graph.nodes[at[0]!]!),
    shown.map(({ reads }) => reads.map((at) => place.get(at)!)),
    most,
  );
  const boxOf = new Map<number, number>();
  for (const [box, members] of stretches.entries())
    for (const i of members) for (const at of shown[i]!.at) boxOf.set(at, box);
  return stretches.map((members, box) => {
    const positions = members.flatMap((i) => shown[i]!.at);
    const heads = members.map((i) => shown[i]!.at[0]!);
    const facts = positions.flatMap((at) => byNode.get(graph.nodes[at]!) ?? []);
    const own = heads.flatMap((at) => byNode.get(graph.nodes[at]!) ?? []);
    const reads = new Set(members.flatMap((i) => shown[i]!.reads).map((at) => boxOf.get(at)!));
    reads.delete(box);
    const isOne = heads.length === 1;
    const name = graph.nodes[heads[0]!]!;
    return {
      title: isOne ? name : scope(name),
      kind: isOne ? graph.ops[heads[0]!]! : kindOf(heads.map((at) => graph.ops[at]!)),
      nodes: heads.map((at) => graph.nodes[at]!),
      reads: [...reads].sort((a, b) => a - b),
      precision: mostFrequent(own.map(({ precision }) => precision)),
      provider: mostFrequent(facts.flatMap(({ provider }) => provider || [])),
      parts: [...new Set(positions.map((at) => graph.parts[at]!).filter((part) => part > 0))],
      beforeMs: sumOf(facts, "beforeMs"),
      afterMs: sumOf(facts, "afterMs"),
      savedMs: sumOf(facts, "savedMs"),
      sqnrDb: least(facts.flatMap(({ sqnrDb }) => sqnrDb ?? [])),
      weightBytes: sumOf(facts, "weightBytes") ?? 0,
    };
  });
}

/** Of a box of several nodes: its operators where they are few, else how many nodes there are. */
const kindOf = (ops: readonly string[]): string => (ops.length <= 3 ? ops.join(", ") : `${ops.length} nodes`);

/** Between integers and float. */
export const isConversion = (op: string): boolean => op === "QuantizeLinear" || op === "DequantizeLinear";

/** A node that is drawn, and the conversions in front of it. */
interface Shown {
  /** Its position in the graph first, then theirs. */
  readonly at: number[];
  readonly reads: readonly number[];
}

function withoutConversions({ ops, reads }: GraphFacts): Shown[] {
  const isConverted = (at: number): boolean => isConversion(ops[at]!);
  const sources: (readonly number[])[] = [];
  const taken = new Set<number>();
  const shown: Shown[] = [];
  for (const at of ops.keys()) {
    const from = [...new Set(reads[at]!.flatMap((source) => (isConverted(source) ? sources[source]! : [source])))];
    sources.push(from);
    if (isConverted(at)) continue;
    const inFront: number[] = [];
    const pending = [...reads[at]!];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (!isConverted(next) || taken.has(next)) continue;
      taken.add(next);
      inFront.push(next);
      pending.push(...reads[next]!);
    }
    shown.push({ at: [at, ...inFront], reads: from });
  }
  // A graph that ends in a conversion: it belongs to what made its result.
  for (const at of ops.keys()) {
    if (!isConverted(at) || taken.has(at)) continue;
    const owner = shown.find((each) => each.at[0] === sources[at]![0]);
    if (owner) owner.at.push(at);
    else shown.push({ at: [at], reads: [] });
  }
  return shown.sort((a, b) => a.at[0]! - b.at[0]!);
}

/** Groups of nodes, each drawn as a box; what a box of several is called. */
interface Stretches {
  readonly stretches: readonly (readonly number[])[];
  readonly scope: (name: string) => string;
}

/** Fewer boxes than this share of those there is room for tell too little. */
const LEAST_SHARE = 1 / 6;
const LONGEST_CHAIN = 8;

/** By names where they tell of parts of the model, else by chains of nodes, else as many in each. */
function stretchesOf(names: readonly string[], reads: readonly (readonly number[])[], most: number): Stretches {
  const single = names.map((_, i) => [i]);
  if (names.length <= most) return { stretches: single, scope: (name) => name };
  const scoped = byScope(names, most);
  if (scoped && scoped.stretches.length >= most * LEAST_SHARE) return scoped;
  for (let longest = 2; longest <= LONGEST_CHAIN; longest++) {
    const stretches = chains(reads, longest);
    if (stretches.length <= most) return { stretches, scope: (name) => name };
  }
  if (scoped && scoped.stretches.length > 1) return scoped;
  const each = Math.ceil(names.length / most);
  const stretches = Array.from({ length: Math.ceil(names.length / each) }, (_, i) =>
    single.slice(i * each, (i + 1) * each).flat(),
  );
  return { stretches, scope: (name) => name };
}

/** Neighbours in execution order whose names begin alike, by as many parts of the name as leave few enough stretches. */
function byScope(names: readonly string[], most: number): Stretches | null {
  const deepest = Math.min(12, Math.max(...names.map((name) => partsOf(name).length)));
  for (let depth = deepest; depth > 0; depth--) {
    const scope = (name: string): string => partsOf(name).slice(0, -1).slice(0, depth).join("/");
    const stretches: number[][] = [];
    let last = "";
    for (const [i, name] of names.entries()) {
      const key = scope(name);
      if (key !== "" && key === last) stretches.at(-1)!.push(i);
      else stretches.push([i]);
      last = key;
    }
    if (stretches.length <= most) return { stretches, scope: (name) => scope(name) || name };
  }
  return null;
}

/** Nodes that follow each other and nothing else does: no box then reads what comes after it. */
function chains(reads: readonly (readonly number[])[], longest: number): number[][] {
  const readers = reads.map(() => 0);
  for (const from of reads) for (const source of from) readers[source]!++;
  const chainOf = new Map<number, number[]>();
  const stretches: number[][] = [];
  for (const [i, from] of reads.entries()) {
    const [source] = from;
    const chain = source !== undefined && from.length === 1 && readers[source] === 1 ? chainOf.get(source)! : null;
    if (chain && chain.length < longest) {
      chain.push(i);
      chainOf.set(i, chain);
    } else {
      const own = [i];
      stretches.push(own);
      chainOf.set(i, own);
    }
  }
  return stretches;
}

const partsOf = (name: string): string[] => name.split(/[/.]+/).filter((part) => part !== "");

const sumOf = (rows: readonly LayerRow[], key: "beforeMs" | "afterMs" | "savedMs" | "weightBytes"): number | null => {
  const known = rows.flatMap((row) => row[key] ?? []);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
};

const least = (values: readonly number[]): number | null => (values.length === 0 ? null : Math.min(...values));

function mostFrequent(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

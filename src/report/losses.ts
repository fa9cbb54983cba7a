/**
 * Where accuracy is lost, layer by layer, and what to keep in float to win it back: by the error of each layer with it alone on
 * integers, where a search measured that; else by how much more noise there is behind a layer than in what it reads, where both
 * models were compared tensor by tensor.
 */
import type { GraphFacts } from "../pipeline/inspect/graph-facts.js";
import type { RunResult } from "../pipeline/result.js";
import { isConversion } from "./graph-boxes.js";
import { type LayerRow, layerRows } from "./layer-rows.js";

export interface Loss {
  readonly node: string;
  readonly op: string;
  /** Of the outputs with this layer alone on integers, or of what it makes. */
  readonly sqnrDb: number;
  /** Of what it reads, the worst of it; null where that is not known or equal in both. */
  readonly readDb: number | null;
  /** Its part of all noise that layers add. */
  readonly share: number;
  /** What to name so that it stays in float, or what feeds it does; none where nothing above it is integers. */
  readonly exclude: readonly string[];
  /** Milliseconds that those save now; null where that is not known. */
  readonly savedMs: number | null;
}

export interface Losses {
  readonly by: "alone" | "along";
  /** The most noise first. */
  readonly rows: readonly Loss[];
}

/** null where no error of single layers is known. */
export function losses(result: RunResult): Losses | null {
  const rows = layerRows(result);
  const alone = aloneOf(result, rows);
  if (alone.length > 0) return { by: "alone", rows: alone };
  const along = alongOf(result, rows);
  return along.length > 0 ? { by: "along", rows: along } : null;
}

/** Whether a row is arithmetic on integers that `--exclude` can undo. */
export const isInteger = ({ op, precision }: Pick<LayerRow, "op" | "precision">): boolean =>
  /^([iu](8|16)|w\d+)$/.test(precision) && !isConversion(op);

/** Beyond this, sums would be infinite. */
const MOST_NOISE = 1e300;
const noiseOf = (db: number): number => Math.min(MOST_NOISE, 10 ** (-db / 10));

function aloneOf({ quantization }: RunResult, rows: readonly LayerRow[]): Loss[] {
  const byNode = new Map(rows.map((row) => [row.node, row]));
  const found = (quantization?.regions ?? []).flatMap(({ region, form, sqnrDb, beforeMs, afterMs }) => {
    if (sqnrDb === null || form === "float") return [];
    const row = byNode.get(region);
    const savedMs = row?.savedMs ?? beforeMs - afterMs;
    return [
      { node: region, op: row?.op ?? "", sqnrDb, readDb: null, noise: noiseOf(sqnrDb), exclude: [region], savedMs },
    ];
  });
  return shared(found);
}

function alongOf({ layers, graphs }: RunResult, rows: readonly LayerRow[]): Loss[] {
  const along = layers?.along ?? [];
  const graph = graphs?.after;
  if (!graph || along.length === 0) return [];
  const errors = new Map(along.map(({ value, sqnrDb }) => [value, sqnrDb === null ? 0 : noiseOf(sqnrDb)]));
  const byNode = new Map(rows.map((row) => [row.node, row]));
  const own = graph.nodes.map((node) => byNode.get(node)!);
  const above = nearest(graph, (at) => errors.has(graph.values[at]!));
  const integers = nearest(graph, (at) => isInteger(own[at]!));
  const found = graph.nodes.flatMap((node, at) => {
    const noise = errors.get(graph.values[at]!) ?? 0;
    if (noise === 0) return [];
    const read = Math.max(0, ...above(at).map((source) => errors.get(graph.values[source]!)!));
    if (noise <= read) return [];
    const at0 = isInteger(own[at]!) ? [at] : integers(at);
    const exclude = at0.map((source) => graph.nodes[source]!);
    const saved = at0.flatMap((source) => own[source]!.savedMs ?? []);
    return [
      {
        ...{ node, op: graph.ops[at]!, sqnrDb: dbOf(noise), readDb: read === 0 ? null : dbOf(read), exclude },
        ...{ noise: noise - read, savedMs: saved.length > 0 ? saved.reduce((sum, ms) => sum + ms, 0) : null },
      },
    ];
  });
  return shared(found);
}

const dbOf = (noise: number): number => -10 * Math.log10(noise);

/** For a node the first ones above it that are looked for, on every way. */
function nearest({ reads }: GraphFacts, isWanted: (at: number) => boolean): (at: number) => number[] {
  return (at) => {
    const found: number[] = [];
    const seen = new Set<number>();
    const pending = [...reads[at]!];
    for (let source = pending.pop(); source !== undefined; source = pending.pop()) {
      if (seen.has(source)) continue;
      seen.add(source);
      if (isWanted(source)) found.push(source);
      else pending.push(...reads[source]!);
    }
    return found.sort((a, b) => a - b);
  };
}

function shared(found: readonly (Omit<Loss, "share"> & { readonly noise: number })[]): Loss[] {
  // Thousands of decibels are no noise at all.
  const all = Math.max(
    Number.MIN_VALUE,
    found.reduce((sum, { noise }) => sum + noise, 0),
  );
  return [...found].sort((a, b) => b.noise - a.noise).map(({ noise, ...loss }) => ({ ...loss, share: noise / all }));
}

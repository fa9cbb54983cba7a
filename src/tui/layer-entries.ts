/**
 * What a reader goes through on the screen of layers, whatever command the result is of: a region with its nodes is one entry, and
 * so is a group that was pruned or a tensor that was compared. report/layer-rows.ts has a row for each node of the graph instead.
 */
import { withoutBlocks } from "../pipeline/output/written-name.js";
import type { Bound } from "../pipeline/profile/roofline.js";
import type { RunResult } from "../pipeline/result.js";
import { keptFloat } from "../report/kept-float.js";

export interface LayerEntry {
  /** Or the one that the others of its region go with. */
  readonly node: string;
  /** Empty where the result does not say. */
  readonly op: string;
  /** `float`, `static`, ...; of a pruned group how many channels stay. Empty where there is none. */
  readonly form: string;
  readonly nodes: readonly string[];
  /** Milliseconds of a run; null where they were not measured. */
  readonly beforeMs: number | null;
  readonly afterMs: number | null;
  /** SQNR, dB: of the outputs when this alone is integers, or of its own value where layers were compared. */
  readonly sqnrDb: number | null;
  /** Of its weights, or moved by a run of it where that was profiled. */
  readonly weightBytes: number | null;
  /** Why it is as it is; empty where nothing is said. */
  readonly reason: string;
}

const unknown = { op: "", form: "", beforeMs: null, afterMs: null, sqnrDb: null, weightBytes: null, reason: "" };

/** In the order of the result; nodes of a region are part of its row. */
export function layerEntries(result: RunResult): LayerEntry[] {
  const rows = [...quantized(result), ...profiled(result), ...compared(result), ...pruned(result)];
  // Weights of integers stand behind nodes of their own: what a layer has of them, the graph before tells.
  const graph = result.graphs?.before ?? result.graphs?.after;
  if (!graph) return rows;
  const at = new Map(graph.nodes.map((node, i) => [node, i]));
  return rows.map((row) => {
    const i = at.get(row.node);
    if (i === undefined) return row;
    return { ...row, op: row.op || graph.ops[i]!, weightBytes: row.weightBytes ?? graph.weightBytes[i]! };
  });
}

function quantized(result: RunResult): LayerEntry[] {
  const { quantization } = result;
  const float = keptFloat(result);
  const ops = new Map(float.map(({ node, op }) => [node, op]));
  const regions = (quantization?.regions ?? []).map(
    ({ region, nodes, form, beforeMs, afterMs, sqnrDb, reason }): LayerEntry => ({
      ...unknown,
      ...{ node: region, op: ops.get(region) ?? "", form, nodes, beforeMs, sqnrDb, reason },
      // Times of integers that were not taken are what was given up: the layer runs as before.
      afterMs: form === "float" ? beforeMs : afterMs,
    }),
  );
  const told = new Set(regions.flatMap(({ node, nodes }) => [node, ...nodes]));
  const formed = (quantization?.forms ?? []).map(({ node, form }) => ({ ...unknown, node, nodes: [node], form }));
  const kept = float.map(({ node, op, reason }) => ({
    ...unknown,
    ...{ node, nodes: [node], op, form: "float", reason },
  }));
  return [...regions, ...[...formed, ...kept].filter(({ node }) => !told.has(node))];
}

const boundForms: Readonly<Record<Bound, string>> = {
  compute: "compute-bound",
  memory: "memory-bound",
  neither: "far from both peaks",
  unknown: "",
};

function profiled({ profile }: RunResult): LayerEntry[] {
  if (!profile) return [];
  if (profile.compared) {
    return profile.compared.map(({ value, before, after, beforeMs, afterMs }) => ({
      ...unknown,
      ...{ node: value === "" ? "(the end)" : value, nodes: [...new Set([...before, ...after])], beforeMs, afterMs },
      form: `${before.length} -> ${after.length}`,
    }));
  }
  return profile.models[0]!.nodes.map(({ name, op, ms, bytes, bound }) => ({
    ...unknown,
    ...{ node: withoutBlocks(name) || op, nodes: [name], op, afterMs: ms, weightBytes: bytes },
    form: bound === null ? "" : boundForms[bound],
  }));
}

const compared = ({ layers }: RunResult): LayerEntry[] =>
  (layers?.worst ?? []).map(({ value, node, op, sqnrDb, maxAbs }) => ({
    ...unknown,
    ...{ node: node || value, nodes: node ? [node] : [], op, sqnrDb },
    reason: `its output ${value} differs by ${maxAbs} at most`,
  }));

const pruned = ({ pruning }: RunResult): LayerEntry[] =>
  (pruning?.groups ?? []).map(({ group, kind, width, kept, frozen }) => ({
    ...unknown,
    ...{ node: group, nodes: [], op: kind, form: `${kept} of ${width}`, reason: frozen ?? "" },
  }));

/** What a row gained; negative where it lost. */
export const savedMs = ({ beforeMs, afterMs }: LayerEntry): number | null =>
  beforeMs === null || afterMs === null ? null : beforeMs - afterMs;

export const layerOrders = ["time", "saved", "error", "bytes"] as const;
export type LayerOrder = (typeof layerOrders)[number];

const keys: Readonly<Record<LayerOrder, (row: LayerEntry) => number | null>> = {
  time: ({ beforeMs, afterMs }) => afterMs ?? beforeMs,
  saved: savedMs,
  // A low SQNR is a large error.
  error: ({ sqnrDb }) => (sqnrDb === null ? null : -sqnrDb),
  bytes: ({ weightBytes }) => weightBytes,
};

/** What is known of any row, and so can be sorted by. */
export const ordersOf = (rows: readonly LayerEntry[]): LayerOrder[] =>
  layerOrders.filter((order) => rows.some((row) => keys[order](row) !== null));

/** The most time, saving, error or bytes first; what is not known comes last, in the order of the result. */
export function orderLayers(rows: readonly LayerEntry[], order: LayerOrder): LayerEntry[] {
  return rows
    .map((row) => ({ row, by: keys[order](row) ?? Number.NEGATIVE_INFINITY }))
    .sort((a, b) => (a.by === b.by ? 0 : b.by - a.by))
    .map(({ row }) => row);
}

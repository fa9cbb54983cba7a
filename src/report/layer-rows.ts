/**
 * Everything that a result knows of single layers, one row a node: what it computes in, its time before and after, what
 * integers cost there, why it is float. Graph, table, CSV and node data are all made of these rows.
 */
import type { GraphFacts } from "../pipeline/inspect/graph-facts.js";
import { withoutBlocks } from "../pipeline/output/written-name.js";
import type { ProfileFacts } from "../pipeline/profile/profile-facts.js";
import type { RunResult } from "../pipeline/result.js";
import { keptFloat } from "./kept-float.js";
import { measuredTimes } from "./measured-times.js";

export interface LayerRow {
  readonly node: string;
  readonly op: string;
  /** The first tensor that it makes; "" where that is not known. */
  readonly value: string;
  /** As in GraphFacts; "" where that is not known. */
  readonly precision: string;
  /**
   * Milliseconds in the model before and after. Where both were profiled node by node, nodes that belong together share what the
   * others took; else of a region or a part as a whole, told at the node that makes its result.
   */
  readonly beforeMs: number | null;
  readonly afterMs: number | null;
  readonly savedMs: number | null;
  /** Of the outputs with this layer alone on integers, or of its own result where layers were compared; dB. */
  readonly sqnrDb: number | null;
  readonly weightBytes: number | null;
  /** Where it ran; "" where that is not known. */
  readonly provider: string;
  /** Why it is float; "" where it is not, or nothing tells. */
  readonly reason: string;
}

type Draft = { -readonly [K in keyof LayerRow]: LayerRow[K] };

/** Of the model that came out, or of the only one there is, in execution order; other nodes that something is known of follow. */
export function layerRows(result: RunResult): LayerRow[] {
  const graph = result.graphs?.after ?? result.graphs?.before ?? null;
  const rows = new Rows(graph);
  addRegions(rows, result);
  const isMeasured = graph !== null && addMeasured(rows, result, graph === result.graphs?.after ? "after" : "before");
  if (result.profile && !isMeasured) addProfile(rows, result.profile, graph);
  for (const { value, node, op, sqnrDb } of result.layers?.along ?? result.layers?.worst ?? []) {
    // It is told by the node before that makes the value: the one after can have another name.
    const row = rows.making(value) ?? rows.of(node, value);
    row.op ||= op;
    row.sqnrDb ??= sqnrDb;
  }
  const all = rows.all();
  addSaved(all);
  return all;
}

function addSaved(rows: readonly Draft[]): void {
  for (const row of rows) {
    if (row.savedMs === null && row.beforeMs !== null && row.afterMs !== null) row.savedMs = row.beforeMs - row.afterMs;
  }
}

/** Of the model before: beside one that came out only what the search, the profile and the comparison of layers know of it. */
export function beforeRows(result: RunResult): LayerRow[] {
  const { graphs, profile, layers, quantization } = result;
  const graph = graphs?.before;
  if (!graph) return [];
  if (!graphs.after) return layerRows(result);
  const rows = new Rows(graph);
  const isMeasured = addMeasured(rows, result, "before");
  const [first, second] = profile?.models ?? [];
  if (first && second && !isMeasured) {
    for (const { value, beforeMs } of profile!.compared ?? []) {
      const row = rows.making(value);
      if (row && beforeMs > 0) row.beforeMs = (row.beforeMs ?? 0) + beforeMs;
    }
  }
  for (const { region, beforeMs } of quantization?.regions ?? []) {
    const row = rows.known(region);
    if (row) row.beforeMs ??= beforeMs;
  }
  for (const { node, sqnrDb } of layers?.along ?? []) {
    const row = rows.known(node);
    if (row) row.sqnrDb ??= sqnrDb;
  }
  const all = rows.all();
  addSaved(all);
  return all;
}

class Rows {
  readonly #byNode = new Map<string, Draft>();
  readonly #byValue = new Map<string, Draft>();

  constructor(graph: GraphFacts | null) {
    for (const [i, node] of (graph?.nodes ?? []).entries()) {
      const row = this.of(node, graph!.values[i]!);
      row.op = graph!.ops[i]!;
      row.precision = graph!.precisions[i]!;
      row.weightBytes = graph!.weightBytes[i]!;
    }
  }

  /** The row of a node, new where there is none yet. */
  of(node: string, value = ""): Draft {
    const known = this.#byNode.get(node);
    if (known) return known;
    const none = { beforeMs: null, afterMs: null, savedMs: null, sqnrDb: null, weightBytes: null, provider: "" };
    const row: Draft = { node, op: "", value, precision: "", ...none, reason: "" };
    this.#byNode.set(node, row);
    if (value !== "") this.#byValue.set(value, row);
    return row;
  }

  making(value: string): Draft | null {
    return this.#byValue.get(value) ?? null;
  }

  known(node: string): Draft | null {
    return this.#byNode.get(node) ?? null;
  }

  all(): Draft[] {
    return [...this.#byNode.values()];
  }
}

const precisionOfForm: Readonly<Record<string, string>> = {
  static: "i8",
  dynamic: "i8",
  dynamicRows: "i8",
  weights16: "w16",
  weights8: "w8",
  blocks8: "w8",
  weights4: "w4",
};

function addRegions(rows: Rows, result: RunResult): void {
  const { quantization } = result;
  for (const { region, nodes, form, sqnrDb, beforeMs, afterMs, reason } of quantization?.regions ?? []) {
    const inside = precisionOfForm[form];
    for (const node of inside ? nodes : []) rows.of(node).precision = inside!;
    const row = rows.of(region);
    const isMade = form !== "float";
    // Times of integers that were not taken are an estimate of what was given up: the layer runs as before.
    Object.assign(row, {
      sqnrDb,
      beforeMs,
      afterMs: isMade ? afterMs : beforeMs,
      savedMs: isMade ? beforeMs - afterMs : 0,
    });
    row.reason = reason;
  }
  for (const { node, form } of quantization?.forms ?? []) {
    const inside = precisionOfForm[form];
    if (inside) rows.of(node).precision = inside;
  }
  for (const { node, op, reason } of keptFloat(result)) {
    const row = rows.of(node);
    row.op ||= op;
    row.reason ||= reason;
  }
}

/** What the profile of each node says counts for more than what was expected of a region. false where there is none. */
function addMeasured(rows: Rows, result: RunResult, side: "before" | "after"): boolean {
  const times = measuredTimes(result, side);
  if (!times) return false;
  const { own, other, providers } = times;
  const otherSide = side === "before" ? "after" : "before";
  for (const [i, node] of result.graphs![side]!.nodes.entries()) {
    const row = rows.of(node);
    row[`${side}Ms`] = own[i]!;
    row[`${otherSide}Ms`] = other?.[i] ?? null;
    row.savedMs = null;
    row.provider = providers[i]!;
  }
  return true;
}

/** Nodes have names of their own where the runtime fused or converted them: without a place in the graph they stand after it. */
function addProfile(rows: Rows, { models, compared }: ProfileFacts, graph: GraphFacts | null): void {
  const [first, second] = models;
  if (!first) return;
  if (second && compared && graph) {
    for (const { value, beforeMs, afterMs } of compared) {
      const row = rows.making(value);
      if (!row) continue;
      row.beforeMs = (row.beforeMs ?? 0) + beforeMs;
      row.afterMs = (row.afterMs ?? 0) + afterMs;
    }
    return;
  }
  const add = (side: "beforeMs" | "afterMs", nodes: NonNullable<typeof first>["nodes"]): void => {
    for (const { name, op, ms } of nodes) {
      const row = rows.known(name) ?? rows.known(withoutBlocks(name)) ?? rows.of(name || op);
      row.op ||= op;
      row[side] = (row[side] ?? 0) + ms;
    }
  };
  add("beforeMs", first.nodes);
  if (second) add("afterMs", second.nodes);
}

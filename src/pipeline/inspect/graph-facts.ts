/**
 * The graphs of a result's two models, as far as a drawing of them needs: nodes, what they read, how precise they are, what
 * their weights take, and which nodes of both make the same tensor ("these 7 became this 1").
 */
import { InferOptError } from "../../base/errors.js";
import {
  type DType,
  dtypeOfCode,
  graphsWithin,
  isFloat,
  loadModel,
  type Model,
  type Node,
  nodesWithin,
  type Value,
} from "../../ir/index.js";
import { quantizedFormOf } from "../../ops/quantizing.js";
import { isSamePlace } from "../output/same-place.js";
import type { ProvenanceFacts } from "../prepare/provenance.js";
import type { ModelFacts, RunResult } from "../result.js";
import { shortName } from "../short-name.js";
import { afterOf } from "../sides.js";
import { partsOf } from "./graph-parts.js";

/** One entry for each node of the graph itself, in execution order, in every list; bodies belong to the node that owns them. */
export interface GraphFacts {
  /** Of the graph in its file; viewers ask for it. */
  readonly name: string;
  readonly nodes: readonly string[];
  readonly ops: readonly string[];
  /** The first tensor that each makes. */
  readonly values: readonly string[];
  /** Positions of the nodes whose results each reads. */
  readonly reads: readonly (readonly number[])[];
  /** What it computes in: f32, f16, bf16, i8 and the like; w4, w8, w16 for float arithmetic on weights stored as integers; "" where nothing tells. */
  readonly precisions: readonly string[];
  /** Bytes of the constants that it is the first to read, and the type of the largest of them. */
  readonly weightBytes: readonly number[];
  readonly weightTypes: readonly string[];
  /** Nodes of both graphs with the same number belong together, those with 0 to none of the other graph; -1 where there is but one. */
  readonly parts: readonly number[];
}

export interface GraphsFacts {
  /** null where the file was overwritten. */
  readonly before: GraphFacts | null;
  readonly after: GraphFacts | null;
}

/** A graph of more nodes is not taken into a result: nobody could read the drawing, and the file would be large. */
const MOST_NODES = 4000;

/** The result with its graphs, where it is about one model that became another; a file that cannot be read any more is left out. */
export function withGraphs(result: RunResult): RunResult {
  const { model, command } = result;
  const after = afterOf(result);
  if (command === "bench" || command === "calibrate") return result;
  const isReplaced = after !== null && isSamePlace(after.path, model.path);
  const old = isReplaced ? null : readGraph(model);
  if (old === "too large") return result;
  const now = after ? readGraph(after) : null;
  if (now === "too large" || (!old && !now)) return result;
  return { ...result, graphs: describeGraphs(old, now, result.output ? (result.provenance ?? null) : null) };
}

/** @param provenance of the nodes of `after`; null where it is not known, and tensors of one name have to tell */
export function describeGraphs(
  before: Model | null,
  after: Model | null,
  provenance: readonly ProvenanceFacts[] | null = null,
): GraphsFacts {
  if (!before || !after)
    return { before: before && factsOf(before, () => -1), after: after && factsOf(after, () => -1) };
  const parts = partsOf(before, after, provenance);
  return { before: factsOf(before, parts.before), after: factsOf(after, parts.after) };
}

function readGraph({ path }: ModelFacts): Model | "too large" | null {
  try {
    const model = loadModel(path);
    return model.graph.nodeCount > MOST_NODES ? "too large" : model;
  } catch (thrown) {
    // The run is done: what became of its files since is no fault of its result.
    if (thrown instanceof InferOptError) return null;
    throw thrown;
  }
}

function factsOf({ graph }: Model, partOf: (node: Node) => number): GraphFacts {
  const nodes = [...graph.nodes()];
  const at = new Map(nodes.map((node, i) => [node, i]));
  const precisions = new Map<Node, string>();
  const counted = new Set<Value>();
  const rows = nodes.map((node) => {
    const read = valuesRead(node);
    const precision = precisionOf(node, precisions);
    precisions.set(node, precision);
    const own = read.filter((value) => value.constant !== null && !counted.has(value));
    for (const value of own) counted.add(value);
    const sizes = own.map(({ constant }) => constant!.byteLength);
    const largest = own[sizes.indexOf(Math.max(...sizes))];
    return {
      name: shortName(node.displayName),
      op: node.opName,
      value: shortName(node.outputs.find((value) => value !== null)?.label ?? ""),
      reads: [...new Set(read.flatMap(({ producer }) => (producer && at.get(producer)) ?? []))].sort((a, b) => a - b),
      precision,
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      type: largest?.dtype ?? "",
      part: partOf(node),
    };
  });
  return {
    name: shortName((graph.extras as { readonly name?: string } | null)?.name ?? ""),
    nodes: rows.map(({ name }) => name),
    ops: rows.map(({ op }) => op),
    values: rows.map(({ value }) => value),
    reads: rows.map(({ reads }) => reads),
    precisions: rows.map(({ precision }) => precision),
    weightBytes: rows.map(({ bytes }) => bytes),
    weightTypes: rows.map(({ type }) => type),
    parts: rows.map(({ part }) => part),
  };
}

/** Its inputs and those of the nodes in its bodies, each once. */
function valuesRead(node: Node): Value[] {
  const values = new Set<Value>();
  const add = (value: Value | null): void => void (value && values.add(value));
  for (const value of node.inputs) add(value);
  for (const body of node.bodies) {
    for (const within of graphsWithin(body)) for (const { value } of within.outputs) add(value);
    for (const inner of nodesWithin(body)) for (const value of inner.inputs) add(value);
  }
  return [...values];
}

function precisionOf(node: Node, known: ReadonlyMap<Node, string>): string {
  const form = quantizedFormOf(node.opName);
  if (form === "weights-only" && node.op !== "DequantizeLinear") return `w${node.int("bits", 4)}`;
  if (form) return node.op === "MatMulInteger16" ? "i16" : "i8";
  const behind = node.inputs.flatMap((value) =>
    value?.producer?.is("DequantizeLinear") ? [value.producer.inputs[0]] : [],
  );
  const stored = behind.flatMap((value) => value?.constant?.dtype ?? []);
  if (behind.length > stored.length) return "i8";
  const [smallest] = stored.map(bitsIn).sort((a, b) => a - b);
  if (smallest !== undefined) return `w${smallest}`;
  const result = node.is("Cast")
    ? dtypeOfCode(node.int("to", 1))
    : (node.outputs.find((value) => value !== null)?.dtype ?? null);
  if (result) return result;
  const fed = node.inputs.flatMap((value) => {
    if (!value) return [];
    const { producer, dtype } = value;
    const told = dtype ?? (producer && known.get(producer));
    return told ? [told] : [];
  });
  const float = fed.find((each) => isFloat(each as DType));
  return (
    float ?? (fed.some((each) => /^[iw]\d+$/.test(each) && each !== "i64" && each !== "i32") ? "f32" : (fed[0] ?? ""))
  );
}

const bitsIn = (dtype: DType): number => Number(/\d+/.exec(dtype)?.[0] ?? 8);

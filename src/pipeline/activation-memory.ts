/**
 * Which tensors are alive when the most memory is needed. A tensor lives from the node that writes it to the last that
 * reads it, in the order of execution; inputs of the model are the caller's, and outputs live to the end. Views
 * (Reshape and the like) share the bytes of what they show.
 */
import { elementCount, type Graph, isStatic, type Node, packedBytes, type Value } from "../ir/index.js";

export interface AliveTensor {
  readonly name: string;
  /** What wrote it. */
  readonly node: string;
  readonly bytes: number;
}

export interface ActivationMemory {
  /** All tensors that nodes write, as if none made room for another. */
  readonly totalBytes: number;
  /** The most that is alive at once, and what it is, the largest first. */
  readonly peakBytes: number;
  readonly peakNode: string;
  readonly alive: readonly AliveTensor[];
  /** What is alive at each node, in execution order; of very many the most of several neighbours. */
  readonly along: readonly number[];
  /** Tensors whose size is not known, which count nothing here. */
  readonly unknown: number;
  /** Nodes with bodies: what these write inside counts nothing, either. */
  readonly bodies: number;
}

const views: ReadonlySet<string> = new Set(["Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"]);

/** Of the nodes of the graph itself: what bodies take besides is in no list. null for a graph without nodes. */
export function activationMemory(graph: Graph): ActivationMemory | null {
  const nodes = [...graph.nodes()];
  if (nodes.length === 0) return null;
  const owner = new Map<Value, Value>();
  const origin = (value: Value): Value => owner.get(value) ?? value;
  const end = new Map<Value, number>();
  const isOut = new Set<Value>();
  const written: { readonly value: Value; readonly node: Node; readonly at: number; readonly bytes: number }[] = [];
  let unknown = 0;
  for (const [at, node] of nodes.entries()) {
    for (const value of readsOf(node)) end.set(origin(value), at);
    for (const value of node.outputs) {
      if (!value) continue;
      if (value.isGraphOutput) isOut.add(origin(value));
      const shown = node.inputs[0];
      if (views.has(node.op) && shown) {
        owner.set(value, origin(shown));
        continue;
      }
      const bytes = bytesOf(value);
      if (bytes === null) unknown++;
      else written.push({ value, node, at, bytes });
    }
  }
  for (const value of graph.outputs.map(({ value }) => origin(value))) isOut.add(value);
  const last = ({ value, at }: (typeof written)[number]): number =>
    isOut.has(value) ? nodes.length : (end.get(value) ?? at);
  const change = new Float64Array(nodes.length + 2);
  for (const tensor of written) {
    change[tensor.at]! += tensor.bytes;
    change[last(tensor) + 1]! -= tensor.bytes;
  }
  let [now, peakBytes, peakAt] = [0, -1, 0];
  const along: number[] = [];
  for (let at = 0; at < nodes.length; at++) {
    now += change[at]!;
    along.push(now);
    if (now > peakBytes) [peakBytes, peakAt] = [now, at];
  }
  return {
    totalBytes: written.reduce((sum, { bytes }) => sum + bytes, 0),
    peakBytes,
    peakNode: nodes[peakAt]!.displayName,
    alive: written
      .filter((tensor) => tensor.at <= peakAt && last(tensor) >= peakAt)
      .map(({ value, node, bytes }) => ({ name: value.label, node: node.displayName, bytes }))
      .sort((a, b) => b.bytes - a.bytes),
    along: thinned(along),
    unknown,
    bodies: nodes.filter((node) => node.bodies.length > 0).length,
  };
}

const MOST_ALONG = 500;

/** The peak stays in sight. */
function thinned(values: readonly number[]): number[] {
  const each = Math.ceil(values.length / MOST_ALONG);
  const groups = Math.ceil(values.length / each);
  return Array.from({ length: groups }, (_, i) => Math.max(...values.slice(i * each, (i + 1) * each)));
}

/** Its inputs, and what its bodies read from outside. */
function* readsOf(node: Node): Generator<Value> {
  for (const value of node.inputs) if (value) yield value;
  for (const body of node.bodies) yield* outerReads(body, body.nodes());
}

function* outerReads(body: Graph, nodes: Iterable<Node>): Generator<Value> {
  for (const node of nodes) for (const value of readsOf(node)) if (value.graph !== body) yield value;
  for (const { value } of body.outputs) if (value.graph !== body) yield value;
}

function bytesOf({ dtype, shape }: Value): number | null {
  return dtype && isStatic(shape) ? packedBytes(dtype, elementCount(shape)) : null;
}

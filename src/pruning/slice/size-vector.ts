/**
 * The sizes that a Reshape, an Expand or a Resize is told: a constant vector, or one that
 * is put together by a Concat from computed sizes and constant ones, as exporters write it.
 */
import { type Node, Tensor, type Value } from "../../ir/index.js";

/** Whether the entry at `index` is a constant of its own that can be replaced. */
export function isSizeSettable(vector: Value | null | undefined, index: number): boolean {
  return !!vector && (isIntegers(vector) || pieceAt(vector, index) !== null);
}

/** The entry at `index`, where it is constant. */
export function sizeIn(vector: Value | null | undefined, index: number): number | null {
  if (!vector) return null;
  const piece = isIntegers(vector) ? { value: vector, at: index } : pieceAt(vector, index);
  return piece?.value.constant?.integers()?.[piece.at] ?? null;
}

const isIntegers = ({ constant }: Value): boolean => constant?.dtype === "i64" && constant.dims.length === 1;

/** The constant input of a Concat that holds an entry of its result. */
function pieceAt({ producer }: Value, index: number): { value: Value; input: number; at: number } | null {
  if (!producer?.is("Concat")) return null;
  let start = 0;
  for (const [input, value] of producer.inputs.entries()) {
    const size = value?.shape?.length === 1 ? value.shape[0] : null;
    if (!value || typeof size !== "number") return null;
    if (index < start + size) return isIntegers(value) ? { value, input, at: index - start } : null;
    start += size;
  }
  return null;
}

/** Gives a node another vector as its input, with sizes at some places; what is inferred (-1) is so still. */
export function setSizes(node: Node, input: number, sizes: ReadonlyMap<number, number>): void {
  const vector = node.inputs[input]!;
  const { graph } = node;
  if (vector.constant) {
    const changed = changedSizes(vector, sizes);
    if (changed) graph.setInput(node, input, graph.addConstant(vector.label, changed));
    return;
  }
  // Others may read the same vector: this node gets one of its own.
  const { producer } = vector;
  const parts = [...producer!.inputs];
  for (const [index, size] of sizes) {
    const piece = pieceAt(vector, index)!;
    const changed = changedSizes(parts[piece.input]!, new Map([[piece.at, size]]));
    if (changed) parts[piece.input] = graph.addConstant(parts[piece.input]!.label, changed);
  }
  const { op, domain, attributes } = producer!;
  const outputs = [{ label: vector.label, type: vector.type }];
  const own = graph.addNode({ op, domain, attributes, inputs: parts, outputs, provenance: producer!.provenance }, node);
  graph.setInput(node, input, own.output);
  if (vector.useCount === 0) graph.removeNode(producer!);
}

function changedSizes({ constant }: Value, sizes: ReadonlyMap<number, number>): Tensor | null {
  const old = constant!.bigints()!;
  const changed = old.map((size, index) => (size >= 0n && sizes.has(index) ? BigInt(sizes.get(index)!) : size));
  return changed.every((size, i) => size === old[i]) ? null : Tensor.i64(constant!.dims, changed);
}

/** What of zeros in the weights goes into the result. */
import { loadModel } from "../../ir/index.js";
import type { SparseLayers } from "../../pruning/sparsity/sparse-layers.js";
import { type Sparsity, sparsityText } from "../../pruning/sparsity/sparsity.js";

export interface SparsityFacts {
  /** As it was asked for: `50%`, `2:4`. */
  readonly asked: string;
  /** Layers that got zeros. */
  readonly layers: number;
  /** Weights of all layers that were selected, dense ones among them, and how many of those are 0. */
  readonly weights: number;
  readonly zeros: number;
  /** Layers that stay dense, and why. */
  readonly dense: readonly { readonly node: string; readonly reason: string }[];
  /** All files of the model as gzip makes them. */
  readonly compressedBytes: { readonly before: number; readonly after: number };
}

/** @param path of the sparse model */
export function sparsityFacts(
  path: string,
  sparsity: Sparsity,
  { chosen, counted, dense }: SparseLayers,
  compressed: { readonly baseline: number; readonly candidate: number },
): SparsityFacts {
  const names = new Set([...counted].map(({ displayName }) => displayName));
  let [weights, zeros] = [0, 0];
  for (const node of loadModel(path).graph.nodes()) {
    const tensor = node.inputs[1]?.constant;
    if (!tensor || !names.has(node.displayName)) continue;
    weights += tensor.elementCount;
    for (const value of tensor.f32()) if (value === 0) zeros++;
  }
  const { baseline: before, candidate: after } = compressed;
  return {
    asked: sparsityText(sparsity),
    layers: chosen.size,
    weights,
    zeros,
    dense,
    compressedBytes: { before, after },
  };
}

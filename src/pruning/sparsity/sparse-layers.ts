/** Which layers of a net get zeros, and why others do not. */
import type { Model, Node } from "../../ir/index.js";
import { isLinear, type LinearLayer, linearLayer } from "../refit/linear-layers.js";
import type { Sparsity } from "./sparsity.js";

export interface SparseLayers {
  /** What each layer is given: where a share is asked for, more than that, to make up for the small layers. */
  readonly chosen: ReadonlyMap<Node, Sparsity>;
  /** All that were selected and have weights of their own, which a share is one of. */
  readonly counted: ReadonlySet<Node>;
  /** Layers that stay dense. */
  readonly dense: readonly { readonly node: string; readonly reason: string }[];
}

/** The smallest layers that hold this share of the weights together: zeros in them save nothing, and cost as much as elsewhere. */
const SMALL_SHARE = 0.02;
/** No layer gets more zeros than that for the sake of others. */
const MOST_ZEROS = 0.99;

/** @param isSelected nodes that the user did not leave out */
export function sparseLayers(model: Model, isSelected: (node: Node) => boolean, sparsity: Sparsity): SparseLayers {
  const dense: { node: string; reason: string }[] = [];
  const layers: LinearLayer[] = [];
  const counted = new Set<Node>();
  let all = 0;
  for (const node of model.graph.nodes()) {
    if (!isLinear(node) || !node.inputs[1]?.constant || !isSelected(node)) continue;
    const layer = linearLayer(node);
    if ("reason" in layer) {
      dense.push({ node: node.displayName, reason: layer.reason });
      continue;
    }
    counted.add(node);
    all += layer.weight.elementCount;
    const reason = tooNarrow(layer, sparsity);
    if (reason === null) layers.push(layer);
    else dense.push({ node: node.displayName, reason });
  }
  if (sparsity.kind === "pattern") {
    return { chosen: new Map(layers.map(({ node }) => [node, sparsity])), counted, dense };
  }
  const wide = layers.reduce((sum, { weight }) => sum + weight.elementCount, 0);
  const large = new Set(layers);
  let rest = wide;
  for (const layer of [...layers].sort((a, b) => a.weight.elementCount - b.weight.elementCount)) {
    const { elementCount } = layer.weight;
    if (wide - rest + elementCount > SMALL_SHARE * wide) break;
    large.delete(layer);
    rest -= elementCount;
  }
  const share = Math.min(Math.max(sparsity.share, MOST_ZEROS), (sparsity.share * all) / rest);
  for (const layer of layers) {
    if (!large.has(layer))
      dense.push({
        node: layer.node.displayName,
        reason: `it is among the smallest, which have ${100 * SMALL_SHARE} % of all weights together`,
      });
  }
  return {
    chosen: new Map(layers.filter((layer) => large.has(layer)).map(({ node }) => [node, { ...sparsity, share }])),
    counted,
    dense,
  };
}

function tooNarrow({ inputs, places, outputs, groups }: LinearLayer, sparsity: Sparsity): string | null {
  if (sparsity.kind === "pattern") {
    const channels = inputs / places;
    return channels > sparsity.kept
      ? null
      : `it reads ${channels} ${channels === 1 ? "channel" : "channels"} at a time`;
  }
  // Depthwise: some places of a kernel, and nothing that could make up for one.
  return inputs * outputs > 1 && !(groups > 1 && inputs === places) ? null : "it reads 1 channel at a time";
}

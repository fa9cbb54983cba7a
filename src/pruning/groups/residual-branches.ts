/**
 * Groups whose units are all that a residual branch passes on:
 *
 *   Add(stay, last(units))      without any unit -> stay
 *
 * Where no unit is left the last layer of the branch makes its bias and nothing else, so the sum is what stays of it, and the
 * layers behind it take the rest over when they are fitted. All of the branch goes, small operators that cost time
 * whatever their width included.
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import { valuesRead } from "../../rewrite/index.js";
import { type LinearLayer, linearLayer } from "../refit/linear-layers.js";
import type { ChannelGroup, ChannelMap } from "./channel-group.js";

export interface ResidualBranch {
  /** The last layer of the branch, which reads the units. */
  readonly layer: LinearLayer;
  readonly sum: Node;
  /** The other operand of the sum. */
  readonly stay: Value;
  /** What nobody reads any more once the sum is gone, the sum among them. */
  readonly dead: ReadonlySet<Node>;
}

/** By group; those that pass on something else besides are missing. */
export function residualBranches(map: ChannelMap): ReadonlyMap<ChannelGroup, ResidualBranch> {
  const branches = new Map<ChannelGroup, ResidualBranch>();
  const live = liveNodes(map, null);
  for (const group of map.groups) {
    if (group.frozen !== null) continue;
    const branch = branchOf(map, group, live);
    if (branch) branches.set(group, branch);
  }
  return branches;
}

function branchOf(map: ChannelMap, group: ChannelGroup, live: ReadonlySet<Node>): ResidualBranch | null {
  for (const { node, input, units } of group.consumers) {
    const layer = input === 1 && units.every((unit) => unit >= 0) ? linearLayer(node) : null;
    const sum = layer && !("reason" in layer) ? soleReader(layer.output) : null;
    if (!layer || "reason" in layer || !sum?.is("Add") || sum.graph !== map.model.graph) continue;
    const stay = sum.inputs.find((value) => value !== layer.output);
    if (!stay || stay.constant || !isAlike(stay, sum.output) || !isAlike(layer.output, sum.output)) continue;
    if (map.model.graph.outputs.some(({ value }) => value === sum.output)) continue;
    const left = liveNodes(map, { sum, stay });
    const goes = ({ producer }: Value): boolean => producer !== null && !left.has(producer);
    if (left.has(node) || !group.values.every(({ value }) => goes(value))) continue;
    return { layer, sum, stay, dead: new Set([...live].filter((each) => !left.has(each))) };
  }
  return null;
}

/** Nodes that an output depends on; with `gone`, as if the sum were what stays of it. */
function liveNodes({ model: { graph } }: ChannelMap, gone: Pick<ResidualBranch, "sum" | "stay"> | null): Set<Node> {
  const live = new Set<Node>();
  const pending = graph.outputs.map(({ value }) => value);
  for (let value = pending.pop(); value; value = pending.pop()) {
    const { producer } = value;
    if (!producer || live.has(producer)) continue;
    if (producer === gone?.sum) pending.push(gone.stay);
    else {
      live.add(producer);
      pending.push(...valuesRead(producer));
    }
  }
  return live;
}

/** Of one type and one shape as far as it is known, so that nothing is repeated along an axis. */
function isAlike(a: Value, b: Value): boolean {
  const [own, other] = [a.shape, b.shape];
  if (a.dtype !== "f32" || b.dtype !== "f32" || !own || own.length !== other?.length) return false;
  return own.every((dim, i) => dim !== null && dim === other[i]);
}

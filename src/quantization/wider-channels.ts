/**
 * The integer kernel of a depthwise Conv multiplies whole vectors of channels, and takes what is left of them one by one: twice
 * as long for 72 channels as for 80. Where the dense Convs around it are few, they make and read as many more channels as
 * fill a vector, and multiply them by zeros: what the model computes stays the same, bit by bit.
 */
import type { Graph, Node } from "../ir/index.js";
import { WiderConstants, widenRegion } from "../rewrite/widen-region.js";
import { channelRegionOf, isDepthwise } from "../target/channel-region.js";
import type { KernelTimes } from "../target/kernel-times.js";

/** Once pairs are written. @param kept Convs that read as many channels as they did, whatever it costs */
export function widenChannels(graph: Graph, times: KernelTimes, kept: ReadonlySet<Node>): void {
  const constants = new WiderConstants(graph);
  for (const node of [...graph.nodes()]) {
    if (!isDepthwise(node) || !node.inputs.slice(0, 2).every((value) => value?.producer?.is("DequantizeLinear")))
      continue;
    const channels = times.widened(node);
    const region = channels > node.int("group", 1) ? channelRegionOf(node) : null;
    if (region && ![...region.consumers].some((each) => kept.has(each))) widenRegion(region, channels, constants);
  }
}

/**
 *   Conv(W: [58,..]) -> Relu -> Conv<group=58>() -> Conv(W: [..,58,..])   =>   the same with 60 channels, two of them by zeros
 *
 * ONNX Runtime's CPU gives up its blocked layout for a depthwise Conv whose channels are no multiple of 4, which takes the Conv and what
 * stands around it twice as long (3x3 of [103,32,32] between dense Convs of 64 channels: 290 us, and 143 with 104; 1.32, Zen 5, 1 thread).
 * Dense Convs around it that can make and read some more channels take no longer for them: they work on eights at least, floats or integers.
 */
import { graphsWithin, type Node, type Value } from "../../ir/index.js";
import { defineGraphPass } from "../../rewrite/index.js";
import { WiderConstants, widenRegion } from "../../rewrite/widen-region.js";
import { isQuickDepthwise, wholeChannels } from "../../target/channel-block.js";
import { type ChannelRegion, channelRegionOf, isDepthwise } from "../../target/channel-region.js";

export const widenDepthwise = defineGraphPass({
  name: "widen-depthwise",
  summary: "Fill up the channels of depthwise convolutions to a number that fast kernels take",
  numerics: "rounding",
  onlyOnCpu: "its kernels take channels by fours",
  run({ model, claim, store }) {
    for (const graph of graphsWithin(model.graph)) {
      const constants = new WiderConstants(graph, store);
      for (const node of [...graph.nodes()]) {
        const own = isDepthwise(node) && isOfPlanes(node) ? node.int("group", 1) : 0;
        const channels = wholeChannels(own);
        if (channels === own || !isQuickDepthwise(channels)) continue;
        const region = channelRegionOf(node);
        if (!region || !isFloat(region) || !claim(node.displayName)) continue;
        widenRegion(region, channels, constants);
      }
    }
  },
});

/** Only Convs of planes have a blocked layout. */
const isOfPlanes = (node: Node): boolean => node.inputs[1]!.shape?.length === 4;

/** No integers in it that weights come from, and nothing of half precision, which has other kernels. */
const isFloat = ({ values, depthwise, producers, consumers }: ChannelRegion): boolean =>
  [...values].every(({ dtype }) => dtype === "f32") &&
  [...depthwise, ...producers, ...consumers].every((node) => node.inputs.slice(1).every(isFloatConstant));

const isFloatConstant = (value: Value | null): boolean => !value || value.constant?.dtype === "f32";

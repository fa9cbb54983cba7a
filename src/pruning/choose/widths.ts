/** How many units of each group are kept, and which numbers are worth having (groups/aligned-widths.ts). */
import { alignedWidths } from "../groups/aligned-widths.js";
import type { ChannelGroup } from "../groups/channel-group.js";

/** Widths of groups; one that is missing keeps all. */
export type Widths = ReadonlyMap<ChannelGroup, number>;

/**
 * The width next to a share of each group; of two that are as near, the wider one.
 * @param block channels that kernels of the target work on at once
 */
export function uniformWidths(groups: readonly ChannelGroup[], share: number, block: number): Widths {
  const nearest = (group: ChannelGroup): number =>
    alignedWidths(group, block).reduce((best, width) =>
      Math.abs(width - share * group.width) < Math.abs(best - share * group.width) ? width : best,
    );
  return new Map(groups.map((group) => [group, nearest(group)]));
}

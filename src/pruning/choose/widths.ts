/**
 * Which widths of a group are worth having. Kernels work on blocks of channels: a width between two multiples of the block costs
 * as much as the upper one, and convolutions whose channels are no multiple of 4 leave the blocked layout altogether,
 * which makes a smaller net slower than the larger one. Products of matrices gain with every unit.
 */
import type { ChannelGroup } from "../groups/channel-group.js";

/** Widths of groups; one that is missing keeps all. */
export type Widths = ReadonlyMap<ChannelGroup, number>;

/** Multiples of a block cost next to no width that they could save where a group has this many blocks. */
const MANY_BLOCKS = 4;

/**
 * Widths of the group are multiples of this many units.
 * @param block channels that kernels of the target work on at once
 */
export function widthStep({ kind, width }: ChannelGroup, block: number): number {
  if (kind === "heads") return 1;
  if (width >= MANY_BLOCKS * block) return block;
  if (width >= 2 * block) return Math.max(1, block / 2);
  return Math.max(1, Math.min(4, Math.floor(width / 4)));
}

/** All widths of a group, its own first. */
export function widthsOf(group: ChannelGroup, block: number): readonly number[] {
  const step = widthStep(group, block);
  const widths = [group.width];
  for (let width = Math.ceil(group.width / step) * step - step; width > 0; width -= step) widths.push(width);
  return widths;
}

/** The width next to a share of each group. */
export function uniformWidths(groups: readonly ChannelGroup[], share: number, block: number): Widths {
  const nearest = (group: ChannelGroup): number =>
    widthsOf(group, block).reduce((best, width) =>
      Math.abs(width - share * group.width) < Math.abs(best - share * group.width) ? width : best,
    );
  return new Map(groups.map((group) => [group, nearest(group)]));
}

/**
 * Numbers of units that are worth keeping of a group: each narrower one is faster than the one before, as far as the kernels
 * of the target go by blocks (target/channel-block.ts has the measurement).
 */
import { CHANNELS_AT_ONCE } from "../../target/channel-block.js";
import type { ChannelGroup } from "./channel-group.js";

/**
 * The group's own width first, then narrower ones down to the smallest. Convolutions stop at whole blocks, and below one
 * at what their layout asks for; products of matrices have no steps of their own, so those of a block serve to keep the
 * list short; every head counts. A group that stays has its own width only.
 * @param block channels that the target works on at once
 */
export function alignedWidths({ kind, width, unitSize, frozen }: ChannelGroup, block: number): readonly number[] {
  if (frozen !== null) return [width];
  const widths = [width];
  for (let kept = width - 1; kept > 0; kept--) {
    if (kind === "heads" || isAligned(kept * unitSize, block)) widths.push(kept);
  }
  return widths;
}

const isAligned = (channels: number, block: number): boolean =>
  channels % (channels > block ? block : Math.min(CHANNELS_AT_ONCE, block)) === 0;

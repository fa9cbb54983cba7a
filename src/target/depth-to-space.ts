/** A DepthToSpace of images whose channels lie, for each place, by rows and columns of what it becomes, and then by its own. */
import type { Node } from "../ir/index.js";

export interface Spread {
  /** Output channels, and rows and columns that come of one place. */
  readonly channels: number;
  readonly block: number;
}

/**
 * null where the order is the other one (CRD), the channels are not known, or integers would take longer than floats: rows of 2, 4
 * or 8 bytes are copied as one number each, any others by a call, 5 ns.
 */
export function spreadOf(node: Node): Spread | null {
  const block = node.int("blocksize", 0);
  const shape = node.is("DepthToSpace") ? node.inputs[0]?.shape : null;
  const [, depth] = shape ?? [];
  if (shape?.length !== 4 || typeof depth !== "number" || block < 1) return null;
  const channels = depth / block ** 2;
  if (node.string("mode", "DCR") !== "DCR" || !Number.isInteger(channels)) return null;
  const row = channels * block;
  return row === 2 || row === 4 || row >= 8 ? { channels, block } : null;
}

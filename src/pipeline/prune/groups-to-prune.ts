/** The groups that may be narrowed, as far as the selection of nodes allows. */
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import type { Selection } from "../config.js";
import { leftOut } from "../select.js";

/**
 * With --include, groups that one of the named nodes makes; without those of which a node is excluded that makes
 * or reads them. Throws SELECTOR_EMPTY.
 */
export function groupsToPrune({ model, groups }: ChannelMap, { include, exclude }: Selection): readonly ChannelGroup[] {
  const notIncluded = leftOut(model, { include, exclude: [] });
  const excluded = leftOut(model, { include: [], exclude });
  return groups.filter(({ frozen, width, producers, consumers }) => {
    if (frozen !== null || width < 2) return false;
    if (producers.every(({ node }) => notIncluded.has(node.displayName))) return false;
    return ![...producers, ...consumers].some(({ node }) => excluded.has(node.displayName));
  });
}

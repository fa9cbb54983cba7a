/** The groups that may be narrowed, as far as the selection of nodes allows. */
import { InferOptError } from "../../base/errors.js";
import type { Widths } from "../../pruning/choose/widths.js";
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import { residualBranches } from "../../pruning/groups/residual-branches.js";
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

/** One number for each group, in order. Throws FLAG_INVALID. */
export function givenWidths(map: ChannelMap, groups: readonly ChannelGroup[], widths: readonly number[]): Widths {
  const refused = (why: string): InferOptError =>
    new InferOptError("FLAG_INVALID", "usage", `--widths: ${why}`, {
      hint: "Give a number for each group that can be narrowed, in the order of `show --groups`; a result lists them for every net.",
      fields: { flag: "--widths", value: widths.join(",") },
    });
  if (widths.length !== groups.length)
    throw refused(`${widths.length} numbers, and the model has ${groups.length} groups that can be narrowed`);
  const branches = residualBranches(map);
  groups.forEach((group, i) => {
    const { name, width } = group;
    if (widths[i]! > width) throw refused(`${widths[i]} units of ${name}, which has ${width}`);
    if (widths[i] === 0 && !branches.has(group)) throw refused(`${name} cannot go as a whole`);
  });
  return new Map(groups.map((group, i) => [group, widths[i]!]));
}

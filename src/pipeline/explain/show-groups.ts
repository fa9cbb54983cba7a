/** `show --groups`: the channels, units and heads of a model that can only be removed together, as `prune` sees them. */
import { alignedWidths } from "../../pruning/groups/aligned-widths.js";
import type { ChannelGroup, GroupKind, GroupMember } from "../../pruning/groups/channel-group.js";
import { findChannelGroups } from "../../pruning/groups/find-channel-groups.js";
import { channelBlock } from "../../target/channel-block.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { rewrite } from "./explain-model.js";

export interface ShownGroup {
  readonly name: string;
  readonly kind: GroupKind;
  readonly width: number;
  /** Positions of a unit where it has the fewest. */
  readonly unitSize: number;
  /** Nodes that make the units, that read and mix them, and that have a constant beside them. */
  readonly producers: readonly string[];
  readonly consumers: readonly string[];
  readonly followers: readonly string[];
  /** Numbers of units that are worth keeping on this machine, its own first. */
  readonly widths: readonly number[];
  /** Why none of it can be removed; null when it can. */
  readonly frozen: string | null;
}

export interface GroupsShown {
  readonly model: { readonly path: string };
  /** Channels that convolutions work on at once here. */
  readonly block: number;
  readonly groups: readonly ShownGroup[];
  /** What kept the model from being brought to the form that `prune` starts from. */
  readonly notes: readonly string[];
}

/** Of the model as `fuse` leaves it, which is what `prune` starts from. Throws what loading throws. */
export async function showGroups(path: string, runtime: RuntimeConfig, context: RunContext): Promise<GroupsShown> {
  const block = channelBlock(context.environment.flags);
  const rewritten = await rewrite({ path, nodes: null, runtime }, context);
  try {
    const { groups } = findChannelGroups(rewritten.model);
    return { model: { path }, block, groups: groups.map((group) => shown(group, block)), notes: rewritten.notes };
  } finally {
    rewritten.drop();
  }
}

const namesOf = (members: readonly GroupMember[]): string[] => [
  ...new Set(members.map(({ node }) => node.displayName)),
];

const shown = (group: ChannelGroup, block: number): ShownGroup => ({
  name: group.name,
  kind: group.kind,
  width: group.width,
  unitSize: group.unitSize,
  producers: namesOf(group.producers),
  consumers: namesOf(group.consumers),
  followers: namesOf(group.followers),
  widths: alignedWidths(group, block),
  frozen: group.frozen,
});

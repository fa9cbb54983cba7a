/**
 * Nets that go without one residual branch. The layers behind it are fitted, front to back, as they would be in a net that
 * is delivered: what reads the sum can often take over all that the branch did, which a net whose other weights stay
 * as they are says nothing of.
 */
import { linkModel } from "../../ir/index.js";
import type { ChannelGroup } from "../../pruning/groups/channel-group.js";
import { residualBranches } from "../../pruning/groups/residual-branches.js";
import { NetPair } from "../../pruning/refit/net-pair.js";
import { sliceChannels } from "../../pruning/slice/slice-channels.js";
import { linkedFile } from "../model-runs.js";
import type { RunRecord } from "../run-record.js";
import type { PruningKnown } from "./pruned-file.js";
import { refitNet } from "./refit-net.js";

/** Waves of layers behind a branch that are fitted: those that read the sum, and those that make up for what they leave. */
const WAVES = 4;

/** Files of nets without the branch that a group is all of, by group; others have none. */
export async function branchTrials(
  { map, samples, sizes, runtime, isOver }: PruningKnown,
  groups: readonly ChannelGroup[],
  record: RunRecord,
): Promise<ReadonlyMap<ChannelGroup, string>> {
  const branches = residualBranches(map);
  const files = new Map<ChannelGroup, string>();
  const { context } = record;
  const removable = groups.filter((group) => branches.has(group));
  if (removable.length > 0) record.doing("profile", "residual branches");
  for (const [i, group] of removable.entries()) {
    if (isOver()) break;
    const kept = new Map([[group, []]]);
    const sliced = sliceChannels(map, kept);
    const pair = new NetPair(map, sliced, kept);
    await refitNet({ pair, samples, sizes, runtime, mostWaves: WAVES, areOthersKept: true }, context);
    const path = linkedFile(context, "trial");
    linkModel(sliced.model, path);
    files.set(group, path);
    record.progress(i + 1, removable.length);
  }
  return files;
}

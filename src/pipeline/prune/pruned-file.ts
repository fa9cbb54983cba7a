/** Pruned nets as files of the scratch folder: cut, fitted, and written. */
import { rmSync } from "node:fs";
import { type Model, type SavedModel, saveModel } from "../../ir/index.js";
import type { Removal } from "../../pruning/choose/removal-order.js";
import type { Widths } from "../../pruning/choose/widths.js";
import type { ChannelGroup, ChannelMap, Kept } from "../../pruning/groups/channel-group.js";
import { NetPair } from "../../pruning/refit/net-pair.js";
import { sliceChannels } from "../../pruning/slice/slice-channels.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { scratchFile } from "../model-runs.js";
import { type FitSamples, type RefitReport, refitNet } from "./refit-net.js";
import type { SampleSizes } from "./sample-sizes.js";

export interface PrunedFile {
  readonly path: string;
  /** As the output of the run; the file itself may say more of values. */
  readonly bytes: number;
  /** null: the weights are those of the original, cut. */
  readonly report: RefitReport | null;
}

/** What a net would take as the output of the run. */
export type BytesOf = (saved: SavedModel) => number;

export interface PruningKnown {
  readonly map: ChannelMap;
  readonly order: ReadonlyMap<ChannelGroup, Removal>;
  readonly samples: FitSamples;
  readonly sizes: SampleSizes;
  readonly runtime: RuntimeConfig;
  readonly bytesOf: BytesOf;
  /** Whether the time that was given for the run is over. */
  readonly isOver: () => boolean;
}

/** Those units that go last. */
export function keptUnits(widths: Widths, order: PruningKnown["order"]): Kept {
  const narrowed = [...widths].filter(([group, width]) => width < group.width);
  return new Map(
    narrowed.map(([group, width]) => [
      group,
      order
        .get(group)!
        .order.slice(group.width - width)
        .sort((a, b) => a - b),
    ]),
  );
}

/** Cut and not fitted, for measuring what kernels take. */
export const cutFile = ({ map, order, bytesOf }: PruningKnown, widths: Widths, context: RunContext): PrunedFile =>
  writtenNet(sliceChannels(map, keptUnits(widths, order)).model, null, bytesOf, context);

/** @param areOthersKept see RefitRequest */
export async function prunedFile(
  known: PruningKnown,
  widths: Widths,
  context: RunContext,
  onProgress?: (done: number, total: number) => void,
  areOthersKept = false,
): Promise<PrunedFile> {
  const { map, order, samples, sizes, runtime, isOver } = known;
  const kept = keptUnits(widths, order);
  const sliced = sliceChannels(map, kept);
  const pair = new NetPair(map, sliced, kept);
  const request = { pair, samples, sizes, runtime, isOver, areOthersKept, ...(onProgress && { onProgress }) };
  const report = await refitNet(request, context);
  return writtenNet(sliced.model, report, known.bytesOf, context);
}

export const removePruned = ({ path }: PrunedFile): void => rmSync(path, { force: true });

/** @param report null: the weights are those of the original, cut */
export function writtenNet(
  model: Model,
  report: RefitReport | null,
  bytesOf: BytesOf,
  context: RunContext,
): PrunedFile {
  const path = scratchFile(context, "pruned");
  const staged = saveModel(model, path);
  staged.commit();
  return { path, bytes: bytesOf(staged), report };
}

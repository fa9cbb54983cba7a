/** What of a pruning goes into the result. */
import { exceeds } from "../../base/exceeds.js";
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import type { NotRecovered, Recovery } from "../recover/recover-weights.js";
import type { Tried } from "./net-trials.js";
import type { SparsityFacts } from "./sparsity-facts.js";

/** In units of the variance of the original's outputs, on samples that nothing was learned from; or why nothing was. */
export type RecoveryFacts =
  | {
      /** After which the weights were taken; 0 when none brought the net closer. */
      readonly step: number;
      readonly before: number;
      readonly after: number;
      /** Nodes that no gradient passes, and why. */
      readonly blocked: readonly { readonly node: string; readonly reason: string }[];
    }
  | { readonly reason: string };

export interface PruningFacts {
  /** Of `--sparsity`: zeros in the weights, in place of fewer channels. */
  readonly sparsity?: SparsityFacts;
  /** Of `--recover`: how far the chosen net was from the original before and after it learned. */
  readonly recovery?: RecoveryFacts;
  /** Groups of channels as the model has them, and how many of each are left in the chosen net. */
  readonly groups: readonly {
    readonly group: string;
    readonly kind: string;
    readonly width: number;
    readonly kept: number;
    /** Why it cannot be narrowed; null where it can. */
    readonly frozen: string | null;
  }[];
  /** Layers of the chosen net that were fitted: share of the variance of what they should make that is missed on other samples. */
  readonly fitted: readonly { readonly node: string; readonly before: number; readonly after: number }[];
  /** Layers that keep the weights that were left of the original, and why. */
  readonly unfitted: readonly { readonly node: string; readonly reason: string }[];
  /** Nets that were timed and that no other one exceeds in speed, accuracy and size; the slowest first. */
  readonly pareto: readonly {
    readonly name: string;
    /** Of the groups that can be narrowed, as `prune --widths` takes them. */
    readonly widths: readonly number[];
    readonly bytes: number;
    readonly accuracy: number;
    readonly speedup: number;
    readonly speedupInterval: readonly [number, number];
  }[];
}

export function narrowingFacts(
  { groups }: ChannelMap,
  { widths, file, recovery }: Tried,
  tried: readonly Tried[],
  searched: readonly ChannelGroup[],
): PruningFacts {
  return {
    groups: groups.map((group) => ({
      group: group.name,
      kind: group.kind,
      width: group.width,
      kept: widths.get(group) ?? group.width,
      frozen: group.frozen,
    })),
    fitted: file.report?.fitted ?? [],
    unfitted: file.report?.unfitted ?? [],
    ...(recovery && { recovery: recoveryFacts(recovery) }),
    pareto: tried
      .filter((each) => tried.every((other) => other === each || !isBetter(other, each)))
      .flatMap(({ name, widths, file: { bytes }, measured: { latency, accuracy } }) =>
        latency
          ? [
              {
                name,
                widths: searched.map((group) => widths.get(group) ?? group.width),
                bytes,
                accuracy: accuracy.facts.candidate,
                speedup: latency.facts.speedup,
                speedupInterval: latency.facts.speedupInterval,
              },
            ]
          : [],
      )
      .sort((a, b) => a.speedup - b.speedup),
  };
}

const recoveryFacts = (recovery: Recovery | NotRecovered): RecoveryFacts =>
  "reason" in recovery
    ? recovery
    : {
        step: recovery.step,
        before: recovery.before,
        after: recovery.after,
        blocked: [...recovery.blocked].map(([node, reason]) => ({ node, reason })),
      };

/** In everything, and in something. What was not timed is better than nothing. */
function isBetter(a: Tried, b: Tried): boolean {
  const [own, other] = [a.measured, b.measured];
  if (!own.latency || !other.latency) return false;
  const sign = own.accuracy.facts.higherIsBetter ? 1 : -1;
  return exceeds([
    own.latency.facts.speedup - other.latency.facts.speedup,
    sign * (own.accuracy.facts.candidate - other.accuracy.facts.candidate),
    b.file.bytes - a.file.bytes,
  ]);
}

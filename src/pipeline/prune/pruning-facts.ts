/** What of a pruning goes into the result. */
import type { ChannelMap } from "../../pruning/groups/channel-group.js";
import type { PruningFacts } from "../result.js";
import type { Tried } from "./search.js";

export function narrowingFacts({ groups }: ChannelMap, { widths, file }: Tried, tried: readonly Tried[]): PruningFacts {
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
    pareto: tried
      .filter((each) => tried.every((other) => other === each || !isBetter(other, each)))
      .flatMap(({ name, file: { bytes }, measured: { latency, accuracy } }) =>
        latency
          ? [
              {
                name,
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

/** In everything, and in something. What was not timed is better than nothing. */
function isBetter(a: Tried, b: Tried): boolean {
  const [own, other] = [a.measured, b.measured];
  if (!own.latency || !other.latency) return false;
  const sign = own.accuracy.facts.higherIsBetter ? 1 : -1;
  const gains = [
    own.latency.facts.speedup - other.latency.facts.speedup,
    sign * (own.accuracy.facts.candidate - other.accuracy.facts.candidate),
    b.file.bytes - a.file.bytes,
  ];
  return gains.every((gain) => gain >= 0) && gains.some((gain) => gain > 0);
}

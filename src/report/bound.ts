/** What keeps nodes from being faster, in words that all reports share. */
import type { ModelProfileFacts, NodeProfileFacts } from "../pipeline/profile/profile-facts.js";
import type { Bound } from "../pipeline/profile/roofline.js";
import { percent, percentOf, plural } from "./numbers.js";

type Bounded = Pick<NodeProfileFacts, "bound" | "peakShare">;

/** Data that come faster than memory gives them come from a cache. */
const isCached = ({ bound, peakShare }: Bounded): boolean => bound === "memory" && isOverPeak({ bound, peakShare });

const isOverPeak = ({ peakShare }: Bounded): boolean => peakShare !== null && peakShare > 1;

/** Times are told in microseconds; what is left of a difference below that is binary arithmetic. */
const LEAST_MS = 1e-6;

/** In a table. */
export const boundWord = (node: Bounded): string => (isCached(node) ? "cache" : (node.bound ?? "-"));

const words: Readonly<Record<Bound | "cache", string>> = {
  compute: "arithmetic",
  memory: "memory",
  cache: "a cache",
  neither: "neither (under a tenth of either peak)",
  unknown: "unknown",
};

/** "memory 51 %, arithmetic 44 %", the most time first; "" where the machine was not measured. */
export function boundShares({ bound, nodes, nodesMs }: Pick<ModelProfileFacts, "bound" | "nodes" | "nodesMs">): string {
  if (!bound) return "";
  const cached = sumMs(nodes.filter(isCached));
  const times = { ...bound, memory: bound.memory - cached, cache: cached };
  return (Object.entries(times) as [Bound | "cache", number][])
    .filter(([, ms]) => ms > LEAST_MS)
    .sort((a, b) => b[1] - a[1])
    .map(([name, ms]) => `${words[name]} ${percentOf(ms, nodesMs)}`)
    .join(", ");
}

/** Why shares of the peak are over 100 %; null where none is. */
export function overPeak({ nodes, nodesMs }: Pick<ModelProfileFacts, "nodes" | "nodesMs">): string | null {
  const over = nodes.filter(isOverPeak);
  const [cached, computed] = [over.filter(isCached), over.filter((node) => !isCached(node))];
  const told = (some: readonly NodeProfileFacts[]): string =>
    `${plural(some.length, "node")} (${percentOf(sumMs(some), nodesMs)} of the time)`;
  const most = Math.max(...computed.map(({ peakShare }) => peakShare!)) - 1;
  const parts = [
    ...(cached.length > 0 ? [`the data of ${told(cached)} come from a cache, faster than memory gives them`] : []),
    ...(computed.length > 0
      ? [
          `arithmetic of ${told(computed)} is up to ${percent(most, 1)} faster than the large product that the peak was measured with`,
        ]
      : []),
  ];
  return parts.length === 0 ? null : parts.join("; ");
}

const sumMs = (nodes: readonly NodeProfileFacts[]): number => nodes.reduce((sum, { ms }) => sum + ms, 0);

/**
 * Tensors of which one part needs a range so much wider than another that a scale for both
 * leaves the other with a handful of levels: boxes in pixels beside scores in [0, 1], a few
 * channels or tokens that dwarf the rest.
 */
import type { Node, Value } from "../ir/index.js";
import { binsPerSide, binWidth, finiteCount, type TapRange, type TapStatistics } from "../observe/index.js";

/** Branches of a Concat whose ranges are further apart stay float: the narrower would keep 16 of 256 levels. */
const WIDEST_RATIO = 16;
/** A tensor is told of when so many of its values other than 0 lie within half a step of 0, and vanish. */
const CROWDED_SHARE = 0.5;

type Extent = Pick<TapRange, "low" | "high">;

/**
 * Why a node must not read, or make, the integers of a Concat: its branches are too different.
 * Branches that were not measured, or hold nothing, are left out of the comparison.
 */
export function whyMixed(node: Node, rangeOf: (value: Value) => Extent | null): string | null {
  const concat = node.op === "Concat" && node.domain === "" ? node : node.inputs[0]?.producer;
  if (concat?.op !== "Concat" || concat.domain !== "") return null;
  const branches = concat.inputs.flatMap((input) => {
    const range = input && !input.constant ? rangeOf(input) : null;
    return range ? [{ label: input!.label, width: range.high - range.low }] : [];
  });
  if (branches.length < 2) return null;
  const widest = branches.reduce((a, b) => (b.width > a.width ? b : a));
  const narrowest = branches.reduce((a, b) => (b.width < a.width ? b : a));
  if (widest.width <= WIDEST_RATIO * narrowest.width) return null;
  const levels = Math.max(1, Math.round((256 * narrowest.width) / widest.width));
  return `one scale for ${widest.label} and ${narrowest.label}, which are joined, would leave the latter ${levels} of 256 levels`;
}

/** The share of the values other than 0 that a range rounds to 0. */
export function vanishingShare(tap: TapStatistics, { low, high }: Extent): number {
  const others = finiteCount(tap) - tap.zeroCount;
  if (others <= 0) return 0;
  // Whole bins only: what lies in a bin that the limit cuts is not counted.
  const bins = Math.min(binsPerSide, Math.floor((high - low) / 255 / 2 / binWidth(tap)));
  let within = 0;
  for (let bin = binsPerSide - bins; bin < binsPerSide + bins; bin++) within += tap.counts[bin]!;
  return bins === 0 ? 0 : Math.max(0, within - tap.zeroCount) / others;
}

/** Few sentences on the worst of them; most ranges are fine, and most models have none. */
export function crowdedNotes(
  ranges: ReadonlyMap<string, Extent>,
  taps: ReadonlyMap<string, TapStatistics>,
  most = 3,
): string[] {
  return [...ranges]
    .map(([label, range]) => ({ label, range, share: vanishingShare(taps.get(label)!, range) }))
    .filter(({ share }) => share >= CROWDED_SHARE)
    .sort((a, b) => b.share - a.share || (a.label < b.label ? -1 : 1))
    .slice(0, most)
    .map(
      ({ label, range, share }) =>
        `${label}: ${Math.floor(100 * share)} % of its values other than 0 become 0, since a few take its range up to ${range.low.toPrecision(3)} .. ${range.high.toPrecision(3)}`,
    );
}

/**
 * In which order regions go back to float: the profile says what time each saves as integers, and each is made
 * integers alone to see what error that causes at the model's outputs, or where these are few numbers at what the last products
 * read. Those with the most error for each
 * millisecond saved go first. Where time does not suffice for all, the others come last, as they follow each
 * other in the model: what is side by side needs few conversions.
 */
import type { Candidate, OutputError } from "../candidates/candidate.js";
import { bestMeasure, byAnswers, type Measure } from "../candidates/output-noise.js";
import { type Region, type RegionTime, savedMs } from "../candidates/regions.js";
import type { Workshop } from "../candidates/workshop.js";
import type { RunContext } from "../context.js";
import type { DynamicInstead } from "./dynamic-instead.js";
import { withLinesFor } from "./with-lines-for.js";

/** Files on disk at once; the float model runs once for all of them. */
const MEASURED_AT_ONCE = 6;

/** A region that may go back to float, and what it saves as it is. */
export interface CostedRegion {
  readonly region: Region;
  /** Beside what it becomes otherwise; null where times are not known. */
  readonly savedMs: number | null;
  /** What it counts for that its weights are smaller, in milliseconds; 0 for what becomes other integers. */
  readonly roomMs: number;
}

export interface RankedRegion extends Pick<CostedRegion, "savedMs" | "roomMs"> {
  readonly region: string;
  /** Of the outputs when this region alone is integers; Infinity when there was no time or nothing to measure. */
  readonly sqnrDb: number;
  /** The same by what tells regions apart best, which may be what the last products read. */
  readonly comparedDb: number;
  /** Power of that error relative to the signal, as expected where it was not measured; 1 where there is more of it. */
  readonly noise: number;
}

export interface Ranking {
  readonly regions: readonly RankedRegion[];
  /** What measuring all of them takes, by those that were; null where none was. */
  readonly wholeMs: number | null;
}

/**
 * All regions, as they follow each other in the model. Nothing is measured for that.
 *
 * @param instead what regions may become in the place of float: a part of the time is saved still
 */
export function costedRegions(
  candidate: Candidate,
  workshop: Workshop,
  instead: DynamicInstead | null = null,
): readonly CostedRegion[] {
  const regions = workshop.regionsOf(candidate);
  const times = workshop.regionTimes(candidate, regions);
  const worthOfRoom = times ? workshop.worthOfWeights(regions, times) : () => 0;
  return regions.map((region) => {
    const isDynamic = instead?.forms.has(region.name) ?? false;
    const timeShare = isDynamic ? instead!.timeShare : 1;
    const roomMs = isDynamic ? 0 : worthOfRoom(region.name);
    return { region, savedMs: times ? saved(times.get(region.name)!, timeShare, roomMs) : null, roomMs };
  });
}

/** @param stop milliseconds by the context's clock at which to stop measuring */
export async function rankRegions(
  candidate: Candidate,
  costed: readonly CostedRegion[],
  workshop: Workshop,
  context: RunContext,
  stop: number,
): Promise<Ranking> {
  const regions = costed.map(({ region }) => region);
  const integers = [...candidate.built.forms.keys()];
  const measured = new Map<string, OutputError>();
  const from = context.now();
  let longestMs = 0;
  for (let left = regions.map((_, i) => i); left.length > 0; ) {
    const begun = context.now();
    if (begun + longestMs > stop) break;
    const chosen = left.slice(0, MEASURED_AT_ONCE);
    left = left.slice(MEASURED_AT_ONCE);
    // Next to nothing is left of the noise then.
    const variant = withLinesFor(candidate.variant, 0);
    const alone = chosen.map((i) => {
      const others = integers.filter((node) => !regions[i]!.nodes.includes(node));
      const kept = others.map((node) => [node, "measured one at a time"] as const);
      return workshop.make(variant, new Map([...candidate.keptFloat, ...kept]));
    });
    await workshop.measureError(alone);
    alone.forEach((single, i) => {
      measured.set(regions[chosen[i]!]!.name, single);
      workshop.discard(single);
    });
    longestMs = Math.max(longestMs, context.now() - begun);
    context.observer({ type: "progress", done: measured.size, total: regions.length });
  }
  const wholeMs = measured.size > 0 ? ((context.now() - from) * regions.length) / measured.size : null;
  const best = bestMeasure([...measured.values()]);
  const lasts = workshop.options.inner?.products;
  const decibelsIn = (measureOf: (region: Region) => Measure): number[] =>
    regions.map((region) => {
      const single = measured.get(region.name);
      return (single && measureOf(region).of(single).sqnrDb) ?? Number.POSITIVE_INFINITY;
    });
  const ofAnswers = decibelsIn(() => byAnswers);
  // What a last product makes worse itself does not show in what it reads.
  const decibels = decibelsIn(({ nodes }) => (nodes.some((node) => lasts?.has(node)) ? byAnswers : best));
  candidate.errors = new Map(regions.map(({ name }, i) => [name, ofAnswers[i]!]));
  const ranked = costed.map(({ region: { name }, savedMs, roomMs }, i): RankedRegion => {
    const noise = Math.min(1, noiseOf(measured.has(name) ? decibels[i]! : likelyDb(decibels, i)));
    return { region: name, sqnrDb: ofAnswers[i]!, comparedDb: decibels[i]!, noise, savedMs, roomMs };
  });
  // Equal numbers, zeros among them, keep their order.
  const inOrder = ranked.sort(
    (a, b) => compare(worthOf(b), worthOf(a)) || compare(Number(isRoom(a)), Number(isRoom(b))),
  );
  return { regions: inOrder, wholeMs };
}

/** On the line between the nearest ones that were measured; Infinity where none was. */
function likelyDb(decibels: readonly number[], at: number): number {
  const before = decibels.findLastIndex((db, i) => i < at && Number.isFinite(db));
  const after = decibels.findIndex((db, i) => i > at && Number.isFinite(db));
  if (before < 0 || after < 0) return decibels[Math.max(before, after)] ?? Number.POSITIVE_INFINITY;
  const share = (at - before) / (after - before);
  return (1 - share) * decibels[before]! + share * decibels[after]!;
}

/** Power relative to the signal; what the runtime refuses is as bad as can be. */
const noiseOf = (sqnrDb: number): number => 10 ** (-sqnrDb / 10);

const compare = (a: number, b: number): number => (a === b ? 0 : a - b);

/** Beside a region that takes this share of its time in float. Of what only takes room no time is known, and none is saved. */
function saved(time: RegionTime, timeShare: number, roomMs: number): number | null {
  if (time.beforeMs === 0) return roomMs > 0 ? 0 : null;
  return savedMs(time) - (1 - timeShare) * time.beforeMs;
}

/** What saves room and no time, as tables do: where nothing was measured it is the last to be thought noisy. */
const isRoom = ({ savedMs, roomMs }: RankedRegion): boolean => savedMs !== null && savedMs <= 0 && roomMs > 0;

/** Power of the measured noise for each millisecond; what saves neither time nor room comes before all else. */
const worthOf = ({ comparedDb, savedMs, roomMs }: RankedRegion): number => {
  const ms = savedMs === null ? null : savedMs + roomMs;
  return ms !== null && ms <= 0 ? Number.POSITIVE_INFINITY : noiseOf(comparedDb) / (ms ?? 1);
};

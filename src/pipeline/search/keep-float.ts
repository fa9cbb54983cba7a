/**
 * Puts regions back to float, or makes them dynamic integers where that helps too, until the accuracy limit is
 * met, at the least cost in time. The shortest prefix of their ranking which suffices is found by doubling and bisection;
 * where time does not suffice for that, by the number that is expected to. Then regions of that prefix which save most
 * are tried as static integers once more.
 */
import type { Candidate } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import type { RunContext } from "../context.js";
import { type DynamicInstead, withDynamic } from "./dynamic-instead.js";
import { FloatCount, type TriedCount } from "./float-count.js";
import { type CostedRegion, costedRegions, type RankedRegion, rankRegions } from "./rank-regions.js";
import { withLinesFor } from "./with-lines-for.js";

export interface KeepFloatRequest {
  /** The candidate that misses the limit. */
  readonly candidate: Candidate;
  readonly workshop: Workshop;
  readonly context: RunContext;
  /** Milliseconds by the context's clock at which to stop looking. */
  readonly deadline: number;
  /** What is expected to be slower than that, beside the original, is not tried. */
  readonly leastSpeedup: number;
  /** What regions may become before they are float; null where dynamic integers do not meet the limit either. */
  readonly instead: DynamicInstead | null;
  /** What measuring a candidate on the evaluation data takes, in milliseconds, as far as is known before. */
  readonly attemptMs: number;
  /** Measures a candidate on the evaluation data and answers whether it meets the limit. */
  readonly meetsLimit: (candidate: Candidate) => Promise<boolean>;
  /** Milliseconds that took, also where an earlier run did it and this one recalls it. */
  readonly measuringMs: (candidate: Candidate) => number;
  /** What the metric lost of one that was measured, in limits: more than 1 misses; null where it is not known. */
  readonly dropOf: (candidate: Candidate) => number | null;
}

export interface KeepFloatOutcome {
  /** The fastest candidate found that meets the limit, or null. */
  readonly found: Candidate | null;
  /** Everything that was measured on the way. */
  readonly tried: readonly Candidate[];
  readonly reach: SearchReach;
}

/** How far a search went, whether it found something or not. */
export interface SearchReach {
  readonly regions: number;
  /** Whether some of them become dynamic integers in the place of float: what follows counts both. */
  readonly mayBeDynamic: boolean;
  /** The most regions in float that missed the limit; 0 where it was the candidate alone. */
  readonly tried: number;
  /** Regions in float that there would have been a gain with. */
  readonly most: number;
  /** Milliseconds that were missing, about; 0 where none were. */
  readonly missingMs: number;
}

/** Where times are not known: more float regions than this share of all leave no gain worth having. */
const LARGEST_SHARE = 0.75;
/** Regions that are tried as integers again. */
const MOST_WON_BACK = 6;
/** For so many the ranking leaves time, ... */
const LEAST_ATTEMPTS = 4;
/** ... and doubling, for what comes after it. */
const ATTEMPTS_AFTER_DOUBLING = 3;
/** With no more than so many left, the next is to meet the limit. */
const ATTEMPTS_TO_DARE = 2;

interface Met extends TriedCount {
  readonly found: Candidate;
}

export const keepWorstFloat = (request: KeepFloatRequest): Promise<KeepFloatOutcome> => new Search(request).run();

class Search {
  readonly #tried: Candidate[] = [];
  #ranking: readonly RankedRegion[] = [];
  #longestMs = 0;

  constructor(readonly request: KeepFloatRequest) {}

  async run(): Promise<KeepFloatOutcome> {
    const { candidate, workshop, context, deadline, attemptMs, instead, dropOf } = this.request;
    const costed = costedRegions(candidate, workshop, instead);
    const of = { regions: costed.length, mayBeDynamic: costed.some(({ region }) => this.#isDynamic(region.name)) };
    if (!this.#mayAnyBeFloat(costed))
      return { found: null, tried: [], reach: { ...of, tried: 0, most: 0, missingMs: 0 } };
    const from = context.now();
    const half = from + (deadline - from) / 2;
    const stop = Math.min(half, deadline - LEAST_ATTEMPTS * attemptMs);
    const { regions, wholeMs } = await rankRegions(candidate, costed, workshop, context, stop);
    this.#ranking = regions;
    const most = this.#mostInFloat();
    const { missed, met } = await this.#shortestPrefix({ count: 0, drop: dropOf(candidate) }, most);
    const found = met && (await this.#winBack(met.found, met.count));
    const isThrough = met !== null || missed.count >= most;
    const leftMs = this.#neededMs(most, wholeMs) - (context.now() - from);
    const missingMs = isThrough ? 0 : Math.max(1, leftMs);
    return { found, tried: this.#tried, reach: { ...of, tried: missed.count, most, missingMs } };
  }

  /** In whichever order they come: those that save least, before the long work of ranking. One at least is left as integers. */
  #mayAnyBeFloat(regions: readonly CostedRegion[]): boolean {
    const { candidate, workshop, leastSpeedup } = this.request;
    const [least, ...others] = [...regions].sort((a, b) => (a.savedMs ?? 0) - (b.savedMs ?? 0));
    if (!least || others.length === 0) return false;
    const cheapest = [least, ...others.filter(({ savedMs }) => savedMs === null || savedMs < 0)];
    return (speedWithout(candidate.speedup, workshop.runMs(candidate), cheapest) ?? leastSpeedup) >= leastSpeedup;
  }

  /** Of the ranking, as far as the speed that is left is worth having; one region at least is left as integers. */
  #mostInFloat(): number {
    const { candidate, workshop, leastSpeedup } = this.request;
    const regions = this.#ranking;
    const own = workshop.runMs(candidate);
    if (leastSpeedup > 0 && speedWithout(candidate.speedup, own, regions) === null) {
      return Math.floor(regions.length * LARGEST_SHARE);
    }
    const isWorthIt = (count: number): boolean =>
      (speedWithout(candidate.speedup, own, regions.slice(0, count)) ?? leastSpeedup) >= leastSpeedup;
    let most = Math.max(0, regions.length - 1);
    while (most > 0 && !isWorthIt(most)) most--;
    return most;
  }

  /**
   * Whether another attempt fits, should it take as long as the longest so far. The first is made while there is time at all,
   * whatever is expected of it: nothing is found without.
   */
  get #hasTime(): boolean {
    return this.request.context.now() + this.#longestMs < this.request.deadline;
  }

  get #attemptMs(): number {
    return this.#longestMs || this.request.attemptMs;
  }

  /** That fit into the time. */
  get #attemptsLeft(): number {
    return Math.floor((this.request.deadline - this.request.context.now()) / this.#attemptMs);
  }

  async #shortestPrefix(
    start: TriedCount,
    most: number,
  ): Promise<{ readonly missed: TriedCount; readonly met: Met | null }> {
    const { workshop } = this.request;
    const counts = new FloatCount(this.#ranking.map(({ noise }) => noise));
    let missed = start;
    let met: Met | null = null;
    while (missed.count < most && !met && this.#hasTime) {
      const count = Math.min(this.#further(missed, most, counts), most);
      const tried = await this.#attempt(this.#ranking.slice(0, count));
      if (tried.found) met = { ...tried, found: tried.found, count };
      else missed = { ...tried, count };
    }
    while (met && met.count - missed.count > 1 && this.#hasTime) {
      const left = this.#attemptsLeft;
      const isShort = left < Math.ceil(Math.log2(met.count - missed.count));
      const count: number = isShort ? counts.between(missed, met, left <= 1) : (met.count + missed.count) >> 1;
      const tried = await this.#attempt(this.#ranking.slice(0, count));
      if (tried.found) {
        workshop.discard(met.found);
        met = { ...tried, found: tried.found, count };
      } else missed = { ...tried, count };
    }
    return { missed, met };
  }

  /** The next number to try where this one is too small. */
  #further(missed: TriedCount, most: number, counts: FloatCount): number {
    const left = this.#attemptsLeft;
    if (left >= doublings(missed.count, most) + ATTEMPTS_AFTER_DOUBLING) return Math.max(1, 2 * missed.count);
    // With one that meets the limit there is something to come back from.
    return left > ATTEMPTS_TO_DARE ? counts.enough(missed) : counts.ample(missed);
  }

  /** For doubling to the end and bisection, and for the ranking as much as half of it all. */
  #neededMs(most: number, rankingMs: number | null): number {
    const attempts = doublings(0, most) + Math.log2(most);
    const attemptsMs = attempts * this.#attemptMs;
    return attemptsMs + Math.min(attemptsMs, rankingMs ?? attemptsMs);
  }

  /** The last of a prefix is needed; of the others, some may have gone along for nothing. */
  async #winBack(first: Candidate, count: number): Promise<Candidate> {
    const { workshop } = this.request;
    let kept = this.#ranking.slice(0, count);
    let found = first;
    const worthTrying = kept
      .slice(0, -1)
      .filter(({ savedMs }) => savedMs !== null && savedMs > 0)
      .sort((a, b) => b.savedMs! - a.savedMs!)
      .slice(0, MOST_WON_BACK);
    for (const region of worthTrying) {
      if (!this.#hasTime) break;
      const fewer = kept.filter((each) => each !== region);
      const { found: better } = await this.#attempt(fewer);
      if (!better) continue;
      workshop.discard(found);
      found = better;
      kept = fewer;
    }
    return found;
  }

  /** Whether a region becomes dynamic integers in the place of float. */
  #isDynamic(region: string): boolean {
    return this.request.instead?.forms.has(region) ?? false;
  }

  /** Share of the noise of all regions without that of these which goes with them to float. */
  #noiseLeft(regions: readonly RankedRegion[]): number {
    const sum = (of: readonly RankedRegion[]): number => of.reduce((total, { noise }) => total + noise, 0);
    const all = sum(this.#ranking);
    // What becomes dynamic integers has noise still.
    const gone = sum(regions.filter(({ region }) => !this.#isDynamic(region)));
    return all > 0 ? Math.max(0, 1 - gone / all) : 1;
  }

  /** `found` is null when it misses the limit, or when nothing is left of it. */
  async #attempt(regions: readonly RankedRegion[]): Promise<{ found: Candidate | null; drop: number | null }> {
    const { candidate, workshop, context, instead, meetsLimit, measuringMs, dropOf } = this.request;
    const from = context.now();
    const dynamic = regions.map(({ region }) => region).filter((region) => this.#isDynamic(region));
    const kept = new Map(candidate.keptFloat);
    for (const each of regions) if (!this.#isDynamic(each.region)) kept.set(each.region, reasonOf(each));
    const variant = withLinesFor(candidate.variant, this.#noiseLeft(regions));
    const next = workshop.make(instead ? withDynamic(variant, dynamic, instead) : variant, kept);
    next.note = noteOf(dynamic.length, regions.length - dynamic.length, this.#ranking.length);
    next.speedup = speedWithout(candidate.speedup, workshop.runMs(candidate), regions);
    if (candidate.errors) next.errors = candidate.errors;
    this.#tried.push(next);
    const isEmpty = next.built.forms.size === 0;
    const isMet = !isEmpty && (await meetsLimit(next));
    // What is recalled takes no time, and the next one may have to be measured.
    this.#longestMs = Math.max(this.#longestMs, context.now() - from, measuringMs(next));
    const drop = isEmpty ? null : dropOf(next);
    if (isMet) return { found: next, drop };
    workshop.discard(next);
    return { found: null, drop };
  }
}

/** Attempts from a number that misses up to the largest. */
const doublings = (from: number, most: number): number =>
  from === 0 ? 1 + Math.ceil(Math.log2(most)) : Math.ceil(Math.log2(most / from));

/** What times of regions let expect; null without them. */
function speedWithout(
  speedup: number | null,
  own: number | null,
  regions: readonly Pick<CostedRegion, "savedMs">[],
): number | null {
  if (speedup === null || own === null || regions.some(({ savedMs }) => savedMs === null)) return null;
  return (speedup * own) / (own + regions.reduce((sum, { savedMs }) => sum + savedMs!, 0));
}

const noteOf = (dynamic: number, float: number, all: number): string =>
  dynamic > 0
    ? `of ${all} regions ${dynamic} with dynamic integers, ${float} kept in float`
    : `${float} of ${all} regions kept in float`;

/** What costs no accuracy to speak of goes back too, where it saves no time as integers: it is the cheapest to try. */
function reasonOf({ sqnrDb, savedMs }: Pick<RankedRegion, "sqnrDb" | "savedMs">): string {
  const isSlower = savedMs !== null && savedMs <= 0;
  if (!Number.isFinite(sqnrDb)) return "kept float to meet the accuracy limit";
  const alone = `quantized alone it leaves ${sqnrDb.toFixed(1)} dB SQNR at the output`;
  return isSlower ? `saves no time as integers, and ${alone}` : `costs too much accuracy: ${alone}`;
}

/**
 * Puts regions back to float until the accuracy limit is met, at the least cost in time. Each
 * region is made integers alone to see what error that causes at the model's outputs, and the
 * profile says what time it saves: those with the most error for each millisecond saved go
 * first, and the shortest prefix of that ranking which suffices is found by doubling and
 * bisection. Then regions of that prefix which save most are tried as integers once more.
 */
import type { Candidate } from "./candidate.js";
import type { RunContext } from "./context.js";
import { type RegionTime, savedMs } from "./regions.js";
import type { Workshop } from "./workshop.js";

export interface KeepFloatRequest {
  /** The candidate that misses the limit. */
  readonly candidate: Candidate;
  readonly workshop: Workshop;
  readonly context: RunContext;
  /** Milliseconds by the context's clock at which to stop looking. */
  readonly deadline: number;
  /** Measures a candidate on the evaluation data and answers whether it meets the limit. */
  readonly meetsLimit: (candidate: Candidate) => Promise<boolean>;
}

export interface KeepFloatOutcome {
  /** The fastest candidate found that meets the limit, or null. */
  readonly found: Candidate | null;
  /** Everything that was measured on the way. */
  readonly tried: readonly Candidate[];
}

/** More float regions than this share of all leave no gain worth having. */
const LARGEST_SHARE = 0.75;
/** Files on disk at once; the float model runs once for all of them. */
const MEASURED_AT_ONCE = 6;
/** Regions that are tried as integers again. */
const MOST_WON_BACK = 6;

interface RankedRegion {
  readonly region: string;
  /** Of the outputs when this region alone is integers; Infinity when there was no time or nothing to measure. */
  readonly sqnrDb: number;
  /** null where times are not known. */
  readonly savedMs: number | null;
}

export const keepWorstFloat = (request: KeepFloatRequest): Promise<KeepFloatOutcome> => new Search(request).run();

class Search {
  readonly #tried: Candidate[] = [];
  #ranking: readonly RankedRegion[] = [];
  #longestMs = 0;

  constructor(readonly request: KeepFloatRequest) {}

  async run(): Promise<KeepFloatOutcome> {
    this.#ranking = await rankRegions(this.request);
    const prefix = await this.#shortestPrefix();
    const found = prefix && (await this.#winBack(prefix.found, prefix.count));
    return { found, tried: this.#tried };
  }

  /** Whether another attempt fits, should it take as long as the longest so far. */
  get #hasTime(): boolean {
    return this.request.context.now() + this.#longestMs < this.request.deadline;
  }

  async #shortestPrefix(): Promise<{ readonly found: Candidate; readonly count: number } | null> {
    const { workshop } = this.request;
    const largest = Math.floor(this.#ranking.length * LARGEST_SHARE);
    let missed = 0;
    let met = 0;
    let found: Candidate | null = null;
    for (let count = 1; missed < largest && !found && this.#hasTime; count = Math.min(2 * count, largest)) {
      found = await this.#attempt(this.#ranking.slice(0, count));
      if (found) met = count;
      else missed = count;
    }
    while (found && met - missed > 1 && this.#hasTime) {
      const middle = (met + missed) >> 1;
      const better = await this.#attempt(this.#ranking.slice(0, middle));
      if (better) {
        workshop.discard(found);
        found = better;
        met = middle;
      } else missed = middle;
    }
    return found && { found, count: met };
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
      const better = await this.#attempt(fewer);
      if (!better) continue;
      workshop.discard(found);
      found = better;
      kept = fewer;
    }
    return found;
  }

  /** Null when it misses the limit, or when nothing is left of it. */
  async #attempt(regions: readonly RankedRegion[]): Promise<Candidate | null> {
    const { candidate, workshop, context, meetsLimit } = this.request;
    const kept = new Map(candidate.keptFloat);
    for (const { region, sqnrDb } of regions) kept.set(region, reasonOf(sqnrDb));
    const next = workshop.make(candidate.variant, kept);
    next.note = `${regions.length} of ${this.#ranking.length} regions kept in float`;
    next.speedup = speedWithout(candidate.speedup, workshop.ownMs(candidate), regions);
    if (candidate.errors) next.errors = candidate.errors;
    this.#tried.push(next);
    const from = context.now();
    const isMet = next.built.forms.size > 0 && (await meetsLimit(next));
    this.#longestMs = Math.max(this.#longestMs, context.now() - from);
    if (isMet) return next;
    workshop.discard(next);
    return null;
  }
}

/** What times of regions let expect; null without them. */
function speedWithout(speedup: number | null, own: number | null, regions: readonly RankedRegion[]): number | null {
  if (speedup === null || own === null || regions.some(({ savedMs }) => savedMs === null)) return null;
  return (speedup * own) / (own + regions.reduce((sum, { savedMs }) => sum + savedMs!, 0));
}

const reasonOf = (sqnrDb: number): string =>
  Number.isFinite(sqnrDb)
    ? `costs too much accuracy: quantized alone it leaves ${sqnrDb.toFixed(1)} dB SQNR at the output`
    : "kept float to meet the accuracy limit";

/** The most error for each millisecond saved first; what saves nothing before all else. */
async function rankRegions(request: KeepFloatRequest): Promise<readonly RankedRegion[]> {
  const { candidate, workshop, context, deadline } = request;
  const regions = workshop.regionsOf(candidate);
  const times = workshop.regionTimes(candidate, regions);
  const integers = [...candidate.built.forms.keys()];
  const ranked: RankedRegion[] = [];
  const rank = (region: string, sqnrDb: number): void =>
    void ranked.push({ region, sqnrDb, savedMs: times ? saved(times.get(region)!) : null });
  // Half of the time at most goes into ranking.
  const stop = context.now() + (deadline - context.now()) / 2;
  let done = 0;
  for (let at = 0; at < regions.length; at += MEASURED_AT_ONCE) {
    const some = regions.slice(at, at + MEASURED_AT_ONCE);
    if (context.now() > stop) {
      for (const { name } of some) rank(name, Number.POSITIVE_INFINITY);
      continue;
    }
    const alone = some.map(({ nodes }) => {
      const others = integers.filter((node) => !nodes.includes(node));
      const kept = others.map((node) => [node, "measured one at a time"] as const);
      return workshop.make(candidate.variant, new Map([...candidate.keptFloat, ...kept]));
    });
    await workshop.measureError(alone);
    alone.forEach((single, i) => {
      rank(some[i]!.name, single.sqnrDb ?? Number.POSITIVE_INFINITY);
      workshop.discard(single);
    });
    done += some.length;
    context.observer({ type: "progress", done, total: regions.length });
  }
  candidate.errors = new Map(ranked.map(({ region, sqnrDb }) => [region, sqnrDb]));
  // Equal numbers, zeros among them, keep their order.
  return ranked.sort((a, b) => compare(worthOf(b), worthOf(a)));
}

const compare = (a: number, b: number): number => (a === b ? 0 : a - b);

const saved = (time: RegionTime): number | null => (time.beforeMs > 0 ? savedMs(time) : null);

/** Power of the noise, relative to the signal, for each millisecond. */
function worthOf({ sqnrDb, savedMs: ms }: RankedRegion): number {
  if (ms !== null && ms <= 0) return Number.POSITIVE_INFINITY;
  return 10 ** (-sqnrDb / 10) / (ms ?? 1);
}

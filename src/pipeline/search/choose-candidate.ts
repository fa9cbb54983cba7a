/**
 * Which candidate is the answer. Integers first, fastest first, as they are; then the
 * fastest of them with its worst regions back in float; then the float ones. The first that
 * meets every limit wins; when none does, the one that comes closest says why not.
 */
import { type Candidate, estimateOf, isInteger, isStatic, mostSpeedup } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import type { Limits, OptimizeConfig } from "../config.js";
import type { RunRecord } from "../run-record.js";
import type { SearchEnd } from "../verdict/search-end.js";
import { leastGain } from "../verdict/verdict.js";
import { isNoise } from "../verify/nonsense.js";
import { dynamicInstead, isDynamic } from "./dynamic-instead.js";
import type { Judge, Judged } from "./judge-candidate.js";
import { keepWorstFloat } from "./keep-float.js";

/** Candidates that are judged as they are before regions go back to float. */
const MOST_AS_THEY_ARE = 3;
/** Candidates whose regions are put back to float, each a search of its own. */
const MOST_SEARCHES = 2;
const SEARCHED_SHARE = 0.85;
/** Speeds this close are the same; then accuracy decides. */
const SAME_SPEED = 0.1;
/** Where no limit says how much error is too much, a decibel is worth this share of the speed, ... */
const SPEED_PER_DB = 0.015;
/** ... and all of them together this much: what is far slower is not the answer, however exact. */
const MOST_SPEED_FOR_ACCURACY = 0.15;
const FASTEST = "the fastest placement: the more accurate one missed a limit";
/** Files this close in size are the same; then speed decides where size is the goal. */
const SAME_SIZE = 0.03;
/** Errors this close are the same; then speed decides after all. */
const SAME_SQNR_DB = 1;

export interface Choice {
  readonly judged: Judged;
  /** Candidates that the search for regions to keep in float made. */
  readonly made: readonly Candidate[];
}

export async function chooseCandidate(
  candidates: readonly Candidate[],
  judge: Judge,
  workshop: Workshop,
  record: RunRecord,
  config: OptimizeConfig,
): Promise<Choice> {
  const { goal, searchMs } = config.quantize;
  const made: Candidate[] = [];
  /** Timed in full and not chosen at once. */
  const raced: Judged[] = [];
  const ranked = rank(candidates, config, workshop.options.target.isMeasurable);
  const floats = ranked.filter((candidate) => !isInteger(candidate));
  const fastestFloat = Math.max(leastGain, ...floats.map(({ speedup }) => speedup!));
  /** What is expected to be slower is not worth a look. */
  const leastSpeedup = Math.max(goal === "size" ? 0 : fastestFloat, config.limits.minSpeedup ?? 0);
  const pays = ({ speedup }: Candidate): boolean => goal === "size" || speedup! >= fastestFloat;
  const mayPay = (candidate: Candidate): boolean => goal === "size" || mostSpeedup(candidate)! >= fastestFloat;
  const integers = ranked.filter((candidate) => isInteger(candidate) && mayPay(candidate));

  /** Races an accurate candidate; the result ends the search when every limit is met. */
  const race = async (candidate: Candidate): Promise<Judged | null> => {
    const judged = await judge.race(candidate);
    if (isMet(judged)) return judged;
    raced.push(judged);
    return null;
  };

  /** The fastest placement of one that is accurate and gains too little, where that may gain enough. */
  const raceFaster = async (candidate: Candidate): Promise<Judged | null> => {
    const { variant, faster } = candidate;
    const slower = raced.at(-1)?.latency?.facts.speedupInterval[1];
    if (!faster || slower === undefined) return null;
    // What was measured, and by how much faster the other was reckoned to be.
    if (slower * faster.gain < leastSpeedup) return null;
    const next = workshop.make(variant, faster.keptFloat, {
      ...{ speedup: estimateOf(candidate)! * faster.gain, note: FASTEST },
    });
    made.push(next);
    await record.stage("verify", () => workshop.measureError([next]), "errors on a few samples");
    return !isNoise(next) && (await judge.isAccurate(next)) ? race(next) : null;
  };

  /** The fastest that met its limits in a race. */
  const fastestMet = (): Judged | null =>
    raced
      .filter(isMet)
      .reduce<Judged | null>((a, b) => (a && a.candidate.speedup! >= b.candidate.speedup! ? a : b), null);
  /** As estimated, like those that it is compared with; as measured where its regions have no times to estimate by. */
  const leastToWin = (): number => {
    const met = fastestMet()?.candidate;
    return (met && (estimateOf(met) ?? met.speedup)) ?? 0;
  };
  /** Whether it is so much faster that it may be ahead of what met its limits with some of its regions in float. */
  const mayWin = (candidate: Candidate): boolean => estimateOf(candidate)! * (1 - SAME_SPEED) > leastToWin();
  /** Whether one is the answer, unless a less accurate one with some regions in float is faster. */
  const hasWinner = (): boolean => raced.some((each) => isMet(each) && pays(each.candidate));
  /** Of the last one: with the first, the original is measured too. */
  let attemptMs = 0;
  for (const candidate of integers.slice(0, MOST_AS_THEY_ARE)) {
    // The others are slower.
    if (hasWinner()) break;
    const isAccurate = await judge.isAccurate(candidate);
    attemptMs = judge.measuringMs(candidate);
    if (!isAccurate) continue;
    for (const run of [race, raceFaster]) {
      if (hasWinner()) break;
      const won = await run(candidate);
      // It meets the limits, and a float candidate may be faster, or a less accurate one with some regions in float.
      if (won) raced.push(won);
      const isAhead = goal === "size" || !integers.some((each) => judge.missesAccuracy(each) && mayWin(each));
      if (won && pays(won.candidate) && isAhead) return { judged: won, made };
    }
  }
  const { budgetMs } = config.quantize;
  // Of a time for the whole run, a part is left for the race in the end.
  const leftMs = budgetMs == null ? searchMs : budgetMs * SEARCHED_SHARE - record.elapsedMs;
  const deadline = record.context.now() + leftMs;
  const inaccurate = integers.filter((candidate) => judge.missesAccuracy(candidate) && mayWin(candidate));
  const dynamic = inaccurate.length > 0 ? integers.find(isDynamic) : undefined;
  const instead = dynamic && (await judge.isAccurate(dynamic)) ? dynamicInstead(dynamic, workshop) : null;
  /** How searches ended that found nothing, by each candidate that they were about. */
  const ends = new Map<Candidate, SearchEnd>();
  for (const candidate of inaccurate.slice(0, MOST_SEARCHES)) {
    // Since the search before this one something else may have met the limits.
    if (!mayWin(candidate)) continue;
    const { found, tried, reach } = await record.stage(
      "quantize",
      () =>
        keepWorstFloat({
          candidate,
          workshop,
          context: record.context,
          deadline,
          leastSpeedup: Math.max(leastSpeedup, leastToWin()),
          instead: isStatic(candidate) ? instead : null,
          attemptMs,
          meetsLimit: (next) => judge.isAccurate(next),
          measuringMs: (measured) => judge.measuringMs(measured),
          dropOf: (measured) => judge.dropInLimits(measured),
        }),
      `${candidate.name}: regions back to float${instead && isStatic(candidate) ? " or to dynamic integers" : ""}`,
    );
    made.push(...tried);
    const longer = reach.missingMs > 0 ? 1 + reach.missingMs / Math.max(1, record.elapsedMs) : null;
    if (!found) for (const each of [candidate, ...tried]) ends.set(each, { ...reach, longer });
    const won = found && (await race(found));
    // It meets the limits, but so many nodes are float again that a float candidate may be faster, or one that met them before.
    if (won) raced.push(won);
    if (won && pays(won.candidate) && won === fastestMet()) return { judged: won, made };
  }
  // That it is accurate was found out for the searches; whether it is fast enough was not.
  if (instead && !hasWinner() && !raced.some((each) => each.candidate === dynamic)) {
    const won = await race(dynamic!);
    if (won) raced.push(won);
  }
  const met = fastestMet();
  if (met && pays(met.candidate)) return { judged: met, made };
  for (const candidate of floats.filter(({ speedup }) => goal === "size" || speedup! >= leastGain)) {
    const won = (await judge.isAccurate(candidate)) && (await race(candidate));
    if (!won) continue;
    // The fastest float one may have failed, and then integers with many float nodes can still be ahead.
    raced.push(won);
    break;
  }
  // Beside a float one that an estimate flattered: in a long race it met nothing, or was slower than they may be.
  const leastRaced = Math.max(leastGain, (fastestMet()?.candidate.speedup ?? 0) / (1 - SAME_SPEED));
  const passedOver = ranked.filter((each) => isInteger(each) && !mayPay(each) && each.speedup! >= leastRaced);
  for (const candidate of passedOver.slice(0, MOST_AS_THEY_ARE)) {
    const won = (await judge.isAccurate(candidate)) && (await race(candidate));
    if (!won) continue;
    raced.push(won);
    break;
  }
  return { judged: await closest(ranked, [...candidates, ...made], raced, judge, ends), made };
}

const isMet = ({ ruling }: Judged): boolean => ruling.verdict.outcome === "met";

/** Those fast enough that their errors may decide between them; where there are several, their errors must be known. */
export function contenders(candidates: readonly Candidate[]): readonly Candidate[] {
  const fastest = Math.max(...candidates.map(({ speedup }) => speedup!));
  return candidates.filter(({ speedup }) => speedup! * (1 + MOST_SPEED_FOR_ACCURACY) >= fastest);
}

/** In the order of the goal; what is mere noise comes last. */
function rank(
  candidates: readonly Candidate[],
  { quantize: { goal }, limits }: OptimizeConfig,
  isMeasurable: boolean,
): Candidate[] {
  const bySize = isMeasurable ? bySizeThenSpeed : byBytes;
  const order = goal === "size" ? bySize : bySpeed;
  return [false, true].flatMap((wanted) =>
    order(
      candidates.filter((each) => isNoise(each) === wanted),
      limits,
    ),
  );
}

const byBytes = (candidates: readonly Candidate[]): Candidate[] =>
  [...candidates].sort((a, b) => a.built.bytes - b.built.bytes);

/** Smaller first; among files of about the smallest size the faster. */
function bySizeThenSpeed(candidates: readonly Candidate[], limits: Limits): Candidate[] {
  const least = Math.min(...candidates.map(({ built }) => built.bytes));
  const isSmall = ({ built }: Candidate): boolean => built.bytes <= least * (1 + SAME_SIZE);
  return [...bySpeed(candidates.filter(isSmall), limits), ...byBytes(candidates.filter((each) => !isSmall(each)))];
}

/** Faster first; among equals the more accurate, and where the user declared no limit on accuracy, a little speed is given for much of it. */
function bySpeed(candidates: readonly Candidate[], limits: Limits): Candidate[] {
  if (candidates.length === 0) return [];
  const fastest = candidates.reduce((a, b) => (b.speedup! > a.speedup! ? b : a));
  const top = fastest.speedup!;
  const isDeclared = limits.maxDrop !== null && limits.maxDrop !== "none";
  const close = isDeclared ? candidates.filter(({ speedup }) => speedup! >= top * (1 - SAME_SPEED)) : [];
  const speed = (c: Candidate): number => {
    if (isDeclared) return close.includes(c) ? top : c.speedup!;
    const better = (c.sqnrDb ?? Number.NaN) - (fastest.sqnrDb ?? Number.NaN);
    return c.speedup! * (1 + Math.min(MOST_SPEED_FOR_ACCURACY, SPEED_PER_DB * Math.max(0, better || 0)));
  };
  const finest = Math.max(...close.map(({ sqnrDb }) => sqnrDb ?? 0));
  const error = (c: Candidate): number => ((c.sqnrDb ?? 0) >= finest - SAME_SQNR_DB ? finest : (c.sqnrDb ?? 0));
  const descending = (a: number, b: number): number => (a === b ? 0 : b - a);
  return [...candidates].sort(
    (a, b) => descending(speed(a), speed(b)) || descending(error(a), error(b)) || descending(a.speedup!, b.speedup!),
  );
}

/** Nothing won at once: what was judged in full (met, then fast), else the most accurate, else the fastest, timed properly. */
async function closest(
  ranked: readonly Candidate[],
  all: readonly Candidate[],
  raced: readonly Judged[],
  judge: Judge,
  ends: ReadonlyMap<Candidate, SearchEnd>,
): Promise<Judged> {
  const merit = (judged: Judged): number => (isMet(judged) ? 1e6 : 0) + (judged.candidate.speedup ?? 0);
  const [first] = raced;
  if (first) return raced.reduce((a, b) => (merit(b) > merit(a) ? b : a), first);
  const measured = all.filter(({ accuracy }) => accuracy !== null);
  if (measured.length === 0) return judge.race(ranked[0]!);
  const best = measured.reduce((a, b) => (judge.dropOf(b) < judge.dropOf(a) ? b : a));
  const [anyEnd = null] = ends.values();
  const end = ends.get(best) ?? anyEnd;
  return { candidate: best, latency: null, ruling: judge.rule(best, null, end), search: end };
}

/** Of the outputs: what some speed is given up for at all. */
const LEAST_GAIN_DB = 0.3;
/** What has more in float and is as fast, in no larger a file, is less rounded: few samples, or few numbers in an answer, say otherwise by chance up to this. */
const CHANCE_DB = 1;
/** Errors of under 2 % of the signal: less is worth no time. */
export const ENOUGH_DB = 35;

/** Weights in float take four times the room: a decibel is worth this share of the file. */
const SIZE_PER_DB = 0.05;

/** The first, with most integers, or one that is more accurate by more than the speed and the room that it gives up. */
export function worthItsTime(made: readonly Candidate[]): Candidate {
  const [fast] = made as [Candidate, ...Candidate[]];
  const worth = (each: Candidate): number => decibels(each) - priceDb(each, fast);
  // Where none could be measured they are equals.
  const others = made.filter((each) => each.sqnrDb !== null || fast.sqnrDb === null);
  return others.reduce((best, each) => (worth(each) > worth(best) ? each : best), fast);
}

/**
 * Whether one that was not measured may be worth its time beside `fast`, when `careful` has all in float that it has and more:
 * up to chance it is no more accurate.
 */
export function mayBeWorthIt(each: Candidate, fast: Candidate, careful: Candidate): boolean {
  if (fast.sqnrDb === null || careful.sqnrDb === null || !Number.isFinite(careful.sqnrDb)) return true;
  return Math.min(ENOUGH_DB, decibels(careful) + CHANCE_DB) - priceDb(each, fast) > decibels(fast);
}

const decibels = ({ sqnrDb }: Candidate): number => Math.min(ENOUGH_DB, sqnrDb ?? 0);

/** What has to be gained for what one gives up beside `fast`. */
function priceDb(each: Candidate, fast: Candidate): number {
  if (each === fast) return 0;
  const lost = 1 - (each.speedup ?? 1) / (fast.speedup ?? 1);
  const grown = each.built.bytes / fast.built.bytes - 1;
  const doubt = lost > 0 || grown > SAME_SIZE ? LEAST_GAIN_DB : -CHANCE_DB;
  return lost / SPEED_PER_DB + grown / SIZE_PER_DB + doubt;
}

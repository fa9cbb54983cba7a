/**
 * Which candidate is the answer. Integers first, fastest first, as they are; then the
 * fastest of them with its worst regions back in float; then the float ones. The first that
 * meets every limit wins; when none does, the one that comes closest says why not.
 */
import { type Candidate, estimateOf, isInteger, isStatic, mostSpeedup } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import type { OptimizeConfig } from "../config.js";
import type { RunRecord } from "../run-record.js";
import type { SearchEnd } from "../verdict/search-end.js";
import { leastGain } from "../verdict/verdict.js";
import { isNoise } from "../verify/nonsense.js";
import { type DynamicInstead, dynamicInstead, isDynamic } from "./dynamic-instead.js";
import type { Judge, Judged } from "./judge-candidate.js";
import { keepWorstFloat } from "./keep-float.js";
import { LOSSLESS_MARGIN, Races } from "./races.js";
import { rankCandidates, SAME_SPEED } from "./rank-candidates.js";
import { worthItsTime } from "./worth-its-time.js";

/** Candidates that are judged as they are before regions go back to float. */
const MOST_AS_THEY_ARE = 3;
/** Candidates whose regions are put back to float, each a search of its own. */
const MOST_SEARCHES = 2;
/** Of a time for the whole run; the rest is left for the race in the end. */
const SEARCHED_SHARE = 0.85;
const FASTEST = "the fastest placement: the more accurate one missed a limit";
/** Of the speed that the table of kernel times promised: what is slower in a race shows that it was wrong; ... */
const PROMISED_SHARE = 0.8;
/** ... and where this little is gained, a table that is wrong by less has hidden as much. */
const LITTLE_GAIN = 1.4;
/** Of the speed of the one before, by the table: it is not so wrong that one for which it promises less is worth a race. */
const LEAST_PROMISED = 0.6;
/** By which another placement has to be faster, as two races of the same file never are. */
const CLEARLY_FASTER = 1.05;
const WIDEST = "the widest placement: with more in float it gained little, or less than by the table of kernel times";

export interface Choice {
  readonly judged: Judged;
  /** Candidates that the search for regions to keep in float made. */
  readonly made: readonly Candidate[];
}

export const chooseCandidate = (
  candidates: readonly Candidate[],
  judge: Judge,
  workshop: Workshop,
  record: RunRecord,
  config: OptimizeConfig,
): Promise<Choice> => new Search(candidates, judge, workshop, record, config).run();

class Search {
  readonly #made: Candidate[] = [];
  readonly #races: Races;
  readonly #ranked: readonly Candidate[];
  /** Those that may be faster than all float ones, and more accurate ones that are about as fast as these. */
  readonly #integers: readonly Candidate[];
  readonly #floats: readonly Candidate[];
  readonly #fastestFloat: number;
  /** What is expected to be slower is not worth a look. */
  readonly #leastSpeedup: number;
  /** What measuring the accuracy of the last one took: with the first, the original is measured too. */
  #attemptMs = 0;
  /** How searches ended that found nothing, by each candidate that they were about. */
  readonly #ends = new Map<Candidate, SearchEnd>();

  constructor(
    readonly candidates: readonly Candidate[],
    readonly judge: Judge,
    readonly workshop: Workshop,
    readonly record: RunRecord,
    readonly config: OptimizeConfig,
  ) {
    this.#ranked = rankCandidates(candidates, config, workshop.options.target.isMeasurable);
    this.#floats = this.#ranked.filter((each) => !isInteger(each));
    this.#fastestFloat = Math.max(leastGain, ...this.#floats.map(({ speedup }) => speedup! * (1 + LOSSLESS_MARGIN)));
    this.#leastSpeedup = Math.max(this.#isForSize ? 0 : this.#fastestFloat, config.limits.minSpeedup ?? 0);
    const integers = this.#ranked.filter(isInteger);
    // Estimates this close are chance: one that ranks ahead of them for its accuracy is raced before them.
    const isAhead = (each: Candidate, at: number): boolean =>
      this.#mayNearlyPay(each) &&
      integers.slice(at + 1).some((next) => this.#mayPay(next) && (next.sqnrDb ?? 0) < (each.sqnrDb ?? 0));
    this.#integers = integers.filter((each, at) => this.#mayPay(each) || isAhead(each, at));
    this.#races = new Races(judge, ({ speedup }) => this.#isForSize || speedup! >= this.#fastestFloat);
  }

  async run(): Promise<Choice> {
    const judged = await this.#find();
    this.#races.explain(judged.candidate);
    return { judged, made: this.#made };
  }

  async #find(): Promise<Judged> {
    const integers = (await this.#asTheyAre()) ?? (await this.#backToFloat());
    if (integers) return integers;
    await this.#raceFloats();
    // The fastest float one may have failed, and then integers with many float nodes can still be ahead.
    await this.#racePassedOver();
    return this.#races.best ?? (await this.#mostAccurate());
  }

  /** What is left for searches. */
  get #searchableMs(): number {
    const { budgetMs, searchMs } = this.config.quantize;
    return budgetMs == null ? searchMs : budgetMs * SEARCHED_SHARE - this.record.elapsedMs;
  }

  get #isForSize(): boolean {
    return this.config.quantize.goal === "size";
  }

  #mayPay(candidate: Candidate): boolean {
    return this.#isForSize || mostSpeedup(candidate)! >= this.#fastestFloat;
  }

  #mayNearlyPay(candidate: Candidate): boolean {
    return mostSpeedup(candidate)! >= this.#fastestFloat * (1 - SAME_SPEED);
  }

  /** The first integers that meet every limit, where no others may be ahead of them. */
  async #asTheyAre(): Promise<Judged | null> {
    const races = this.#races;
    for (const candidate of this.#integers.slice(0, MOST_AS_THEY_ARE)) {
      // The others are slower.
      if (races.hasWinner) break;
      const isAccurate = await this.judge.isAccurate(candidate);
      this.#attemptMs = this.judge.measuringMs(candidate);
      if (!isAccurate) continue;
      const own = await races.race(candidate);
      const atBest = races.last?.latency?.facts.speedupInterval[1];
      const wider = await this.#raceWider(candidate, own, atBest);
      if (wider && this.#isAnswer(wider)) return wider;
      if (own && this.#isAnswer(own)) return own;
      const faster = races.hasWinner ? null : await this.#raceFaster(candidate, atBest);
      if (faster && this.#isAnswer(faster)) return faster;
    }
    return null;
  }

  /** Whether neither a float candidate may be faster, nor a less accurate one with some regions in float. */
  #isAnswer(won: Judged): boolean {
    const isBehind = !this.#isForSize && this.#integers.some((each) => this.#mayBeAhead(each));
    return this.#races.pays(won.candidate) && !isBehind;
  }

  /** Whether it misses the limit on accuracy as it is, and may be the fastest without some of its integers. */
  #mayBeAhead(candidate: Candidate): boolean {
    return this.judge.missesAccuracy(candidate) && this.#races.mayWin(candidate);
  }

  /** The fastest placement of one that is accurate and gains too little, where that may gain enough. */
  async #raceFaster(candidate: Candidate, atBest: number | undefined): Promise<Judged | null> {
    const { variant, faster } = candidate;
    if (!faster || atBest === undefined) return null;
    // What was measured, and by how much faster the other was reckoned to be.
    if (atBest * faster.gain < this.#leastSpeedup) return null;
    const speedup = estimateOf(candidate)! * faster.gain;
    const next = this.workshop.make(variant, faster.keptFloat, { speedup, note: FASTEST });
    this.#made.push(next);
    return this.#raceMade(next, [next]);
  }

  /** @param unmeasured whose errors are to be known */
  async #raceMade(next: Candidate, unmeasured: readonly Candidate[], isBrief = false): Promise<Judged | null> {
    await this.record.stage("verify", () => this.workshop.measureError(unmeasured), "errors on a few samples");
    return isNoise(next) ? null : this.#raceIfAccurate(next, isBrief);
  }

  /**
   * The widest placement, where that with more in float gained little, or far less than promised: kernels go less well
   * together than each by itself. It has to gain more than the accuracy is worth that it loses.
   */
  async #raceWider(candidate: Candidate, own: Judged | null, atBest: number | undefined): Promise<Judged | null> {
    const { variant, wider } = candidate;
    const promised = estimateOf(candidate)!;
    if (!wider || atBest === undefined || this.#searchableMs <= 0) return null;
    const isAnswered = own !== null && this.#races.pays(candidate);
    if (isAnswered && wider.gain < LEAST_PROMISED) return null;
    if (atBest > promised * PROMISED_SHARE && atBest > LITTLE_GAIN) return null;
    await this.workshop.observeFor(wider.keptFloat);
    const next = this.workshop.make(variant, wider.keptFloat, { speedup: promised * wider.gain, note: WIDEST });
    this.#made.push(next);
    const unmeasured = [candidate, next].filter(({ sqnrDb }) => sqnrDb === null);
    const judged = await this.#raceMade(next, unmeasured, isAnswered);
    if (this.judge.missesAccuracy(next)) next.note = `${WIDEST}; it misses the limit on accuracy`;
    // What is no answer is no reason to prefer it.
    if (!judged || !isAnswered) return judged;
    const isFaster = next.speedup! > candidate.speedup! * CLEARLY_FASTER;
    if (isFaster && worthItsTime([next, candidate]) === next) return judged;
    this.#races.withdraw(judged, candidate);
    return null;
  }

  async #raceIfAccurate(candidate: Candidate, isBrief = false): Promise<Judged | null> {
    return (await this.judge.isAccurate(candidate)) ? this.#races.race(candidate, isBrief) : null;
  }

  /** The fastest of integers that met every limit, as they are or with regions of less accurate ones in float. */
  async #backToFloat(): Promise<Judged | null> {
    const races = this.#races;
    const deadline = this.record.context.now() + this.#searchableMs;
    const inaccurate = this.#integers.filter((each) => this.#mayBeAhead(each));
    const dynamic = inaccurate.length > 0 ? this.#integers.find(isDynamic) : undefined;
    const instead = dynamic && (await this.judge.isAccurate(dynamic)) ? dynamicInstead(dynamic, this.workshop) : null;
    for (const candidate of inaccurate.slice(0, MOST_SEARCHES)) {
      // Since the search before this one something else may have met the limits.
      if (!races.mayWin(candidate)) continue;
      const found = await this.#keepFloat(candidate, deadline, isStatic(candidate) ? instead : null);
      const won = found && (await races.race(found));
      // It meets the limits, but so many nodes are float again that a float candidate may be faster, or one that met them before.
      if (won && races.pays(won.candidate) && won === races.fastest) return won;
    }
    // That it is accurate was found out for the searches; whether it is fast enough was not.
    if (instead && !races.hasWinner && !races.has(dynamic!)) await races.race(dynamic!);
    const { fastest } = races;
    return fastest && races.pays(fastest.candidate) ? fastest : null;
  }

  /** A search for regions to keep in float, and where it finds nothing, how it ended. */
  async #keepFloat(candidate: Candidate, deadline: number, instead: DynamicInstead | null): Promise<Candidate | null> {
    const { judge, workshop, record } = this;
    const { found, tried, reach } = await record.stage(
      "quantize",
      () =>
        keepWorstFloat({
          ...{ candidate, workshop, context: record.context, deadline, instead },
          leastSpeedup: Math.max(this.#leastSpeedup, this.#races.leastToWin),
          attemptMs: this.#attemptMs,
          meetsLimit: (next) => judge.isAccurate(next),
          measuringMs: (measured) => judge.measuringMs(measured),
          dropOf: (measured) => judge.dropInLimits(measured),
        }),
      `${candidate.name}: regions back to float${instead ? " or to dynamic integers" : ""}`,
    );
    this.#made.push(...tried);
    const longer = reach.missingMs > 0 ? 1 + reach.missingMs / Math.max(1, record.elapsedMs) : null;
    if (!found) for (const each of [candidate, ...tried]) this.#ends.set(each, { ...reach, longer });
    return found;
  }

  async #raceFloats(): Promise<void> {
    await this.#raceInTurn(this.#floats.filter(({ speedup }) => this.#isForSize || speedup! >= leastGain));
  }

  /** Integers beside a float one that an estimate flattered: in a long race it met nothing, or was slower than they may be. */
  async #racePassedOver(): Promise<void> {
    const least = Math.max(leastGain, (this.#races.fastest?.candidate.speedup ?? 0) / (1 - SAME_SPEED));
    const passedOver = this.#ranked.filter(
      (each) => isInteger(each) && !this.#integers.includes(each) && each.speedup! >= least,
    );
    await this.#raceInTurn(passedOver.slice(0, MOST_AS_THEY_ARE));
  }

  /** Until one meets every limit. */
  async #raceInTurn(candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) if (await this.#raceIfAccurate(candidate)) return;
  }

  /** Of those that were measured, none of them within its limits; the first one, timed properly, where none was. */
  async #mostAccurate(): Promise<Judged> {
    const { judge } = this;
    const measured = [...this.candidates, ...this.#made].filter(({ accuracy }) => accuracy !== null);
    if (measured.length === 0) return judge.race(this.#ranked[0]!);
    const best = measured.reduce((a, b) => (judge.dropOf(b) < judge.dropOf(a) ? b : a));
    const [anyEnd = null] = this.#ends.values();
    const end = this.#ends.get(best) ?? anyEnd;
    return { candidate: best, latency: null, ruling: judge.rule(best, null, end), search: end };
  }
}

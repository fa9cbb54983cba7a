/**
 * Looks along the path from the whole net to ever narrower ones for the one that is wanted: with a target for the speed, the
 * most accurate of several that just reach it; without one, the fastest that is still as accurate as the limit says. Every
 * net that is chosen from is fitted, judged on the evaluation data and timed.
 */
import { halfWay, type TimedNet } from "../../pruning/choose/halve-speeds.js";
import type { NarrowingPath, PathStep, RacedSpeed } from "../../pruning/choose/narrowing-path.js";
import type { Widths } from "../../pruning/choose/widths.js";
import type { PruneConfig } from "../config.js";
import type { RunRecord } from "../run-record.js";
import type { LatencyMeasure, Ruling } from "../verdict/verdict.js";
import type { PrunedJudge } from "./judge-pruned.js";
import { isMoreAccurate, isSame, NetTrials, type Tried } from "./net-trials.js";
import type { PruneMemory } from "./prune-memory.js";
import type { PruningKnown } from "./pruned-file.js";

/** Nets that are timed for one target: each knows better what the table's times are worth. */
const MOST_SOUGHT = 8;
/** Nets that were found to be fast enough, of which the most accurate is wanted. */
const ENOUGH_TO_CHOOSE = 4;
/** So much faster than is wanted is close enough: nets that are slower still hardly miss less. */
const CLOSE = 1.04;
/** Once there is a net, further ones are fitted for as long as all of them together take less than this. */
const MOST_FIT_MS = 60_000;
/** Nets of other speeds are looked for so often, where the race that decides says that none is fast enough. */
const MOST_ROUNDS = 3;
/** Nets that are fitted where the fastest accurate one is looked for. */
const MOST_FOR_LIMIT = 6;
/** The table's speed to begin with, where nobody said how fast. */
const FIRST_SPEEDUP = 1.5;
/** Nets closer together on the path are alike. */
const LEAST_STEP = 1.04;
/** Times that what lies between a net that is too slow and one that is fast enough is halved: each is a race of full length. */
const MOST_HALVINGS = 3;
/** Nets that are fitted for each, of which the most accurate is timed. */
const FITTED_HALF_WAY = 2;
/** Above a target by so much, so that the interval is too: at least, and at most where intervals are wide. */
const [LEAST_HEADROOM, MOST_HEADROOM] = [1.03, 1.25];
/** Faster nets that learn, where no net that had proved the target still does after learning. */
const MOST_TAUGHT_FASTER = 2;

interface Raced {
  readonly step: PathStep;
  readonly latency: LatencyMeasure;
}

export class PruneSearch {
  readonly #nets: NetTrials;
  readonly #raced: Raced[] = [];
  readonly #stepOf = new Map<Tried, PathStep>();
  /** By what factor a net has to be faster than its target for its interval to be: as wide as the last one was that decided. */
  #headroom = LEAST_HEADROOM;

  constructor(
    readonly config: PruneConfig,
    known: PruningKnown,
    readonly judge: PrunedJudge,
    readonly record: RunRecord,
    memory: PruneMemory,
  ) {
    this.#nets = new NetTrials(known, judge, record, memory);
  }

  get tried(): readonly Tried[] {
    return this.#nets.tried;
  }

  async only(widths: Widths, name: string): Promise<Tried> {
    const fitted = await this.#nets.fit(widths, name);
    const tried = this.config.prune.recover ? await this.#nets.learn(fitted) : fitted;
    await this.#nets.race(tried, null);
    return tried;
  }

  /** Null where no net on the path is narrower. */
  async along(path: NarrowingPath): Promise<Tried | null> {
    const { targetSpeedup } = this.config.prune;
    if (path.steps.length < 2) return null;
    return targetSpeedup === null ? this.#fastestAccurate(path) : this.#reach(path, targetSpeedup);
  }

  rule({ file, measured }: Tried): Ruling {
    return this.judge.rule(file, measured);
  }

  complete(tried: Tried): Promise<void> {
    return this.#nets.complete(tried);
  }

  /**
   * The most accurate of the least narrow nets that reach the target; the fastest that was found where none does. What short
   * races say of a net is corrected by the one that decides. Only what is chosen in the end learns.
   */
  async #reach(path: NarrowingPath, target: number): Promise<Tried> {
    let wanted = target * this.#headroom;
    let best: Tried | null = null;
    const decided = new Set<Tried>();
    for (let round = 1; ; round++) {
      const fitted = await this.#fitAll(path, await this.#fastEnough(path, wanted));
      const open = fitted.filter((each) => !decided.has(each)).sort(mostAccurateFirst);
      if (open.length === 0) break;
      for (const each of open) {
        // Its interval would be too wide to prove anything.
        if (decided.size > 0 && path.believed(this.#stepOf.get(each)!) < target * this.#headroom) continue;
        await this.#decide(path, each);
        decided.add(each);
        if (leastSpeedOf(each) >= target) best = each;
        if (best || this.#isOver()) break;
      }
      if (best || round === MOST_ROUNDS || this.#isOver()) break;
      wanted = Math.max(wanted * LEAST_STEP, target * this.#headroom);
    }
    const fastest = [...decided].reduce((a, b) => (speedOf(b) > speedOf(a) ? b : a));
    const proven = best ? await this.#milder(path, best, decided, target) : [fastest];
    return this.config.prune.recover ? this.#taught(path, proven, target) : proven[0]!;
  }

  /**
   * Nets that lie between those that were too slow and the one that was found to reach the target, half way and half way again: a
   * net that is faster than was asked for is less accurate than it could be. All that reach it, the most accurate first.
   */
  async #milder(
    path: NarrowingPath,
    found: Tried,
    decided: ReadonlySet<Tried>,
    target: number,
  ): Promise<readonly Tried[]> {
    const timed = (net: Tried): TimedNet => ({ ms: this.#stepOf.get(net)!.ms, speedup: speedOf(net) });
    const proven = [found];
    let fast = timed(found);
    const raced = new Set(decided);
    let slow = [...decided]
      .map(timed)
      .filter(({ ms, speedup }) => ms > fast.ms && speedup < fast.speedup)
      .reduce((a, b) => (b.speedup > a.speedup ? b : a), { ms: path.steps[0]!.ms, speedup: 1 });
    const before = this.#fitMs();
    for (let i = 0; i < MOST_HALVINGS && !this.#isOver() && this.#fitMs() - before <= MOST_FIT_MS; i++) {
      const middle = halfWay(slow, fast, target * this.#headroom, LEAST_STEP);
      if (!middle) break;
      const isRaced = ({ widths }: PathStep): boolean => [...raced].some((net) => isSame(net.widths, widths));
      const steps = path.severalWithin(middle.ms).filter((step) => step.ms > fast.ms && !isRaced(step));
      const [net] = (await this.#fitAll(path, steps.slice(0, FITTED_HALF_WAY))).sort(mostAccurateFirst);
      if (!net || !isMoreAccurate(net, proven[0]!)) {
        fast = middle;
        continue;
      }
      await this.#decide(path, net);
      raced.add(net);
      if (leastSpeedOf(net) < target) slow = timed(net);
      else {
        proven.unshift(net);
        fast = timed(net);
      }
    }
    return proven;
  }

  /**
   * What has learned is another file, which is timed too; what is known of the net before counts for it. Where both together do
   * not prove the target any more, the next one learns, and then faster ones.
   */
  async #taught(path: NarrowingPath, proven: readonly Tried[], target: number): Promise<Tried> {
    const taught: Tried[] = [];
    const proves = async (net: Tried): Promise<boolean> => {
      const learned = await this.#nets.learn(net);
      if (learned.file !== net.file) await this.#decide(path, learned);
      taught.push(learned);
      return leastSpeedOf(learned) >= target;
    };
    for (const net of proven) {
      if (await proves(net)) return taught.at(-1)!;
      if (this.#isOver()) break;
    }
    for (let i = 0; i < MOST_TAUGHT_FASTER && !this.#isOver(); i++) {
      const isNew = ({ widths }: PathStep): boolean => !taught.some((net) => isSame(net.widths, widths));
      const step = path.severalAt(target * this.#headroom).find(isNew);
      const [faster] = step ? await this.#fitAll(path, [step]) : [];
      if (!faster) break;
      if (await proves(faster)) return taught.at(-1)!;
    }
    return taught[0]!;
  }

  /** The race that decides about a net. */
  async #decide(path: NarrowingPath, net: Tried): Promise<void> {
    const latency = await this.#nets.race(net, null);
    const { speedup, speedupInterval } = latency.facts;
    this.#headroom = Math.min(Math.max(LEAST_HEADROOM, speedup / speedupInterval[0]), MOST_HEADROOM);
    this.#correct(path, net.widths, latency);
  }

  #correct(path: NarrowingPath, widths: Widths, latency: LatencyMeasure): void {
    const at = this.#raced.findIndex(({ step }) => isSame(step.widths, widths));
    if (at < 0) return;
    const { step } = this.#raced[at]!;
    this.#raced[at] = { step, latency };
    path.note(step, racedSpeed(latency));
  }

  /**
   * Nets that are so fast by what races of cut and unfitted nets say: those that miss least by what is known of their groups.
   * What the table's times are worth is learned from each race. The one that comes closest where none is fast enough.
   */
  async #fastEnough(path: NarrowingPath, wanted: number): Promise<readonly PathStep[]> {
    const raced = this.#raced;
    const fastEnough = (): PathStep[] => raced.map(({ step }) => step).filter((step) => path.believed(step) >= wanted);
    for (let i = 0; i < MOST_SOUGHT && !this.#isOver(); i++) {
      const enough = fastEnough();
      if (enough.length >= ENOUGH_TO_CHOOSE && enough.some((step) => path.believed(step) <= wanted * CLOSE)) break;
      const isNew = ({ widths }: PathStep): boolean => !raced.some(({ step }) => isSame(step.widths, widths));
      const step = path.severalAt(wanted).find(isNew);
      if (!step || step.ms >= path.steps[0]!.ms) break;
      const latency = await this.#nets.speedOf(step, stepName(path, step), wanted);
      raced.push({ step, latency });
      path.note(step, racedSpeed(latency));
    }
    const enough = fastEnough();
    if (enough.length > 0) return enough.sort((a, b) => a.error - b.error);
    const nearest = raced
      .map(({ step }) => step)
      .reduce<PathStep | null>(
        (best, step) => (best && path.believed(best) >= path.believed(step) ? best : step),
        null,
      );
    return [nearest ?? path.at(wanted)];
  }

  /** Those that miss least, as far as there is time for all of them. */
  async #fitAll(path: NarrowingPath, steps: readonly PathStep[]): Promise<Tried[]> {
    const fitted: Tried[] = [];
    for (const step of steps.slice(0, ENOUGH_TO_CHOOSE)) {
      const known = this.#nets.find(step.widths);
      const oneMoreMs = this.#fitMs() * (1 + 1 / Math.max(1, this.tried.length));
      if (!known && fitted.length > 0 && (oneMoreMs > MOST_FIT_MS || this.#isOver())) break;
      const tried = known ?? (await this.#nets.fit(step.widths, stepName(path, step)));
      tried.measured.latency ??= this.#raced.find((raced) => raced.step === step)?.latency ?? null;
      this.#stepOf.set(tried, step);
      fitted.push(tried);
    }
    return fitted;
  }

  #fitMs(): number {
    return this.tried.reduce((sum, { spentMs }) => sum + spentMs, 0);
  }

  async #fastestAccurate(path: NarrowingPath): Promise<Tried> {
    let low = 1;
    let high = Number.POSITIVE_INFINITY;
    let wanted = FIRST_SPEEDUP;
    let best: Tried | null = null;
    for (let i = 0; i < MOST_FOR_LIMIT && !(i > 0 && this.#isOver()); i++) {
      const step = path.at(wanted);
      if (this.#nets.find(step.widths)) break;
      const tried = await this.#accurateIfPossible(await this.#nets.fit(step.widths, stepName(path, step)));
      if (this.#isAccurate(tried)) {
        const { facts } = await this.#nets.race(tried, wanted);
        if (!best || facts.speedup > speedOf(best)) best = tried;
        path.note(step, racedSpeed({ facts }));
        low = path.speedup(step);
        if (step.ms <= path.fastest.ms) break;
      } else high = path.speedup(step);
      if (high / low < LEAST_STEP ** 2) break;
      wanted = high === Number.POSITIVE_INFINITY ? low * FIRST_SPEEDUP : Math.sqrt(low * high);
    }
    const chosen = best ?? this.tried.at(-1)!;
    if (best) await this.#nets.race(best, null);
    return chosen;
  }

  /** Those that are accurate already need not learn. */
  async #accurateIfPossible(tried: Tried): Promise<Tried> {
    return this.config.prune.recover && !this.#isAccurate(tried) ? this.#nets.learn(tried) : tried;
  }

  #isAccurate({ file, measured }: Tried): boolean {
    return this.judge.isAccurate(file, measured);
  }

  #isOver(): boolean {
    const { leftMs } = this.judge;
    return leftMs !== null && leftMs < 0;
  }
}

const stepName = (path: NarrowingPath, step: PathStep): string => `about ${path.speedup(step).toFixed(2)}x`;

/** Intervals of races leave out one in a hundred. */
const INTERVAL_DEVIATIONS = 2 * 2.576;

function racedSpeed({ facts: { speedup, speedupInterval } }: Pick<LatencyMeasure, "facts">): RacedSpeed {
  const [low, high] = speedupInterval;
  return { speedup, deviation: Math.log(high / low) / INTERVAL_DEVIATIONS };
}

const leastSpeedOf = ({ measured }: Tried): number => measured.latency?.facts.speedupInterval[0] ?? 0;

const speedOf = ({ measured }: Tried): number => measured.latency?.facts.speedup ?? 0;

const mostAccurateFirst = (a: Tried, b: Tried): number => (isMoreAccurate(a, b) ? -1 : isMoreAccurate(b, a) ? 1 : 0);

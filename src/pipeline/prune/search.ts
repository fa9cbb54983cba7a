/**
 * Looks along the path from the whole net to ever narrower ones for the one that is wanted: with a target for the speed, the
 * first that reaches it; without one, the fastest that is still as accurate as the limit says. Every net that is tried is
 * fitted, judged on the evaluation data and timed.
 */
import { copyFileSync, existsSync, renameSync } from "node:fs";
import type { NarrowingPath, PathStep } from "../../pruning/choose/narrowing-path.js";
import type { Widths } from "../../pruning/choose/widths.js";
import type { Offered } from "../best-so-far.js";
import type { PruneConfig } from "../config.js";
import { sha256Of } from "../model-facts.js";
import { scratchFile } from "../model-runs.js";
import type { NotRecovered, Recovery } from "../recover/recover-weights.js";
import type { RunRecord } from "../run-record.js";
import type { LatencyMeasure, Ruling } from "../verdict.js";
import type { Measured, PrunedJudge } from "./judge-pruned.js";
import type { PruneMemory } from "./prune-memory.js";
import { cutFile, type PrunedFile, type PruningKnown, prunedFile, removePruned } from "./pruned-file.js";
import { recoverPruned } from "./recover-pruned.js";

export interface Tried {
  readonly name: string;
  readonly widths: Widths;
  readonly file: PrunedFile;
  readonly measured: Measured;
  /** What came of learning; null where it was not asked for, or of no use. */
  readonly recovery: Recovery | NotRecovered | null;
}

/** Nets that are timed for one target: each knows better what the table's times are worth. */
const MOST_SOUGHT = 6;
/** So much faster than is wanted is close enough. */
const CLOSE = 1.03;
/** And nets that are fitted for it, where the first is not quite as fast as it was unfitted. */
const MOST_FOR_TARGET = 3;
/** Nets that are fitted where the fastest accurate one is looked for. */
const MOST_FOR_LIMIT = 6;
/** The table's speed to begin with, where nobody said how fast. */
const FIRST_SPEEDUP = 1.5;
/** Nets closer together on the path are alike. */
const LEAST_STEP = 1.04;
/** So much faster than the target is faster than was asked for, and less accurate than could be. */
const OVERSHOT = 1.12;
/** Above a target by so much, so that the interval is too. */
const HEADROOM = 1.03;

export class PruneSearch {
  readonly tried: Tried[] = [];

  constructor(
    readonly config: PruneConfig,
    readonly known: PruningKnown,
    readonly judge: PrunedJudge,
    readonly record: RunRecord,
    readonly memory: PruneMemory,
  ) {}

  async only(widths: Widths, name: string): Promise<Tried> {
    const tried = await this.#try(widths, name);
    await this.#race(tried, null);
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

  /**
   * The least narrow net that reaches the target. What the table's times are worth is learned from nets that are
   * cut and not fitted, which are as fast; then the net is fitted, and a narrower one where it misses the target after all.
   */
  async #reach(path: NarrowingPath, target: number): Promise<Tried> {
    const wanted = target * HEADROOM;
    let step = await this.#asFastAs(path, wanted);
    let best: Tried | null = null;
    for (let i = 1; ; i++) {
      const tried = await this.#try(step.widths, stepName(path, step));
      const { facts } = await this.#race(tried, null);
      const isFastEnough = facts.speedupInterval[0] >= target;
      if (isFastEnough && (!best || isMoreAccurate(tried, best))) best = tried;
      const isFound = isFastEnough ? facts.speedup <= target * OVERSHOT : best !== null || step.ms <= path.fastest.ms;
      path.note(step, facts.speedup);
      const next = path.at(isFastEnough ? wanted : Math.max(wanted, facts.speedup * LEAST_STEP));
      const isKnown = next.ms >= path.steps[0]!.ms || this.tried.some(({ widths }) => isSame(widths, next.widths));
      if (isFound || isKnown || i === MOST_FOR_TARGET || this.#isOver()) return best ?? tried;
      step = next;
    }
  }

  /** The least narrow net that was found to be so fast, before anything is fitted. */
  async #asFastAs(path: NarrowingPath, wanted: number): Promise<PathStep> {
    const raced: PathStep[] = [];
    const enough: PathStep[] = [];
    let step = path.at(wanted);
    for (let i = 0; i < MOST_SOUGHT && !this.#isOver(); i++) {
      const measured = await this.#speedOf(path, step, wanted);
      raced.push(step);
      if (measured >= wanted) enough.push(step);
      if (measured >= wanted && measured <= wanted * CLOSE) break;
      path.note(step, measured);
      step = path.at(wanted);
      if (raced.some(({ widths }) => isSame(widths, step.widths))) break;
    }
    return enough.sort((a, b) => a.error - b.error)[0] ?? step;
  }

  /** Of a net that is cut and not fitted. */
  async #speedOf(path: NarrowingPath, step: PathStep, wanted: number): Promise<number> {
    const { known, record, judge, memory } = this;
    const key = `${this.#keyOf(step.widths)}, not fitted`;
    const before = memory.race(key);
    if (before) return before.facts.speedup;
    const file = cutFile(known, step.widths, record.context);
    try {
      const latency = await judge.race(file, `${stepName(path, step)}, not fitted`, wanted);
      memory.keepRace(key, latency);
      return latency.facts.speedup;
    } finally {
      removePruned(file);
    }
  }

  async #fastestAccurate(path: NarrowingPath): Promise<Tried> {
    let low = 1;
    let high = Number.POSITIVE_INFINITY;
    let wanted = FIRST_SPEEDUP;
    let best: Tried | null = null;
    for (let i = 0; i < MOST_FOR_LIMIT && !(i > 0 && this.#isOver()); i++) {
      const step = path.at(wanted);
      if (this.tried.some(({ widths }) => isSame(widths, step.widths))) break;
      const tried = await this.#try(step.widths, stepName(path, step));
      const isAccurate = this.judge.isAccurate(tried.file, tried.measured);
      if (isAccurate) {
        const { facts } = await this.#race(tried, wanted);
        if (!best || facts.speedup > best.measured.latency!.facts.speedup) best = tried;
        path.note(step, facts.speedup);
        low = path.speedup(step);
        if (step.ms <= path.fastest.ms) break;
      } else high = path.speedup(step);
      if (high / low < LEAST_STEP ** 2) break;
      wanted = high === Number.POSITIVE_INFINITY ? low * FIRST_SPEEDUP : Math.sqrt(low * high);
    }
    const chosen = best ?? this.tried.at(-1)!;
    if (best) await this.#race(best, null);
    return chosen;
  }

  async #try(widths: Widths, name: string): Promise<Tried> {
    const { judge } = this;
    const tried = this.#recalled(widths, name) ?? (await this.#made(widths, name));
    this.tried.push(tried);
    judge.tell(name, null, tried.measured.accuracy.facts);
    return tried;
  }

  /** A net that an earlier run has tried; its file is made again when it is needed. */
  #recalled(widths: Widths, name: string): Tried | null {
    const known = this.memory.tried(this.#keyOf(widths));
    if (!known) return null;
    const { accuracy, nonsense, recovery, report, bytes } = known;
    const measured = { accuracy, nonsense, differences: null, latency: null };
    return {
      name,
      widths,
      file: { path: scratchFile(this.record.context, "pruned"), bytes, report },
      measured,
      recovery,
    };
  }

  async #made(widths: Widths, name: string): Promise<Tried> {
    const made = await this.#make(widths, name);
    const { accuracy, nonsense } = made.measured;
    const { path, bytes, report } = made.file;
    const { recovery } = made;
    const sha256 = await sha256Of(path);
    this.memory.keepTried(this.#keyOf(widths), { bytes, sha256, report, recovery, accuracy, nonsense });
    return made;
  }

  async #make(widths: Widths, name: string): Promise<Tried> {
    const { known, record, judge } = this;
    const file = await record.stage("prune", () => prunedFile(known, widths, record.context, record.progress), name);
    const measured = await judge.measureAccuracy(file, name);
    const fitted = { name, widths, file, measured, recovery: null };
    return this.#mayLearn(fitted) ? this.#recover(fitted) : fitted;
  }

  /** Everything that is to be known of a net that is delivered. */
  async complete(tried: Tried): Promise<void> {
    await this.#restore(tried);
    tried.measured.differences ??= await this.judge.compare(tried.file, tried.name);
  }

  /** Brings back the file of a net that an earlier run has tried: the same bytes. */
  async #restore({ file, widths, name, measured }: Tried): Promise<void> {
    if (existsSync(file.path)) return;
    const { memory } = this;
    const wanted = memory.tried(this.#keyOf(widths))?.sha256;
    const best = memory.files?.best;
    if (best?.exists && (await sha256Of(best.path)) === wanted) {
      copyFileSync(best.path, file.path);
      return;
    }
    const again = await this.#make(widths, name);
    renameSync(again.file.path, file.path);
    // What was measured of other bytes says nothing of these.
    if ((await sha256Of(file.path)) !== wanted) Object.assign(measured, again.measured);
  }

  #keyOf(widths: Widths): string {
    return this.known.map.groups.flatMap((group) => widths.get(group) ?? []).join(",");
  }

  /** Where the fastest accurate net is looked for, those that are accurate already need not learn. */
  #mayLearn({ file, measured }: Tried): boolean {
    const { recover, targetSpeedup, keepRatio, widths } = this.config.prune;
    const isGiven = targetSpeedup !== null || keepRatio !== null || widths !== null;
    return recover && (isGiven || !this.judge.isAccurate(file, measured));
  }

  /** The net after learning, unless it is further from the original or less accurate than before. */
  async #recover(fitted: Tried): Promise<Tried> {
    const { known, record, judge } = this;
    const { name, file } = fitted;
    const { outcome, file: learned } = await record.stage(
      "recover",
      () => recoverPruned(known, file, record.context),
      name,
    );
    if (learned === file) return { ...fitted, recovery: outcome };
    const after = await judge.measureAccuracy(learned, `${name}, recovered`);
    const now = after.accuracy.facts;
    const isWorse = isMoreAccurate(fitted, { ...fitted, measured: after });
    removePruned(isWorse ? learned : file);
    return isWorse
      ? { ...fitted, recovery: { reason: `what it learned made it worse: ${now.metric} ${now.candidate.toFixed(4)}` } }
      : { ...fitted, file: learned, measured: after, recovery: outcome };
  }

  async #race(tried: Tried, aim: number | null): Promise<LatencyMeasure> {
    const { file, name, measured } = tried;
    const { memory, judge } = this;
    const key = `${this.#keyOf(tried.widths)}${aim === null ? "" : ", at a glance"}`;
    const before = memory.race(key);
    if (!before) await this.#restore(tried);
    const latency = before ?? (await judge.race(file, name, aim));
    measured.latency = latency;
    if (!before) memory.keepRace(key, latency);
    const { speedup } = latency.facts;
    judge.tell(name, speedup, measured.accuracy.facts);
    if (this.rule(tried).verdict.outcome === "met") this.#offer({ speedup, built: file });
    return latency;
  }

  #offer(met: Offered): void {
    const best = this.memory.files?.best;
    if (existsSync(met.built.path)) best?.offer(met);
    else best?.recall(met);
  }

  #isOver(): boolean {
    const { budgetMs } = this.config.prune;
    return budgetMs !== null && this.record.elapsedMs > budgetMs;
  }
}

const stepName = (path: NarrowingPath, step: PathStep): string => `about ${path.speedup(step).toFixed(2)}x`;

const isSame = (a: Widths, b: Widths): boolean => [...a].every(([group, width]) => b.get(group) === width);

function isMoreAccurate(a: Tried, b: Tried): boolean {
  const [own, other] = [a.measured.accuracy.facts, b.measured.accuracy.facts];
  return own.higherIsBetter ? own.candidate > other.candidate : own.candidate < other.candidate;
}

/**
 * Times models against each other on this machine, now: each in a process of its own,
 * in turns whose order is drawn from the seed, warm, and in fresh processes again. Stops
 * as soon as every candidate's interval lies on one side of the limit, or when the
 * budget is spent.
 */
import { invariant } from "../base/errors.js";
import { seededRandom, shuffled } from "../base/random.js";
import { ascending, median, nearestRank } from "../base/statistics.js";
import type { DatasetRef } from "../dataset/dataset.js";
import type { ColdStart, Runtime, SessionOptions, Timer } from "../runtime/port.js";
import { usualStart } from "./cold-start.js";
import { judgeNoise, type NoiseCheck } from "./noise.js";
import { type LatencyPercentiles, latencyPercentiles } from "./percentiles.js";
import { FEWEST_PAIRS, leastRuns, type Plan, planRuns } from "./plan.js";
import {
  type Decision,
  decide,
  isAlike,
  type PairedSeries,
  type ProcessSeries,
  processError,
  type Speedup,
  speedupOf,
} from "./speedup.js";
import { warmUp } from "./warm-up.js";

export interface LatencyOptions {
  readonly baseline: string;
  /** Paths of models; with none the baseline is timed alone for the whole budget. */
  readonly candidates: readonly string[];
  readonly data: DatasetRef;
  readonly session: SessionOptions;
  readonly seed: number;
  /** Wall time to spend, all processes included; 10 s when absent. The least number of runs may exceed it. */
  readonly budgetMs?: number;
  /** The limit to decide; 1 (merely faster) when absent. */
  readonly minSpeedup?: number;
  /** Of each look's interval; 0.99 when absent. */
  readonly confidence?: number;
  /** Runs of each model before an early stop, if the budget has them; 60 when absent, which supports p95. */
  readonly minRuns?: number;
  /** The farthest quantile that has a limit; see PlanOptions. */
  readonly tail?: number;
  /**
   * For a verdict, and not for figures: the least number of runs may decide, and processes start all
   * together and hold less memory than elsewhere.
   */
  readonly isQuick?: boolean;
  /**
   * Times of an earlier comparison of models that should take as long as these, [model][process][run]: they count as its own,
   * unless what is timed now says otherwise.
   */
  readonly earlier?: readonly ProcessSeries[];
  /** Times a second copy of the baseline too, to see whether this machine can tell equal from different. */
  readonly noiseCheck?: boolean;
  /** Runs of each model so far, of those planned. */
  readonly onProgress?: (done: number, planned: number) => void;
  /** All times so far, [model][process][run]; only for the moment of the call. */
  readonly onTimes?: (series: readonly (readonly number[])[][]) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds from anywhere; the process's own clock when absent. */
  readonly clock?: () => number;
}

export interface ModelLatency extends LatencyPercentiles {
  readonly model: string;
  /** Medians over its processes. */
  readonly loadMs: number;
  readonly firstRunMs: number;
  readonly start: ColdStart;
  /** Processors that each thread may use, of a process that was to be kept on some. */
  readonly allowed: readonly (readonly number[])[];
  readonly peakRssBytes: number;
  /** Every timed run in order, warm-up excluded. */
  readonly samplesMs: Float64Array;
}

export interface CandidateLatency extends ModelLatency, Speedup {
  readonly decision: Decision;
}

export interface LatencyComparison {
  /** Timed runs of each model. */
  readonly runs: number;
  /** Processes that each model ran in. */
  readonly processes: number;
  /** [model][process][run], in milliseconds; earlier ones first. */
  readonly series: readonly ProcessSeries[];
  /** False when some warm-up ended before the latency had settled. */
  readonly settled: boolean;
  readonly baseline: ModelLatency;
  readonly candidates: readonly CandidateLatency[];
  /** null unless asked for. */
  readonly noise: NoiseCheck | null;
}

/** Rejects with whatever the runtime rejects with, or the signal's reason; no process stays behind. */
export async function compareLatency(runtime: Runtime, options: LatencyOptions): Promise<LatencyComparison> {
  const clock = options.clock ?? (() => performance.now());
  const budgetMs = options.budgetMs ?? 10_000;
  const models = [options.baseline, ...options.candidates, ...(options.noiseCheck ? [options.baseline] : [])];
  const race = new Race(runtime, models, options, clock, clock() + budgetMs);
  try {
    await race.start();
    const plan = planRuns(race.remainingMs, race.startMs, race.perRunMs, options);
    for (const stage of plan.stages) {
      if (stage.fresh && !(stage.isSpare && isNarrow(race, options))) {
        await race.stop();
        await race.start();
      }
      await race.runUntil(stage.until, plan);
      const isTold = stage.look && (!stage.isCalm || isCalm(race));
      if (race.isOver || (isTold && isDecided(race, options, stage.margin))) break;
    }
    await race.stop();
  } catch (failure) {
    await race.abandon();
    throw failure;
  }
  return summarize(race, options);
}

/** Models taking turns: the timers of the moment, and what was measured so far. */
class Race {
  /** [model][process][run] */
  readonly series: number[][][];
  readonly starts: Pick<Timer, "loadMs" | "firstRunMs" | "start" | "allowed">[][];
  readonly peaks: number[];
  /** Its own, of each model. */
  runs = 0;
  settled = true;
  startMs = 0;
  perRunMs: readonly number[] = [];
  private readonly timers: Timer[] = [];
  private readonly random;

  constructor(
    private readonly runtime: Runtime,
    readonly models: readonly string[],
    private readonly options: LatencyOptions,
    private readonly clock: () => number,
    private readonly deadline: number,
  ) {
    this.series = models.map(() => []);
    this.starts = models.map(() => []);
    this.peaks = models.map(() => 0);
    this.random = seededRandom(options.seed);
  }

  get remainingMs(): number {
    return this.deadline - this.clock();
  }

  /** The budget is spent and the least number of runs is there. */
  get isOver(): boolean {
    return this.remainingMs <= 0 && this.runs >= leastRuns(this.models.length);
  }

  /** A fresh, warm process for each model. */
  async start(): Promise<void> {
    const from = this.clock();
    const { data, isQuick = false, signal } = this.options;
    const session: SessionOptions =
      this.models.length > 1 ? { ...this.options.session, waiting: "asleep-after-runs" } : this.options.session;
    const open = async (model: string, m: number): Promise<void> => {
      signal?.throwIfAborted();
      this.timers[m] = await this.runtime.timer({ model, data, session, isSparing: isQuick });
    };
    // Whichever fails, the others are there to be ended.
    if (isQuick) await settled(this.models.map(open));
    else for (const [m, model] of this.models.entries()) await open(model, m);
    for (const [m, { loadMs, firstRunMs, start, allowed }] of this.timers.entries()) {
      this.starts[m]!.push({ loadMs, firstRunMs, start, allowed });
      this.series[m]!.push([]);
    }
    const until = this.clock() + Math.max(0, this.remainingMs) / 10;
    const warm = await warmUp(this.timers, until, this.clock, isQuick);
    this.perRunMs = warm.perRunMs;
    this.settled &&= warm.settled;
    this.startMs = Math.max(1e-3, this.clock() - from);
  }

  /** Slices in turns, each round in an order drawn from the seed, until every model has run `target` times. */
  async runUntil(target: number, { stages, sliceRuns }: Plan): Promise<void> {
    while (this.runs < target && !this.isOver) {
      this.options.signal?.throwIfAborted();
      const runs = Math.min(sliceRuns, target - this.runs);
      for (const m of shuffled(this.models.length, this.random)) {
        const series = this.series[m]!.at(-1)!;
        for (const ms of await this.timers[m]!.measure(runs)) series.push(ms);
      }
      this.runs += runs;
      this.options.onProgress?.(this.runs, stages.at(-1)!.until);
      this.options.onTimes?.(this.series);
    }
  }

  /** Ends the processes, having asked each how much memory it took. */
  async stop(): Promise<void> {
    for (const [m, timer] of this.timers.entries()) {
      this.peaks[m] = Math.max(this.peaks[m]!, await timer.peakRssBytes());
    }
    await Promise.all(this.timers.splice(0).map((timer) => timer.close()));
  }

  /** Ends the processes after a failure, which matters more than one of closing what it broke. */
  async abandon(): Promise<void> {
    await Promise.allSettled(this.timers.splice(0).map((timer) => timer.close()));
  }
}

/** Waits for all of them, and rejects with the first that did. */
async function settled(all: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(all)).find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

/** [model][process][run] of all that counts. */
function countedSeries({ series }: Race, { earlier }: LatencyOptions): readonly ProcessSeries[] {
  // A process that was stopped before its first run has nothing to pair.
  const own = series.map((processes) => processes.filter((_, p) => series.every((each) => each[p]!.length > 0)));
  if (!earlier) return own;
  const isSame = own.every((_, m) => m === 0 || isAlike(pairOf(earlier, m), pairOf(own, m)));
  return isSame ? own.map((processes, m) => [...earlier[m]!, ...processes]) : own;
}

const pairOf = (series: readonly ProcessSeries[], m: number): PairedSeries => [series[0]!, series[m]!];

const speedupAt = (series: readonly ProcessSeries[], m: number, { seed, confidence = 0.99 }: LatencyOptions): Speedup =>
  speedupOf(...pairOf(series, m), { seed, confidence });

/** A standard error from which on further processes are no use: intervals are within 3 % by then. */
const NARROW = 0.01;

function isNarrow(race: Race, options: LatencyOptions): boolean {
  const series = countedSeries(race, options);
  return series.every((_, m) => m === 0 || processError(...pairOf(series, m)) <= NARROW);
}

/** Between the quartiles of a series, of its median: the middle of runs of a machine at rest differs by 1 to 4 %. */
const CALM_SPREAD = 0.05;

const isCalm = ({ series }: Race): boolean =>
  series.flat().every((runs) => {
    const sorted = ascending(runs);
    return nearestRank(sorted, 0.75) - nearestRank(sorted, 0.25) <= CALM_SPREAD * nearestRank(sorted, 0.5);
  });

function isDecided(race: Race, options: LatencyOptions, margin: number): boolean {
  const least = options.minRuns ?? (options.isQuick ? FEWEST_PAIRS : 60);
  if (options.candidates.length === 0 || race.runs < least) return false;
  const limit = options.minSpeedup ?? 1;
  const series = countedSeries(race, options);
  return options.candidates.every((_, c) => {
    const { speedupInterval } = speedupAt(series, c + 1, options);
    return decide(speedupInterval, limit * margin) === "met" || decide(speedupInterval, limit / margin) === "missed";
  });
}

function summarize(race: Race, options: LatencyOptions): LatencyComparison {
  invariant(race.runs > 0, "a comparison has runs");
  const limit = options.minSpeedup ?? 1;
  const series = countedSeries(race, options);
  const candidates = options.candidates.map((_, c) => {
    const speedup = speedupAt(series, c + 1, options);
    return { ...latencyOf(race, series, c + 1), ...speedup, decision: decide(speedup.speedupInterval, limit) };
  });
  return {
    runs: series[0]!.reduce((sum, { length }) => sum + length, 0),
    processes: series[0]!.length,
    series,
    settled: race.settled,
    baseline: latencyOf(race, series, 0),
    candidates,
    noise: options.noiseCheck
      ? judgeNoise(speedupAt(series, race.models.length - 1, options), candidates, limit)
      : null,
  };
}

function latencyOf(race: Race, series: readonly ProcessSeries[], m: number): ModelLatency {
  const samplesMs = Float64Array.from(series[m]!.flat());
  return {
    model: race.models[m]!,
    ...latencyPercentiles(samplesMs),
    loadMs: median(race.starts[m]!.map(({ loadMs }) => loadMs)),
    firstRunMs: median(race.starts[m]!.map(({ firstRunMs }) => firstRunMs)),
    start: usualStart(race.starts[m]!.map(({ start }) => start)),
    allowed: race.starts[m]!.flatMap(({ allowed }) => allowed),
    peakRssBytes: race.peaks[m]!,
    samplesMs,
  };
}

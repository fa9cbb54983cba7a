/** The same work in several settings, in turns: batch sizes, thread counts, models. */
import { seededRandom, shuffled } from "../base/random.js";
import { median } from "../base/statistics.js";
import type { DatasetRef } from "../dataset/index.js";
import type { Runtime, SessionOptions, Timer } from "../runtime/port.js";
import { warmUp } from "./warm-up.js";

export interface SweepSetting {
  readonly model: string;
  readonly data: DatasetRef;
  readonly session: SessionOptions;
}

/** Of all processes that a setting was timed in. */
export interface SweepSeries {
  readonly samplesMs: readonly number[];
  /** Process start to session ready, and the first run: the middle one. */
  readonly loadMs: number;
  readonly firstRunMs: number;
  readonly peakRssBytes: number;
  readonly settled: boolean;
  /** Fewer than others have where one alone takes far longer than the setting's share of the budget. */
  readonly processes: number;
  /** As told by its processes (`Timer`). */
  readonly allowed: Timer["allowed"];
}

export interface SweepOptions {
  readonly budgetMs: number;
  readonly seed: number;
  /** Milliseconds of any fixed moment. */
  readonly clock: () => number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Each setting in so many processes, one at a time: what else the machine does befalls all of them. */
const ROUNDS = 3;
const LEAST_RUNS = 3;
/** What a setting may take beyond its share of the budget: starting a process takes its time, however small the model. */
const OVERDRAFT_MS = 3000;
/** Of a slice of the budget, for warming up. */
const WARM_SHARE = 0.3;

/** One series for each setting. Rejects as the runtime does, or with the signal's reason; no process stays behind. */
export async function sweep(
  runtime: Runtime,
  settings: readonly SweepSetting[],
  { budgetMs, seed, clock, signal, onProgress }: SweepOptions,
): Promise<SweepSeries[]> {
  const random = seededRandom(seed);
  const parts = settings.map((): Omit<SweepSeries, "processes">[] => []);
  const sliceMs = budgetMs / (ROUNDS * settings.length);
  const spentMs = settings.map(() => 0);
  let done = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const i of shuffled(settings.length, random)) {
      signal?.throwIfAborted();
      done++;
      // Another process would take what those before it took each.
      const processes = parts[i]!.length;
      const expectedMs = processes === 0 ? 0 : (spentMs[i]! * (processes + 1)) / processes;
      if (expectedMs > ROUNDS * sliceMs + OVERDRAFT_MS) continue;
      const from = clock();
      const timer = await runtime.timer(settings[i]!);
      try {
        parts[i]!.push(await timeSlice(timer, sliceMs, clock));
      } finally {
        await timer.close();
      }
      spentMs[i]! += clock() - from;
      onProgress?.(done, ROUNDS * settings.length);
    }
  }
  return parts.map((series) => ({
    samplesMs: series.flatMap(({ samplesMs }) => samplesMs),
    loadMs: median(series.map(({ loadMs }) => loadMs)),
    firstRunMs: median(series.map(({ firstRunMs }) => firstRunMs)),
    peakRssBytes: Math.max(...series.map(({ peakRssBytes }) => peakRssBytes)),
    processes: series.length,
    settled: series.every(({ settled }) => settled),
    allowed: series.flatMap(({ allowed }) => allowed),
  }));
}

async function timeSlice(timer: Timer, sliceMs: number, clock: () => number): Promise<Omit<SweepSeries, "processes">> {
  const from = clock();
  const { perRunMs, settled } = await warmUp([timer], from + WARM_SHARE * sliceMs, clock);
  const leftMs = from + sliceMs - clock();
  const runs = Math.max(LEAST_RUNS, Math.floor(leftMs / perRunMs[0]!));
  const samplesMs = [...(await timer.measure(runs))];
  const { loadMs, firstRunMs, allowed } = timer;
  return { samplesMs, loadMs, firstRunMs, allowed, peakRssBytes: await timer.peakRssBytes(), settled };
}

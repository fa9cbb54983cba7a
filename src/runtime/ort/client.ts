/**
 * The runtime port on onnxruntime-node. Its `run` blocks the event loop and a native
 * crash takes the process along, so models only ever run in child processes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { InferOptError } from "../../base/errors.js";
import { mergeTaps, type TapStatistics } from "../../observe/index.js";
import type {
  ModelSignature,
  ObserveJob,
  OutputDifference,
  Placement,
  ProviderFallback,
  Runtime,
  ScoreJob,
  ScoreResult,
  SessionOptions,
  StagesSpec,
  StageTimer,
  Sums,
  Tensors,
  Timer,
  TimerSpec,
} from "../port.js";
import type { Scores } from "../score-job.js";
import type { TrainResult } from "../train-job.js";
import { JobPool } from "./job-pool.js";
import { type Call, interrupted } from "./job-process.js";
import { modelBytes } from "./model-bytes.js";
import { inOwnNames } from "./own-names.js";
import type { JobName, Jobs, Part, RuntimeFacts } from "./protocol.js";
import { ResidentSum } from "./resident-size.js";
import { openStageTimer } from "./stage-timer.js";
import { openTimer } from "./timer.js";
import { fromWireTensors, toWireTensors } from "./wire-tensors.js";

export interface OrtRuntimeOptions {
  /** Kills every child and rejects what is running, with kind "interrupted". */
  readonly signal?: AbortSignal;
  /** For sessions that state no `timeoutMs` of their own. */
  readonly timeoutMs?: number;
  /** Processes that share the samples of one job; by default as many as the cores feed, at most 2. */
  readonly workers?: number;
  /** Where jobs may write files for as long as they run; the system's temporary folder when absent. */
  readonly scratch?: string;
  /** What errors call a model of that folder. */
  readonly nameOf?: (path: string) => string;
}

export interface OrtRuntime extends Runtime {
  /** Version and providers of the installed runtime. Rejects with RUNTIME_UNAVAILABLE when it does not load. */
  facts(): Promise<RuntimeFacts>;
  /** Starts a process ahead of the first job, which then waits less. */
  warmUp(): void;
  /** Ids of the child processes alive now. */
  pids(): readonly number[];
}

const DEFAULT_TIMEOUT_MS = 600_000;
/** Each loads the models anew: more would cost memory by the hundred megabytes. */
const MAX_WORKERS = 2;
/** Not worth a process of their own to score. */
const FEW_SAMPLES = 32;
/** Models that weigh more than this together are loaded once, however many workers there could be. */
const SHARED_BYTES = 512 * 2 ** 20;

/** The same for observing, where each process holds the weights and a sample's activations. */
const OBSERVED_BYTES = 24 * 2 ** 20;

/** Tensors looked at, after which a process holds more memory than a new one takes. */
const RENEWED_BYTES = 256 * 2 ** 20;

/** Answered sooner by the process that is there, when its turn comes, than by one that would have to start. */
const inTurn: ReadonlySet<JobName> = new Set(["describe", "run"]);

const weightOf = (models: readonly string[]): number => models.reduce((sum, model) => sum + modelBytes(model), 0);

const isHeavy = (spec: ObserveJob | ScoreJob): boolean =>
  "models" in spec
    ? weightOf(spec.models) > SHARED_BYTES
    : weightOf([spec.model]) + (spec.heldBytes ?? 0) > OBSERVED_BYTES;

export function ortRuntime(options: OrtRuntimeOptions = {}): OrtRuntime {
  const memory = new ResidentSum();
  const fallbacks = new Map<string, ProviderFallback>();
  const { scratch, nameOf } = options;
  const pool = new JobPool({
    memory,
    fellBack: (fallback) => fallbacks.set(fallback.wanted, fallback),
    told: (error) => (scratch !== undefined && nameOf ? inOwnNames(error, { scratch, nameOf }) : error),
  });

  const timeoutOf = (session: SessionOptions | null): number =>
    session?.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const workersFor = ({ threads }: SessionOptions): number =>
    options.workers ?? Math.max(1, Math.min(MAX_WORKERS, Math.floor(availableParallelism() / Math.max(1, threads))));

  const call = <J extends JobName>(
    job: J,
    model: string,
    session: SessionOptions | null,
    args: Jobs[J]["args"],
  ): Promise<Jobs[J]["result"]> =>
    pool.call(
      { job, args, model, timeoutMs: timeoutOf(session) },
      session && !inTurn.has(job) ? workersFor(session) : 1,
    );

  /** The same job on parts of the samples, in the order of the dataset. */
  const split = async <J extends "observe" | "score">(
    job: J,
    model: string,
    { onProgress, ...spec }: ObserveJob | ScoreJob,
  ): Promise<Jobs[J]["result"][]> => {
    const possible = workersFor(spec.session);
    const workers = possible > 1 && isHeavy(spec) ? 1 : possible;
    // A few samples are scored sooner than the models are loaded in a second process.
    const parts = spec.data.indices
      ? Math.ceil(spec.data.indices.length / (job === "score" ? FEW_SAMPLES : 1))
      : workers;
    const of = Math.max(1, Math.min(workers, parts));
    const progress = onProgress ? joinProgress(of, onProgress) : null;
    const calls = Array.from({ length: of }, (_, index): Call<J> => {
      const part: Part = { index, of };
      const args = { ...spec, part } as Jobs[J]["args"];
      return { job, args, model, timeoutMs: timeoutOf(spec.session), onProgress: progress?.(index) };
    });
    return pool.callAll(calls, workers);
  };

  const withFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
    const folder = mkdtempSync(join(scratch ?? tmpdir(), "infer-opt-profile-"));
    try {
      return await work(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  };

  const runtime: OrtRuntime = {
    warmUp: () => pool.warmUp(),

    facts: () => call("facts", "the runtime", null, {}),

    describe: (model, session, described = {}): Promise<ModelSignature> =>
      call("describe", model, session, { model, session, options: described, scratch: scratch ?? tmpdir() }),

    async run(model, feeds, session): Promise<Tensors> {
      return fromWireTensors(await call("run", model, session, { model, feeds: toWireTensors(feeds), session }));
    },

    async observe(job): Promise<ReadonlyMap<string, TapStatistics>> {
      const dismissed = pool.keepFreed(job.isBrief ? "roomy" : "steady");
      const parts = await split("observe", job.model, job);
      await dismissed;
      // They would hold what was looked at, or together what one alone needs from now on.
      const seen = (job.heldBytes ?? 0) * (job.data.indices?.length ?? 0);
      if (parts.length > 1 || seen > RENEWED_BYTES) {
        await pool.dismissIdle();
        pool.warmUp();
      }
      const merged = parts.reduce((a, b) => a.map((tap, i) => mergeTaps(tap, b[i]!)));
      return new Map(merged.map((tap) => [tap.name, tap]));
    },

    async answer({ outputs, path, ...job }): Promise<void> {
      const moments = { path: `${path}-moments`, axes: new Map(), positions: [] };
      const keep = { answers: { path, outputs }, moments };
      await call("observe", job.model, job.session, { ...job, taps: [], keep, part: { index: 0, of: 1 } });
    },

    // In one process: sums of parts would depend on how many there are.
    reduce: (job) => call("reduce", job.model, job.session, job),

    async advance({ onProgress, ...args }): Promise<Sums> {
      const { model, session } = args;
      const [sums] = await pool.callAll(
        [{ job: "advance", args, model, timeoutMs: timeoutOf(session), onProgress }],
        workersFor(session),
      );
      return sums!;
    },

    async score(job): Promise<ScoreResult> {
      const parts = await split("score", job.models[0] ?? "no model", job).catch((cause: unknown) => {
        throw job.metric.kind === "module" ? whereMetricEnded(job.metric.path, cause) : cause;
      });
      return {
        metric: parts[0]!.metric,
        ...joinScores(parts),
        usedReference: parts.some(({ usedReference }) => usedReference),
        ...(parts[0]!.apart && { apart: joinScores(parts.map(({ apart }) => apart!)) }),
        // The first samples are those of the first part.
        ...(parts[0]!.differences && { differences: parts[0]!.differences }),
      };
    },

    async train({ onProgress, ...job }): Promise<TrainResult> {
      const args = { ...job, told: job.told.map(toWireTensors), state: toWireTensors(job.state) };
      const timeoutMs = timeoutOf(job.session);
      const [result] = await pool.callAll<"train">([{ job: "train", args, model: job.step, timeoutMs, onProgress }], 1);
      return { ...result!, best: fromWireTensors(result!.best) };
    },

    async compare({ onProgress, ...args }): Promise<OutputDifference[]> {
      const { candidate: model, session } = args;
      const [differences] = await pool.callAll(
        [{ job: "compare", args, model, timeoutMs: timeoutOf(session), onProgress }],
        workersFor(session),
      );
      return differences!;
    },

    async timer(spec: TimerSpec): Promise<Timer> {
      // What is timed has the machine to itself.
      await pool.dismissIdle();
      return openTimer(pool, spec, timeoutOf(spec.session));
    },

    async stages(spec: StagesSpec): Promise<StageTimer> {
      await pool.dismissIdle();
      return openStageTimer(pool, spec, timeoutOf(spec.session));
    },

    placement: (model, data, session, saveOptimizedTo): Promise<Placement> =>
      withFolder((folder) =>
        call("placement", model, session, {
          model,
          data,
          session,
          folder,
          saveOptimizedTo: saveOptimizedTo ?? null,
        }),
      ),

    nodeTimes: (models, data, session) =>
      withFolder((folder) => call("nodeTimes", models.at(-1)!, session, { models, data, session, folder })),

    profileNodes: (model, data, session, saveOptimizedTo) =>
      withFolder((folder) =>
        call("profileNodes", model, session, {
          model,
          data,
          session,
          folder,
          saveOptimizedTo: saveOptimizedTo ?? null,
        }),
      ),

    fallbacks: () => [...fallbacks.values()],
    peakRssBytes: () => memory.peakBytes(),
    pids: () => pool.pids(),

    async close() {
      options.signal?.removeEventListener("abort", stop);
      await pool.close();
    },
  };

  const stop = (): void => pool.abort(interrupted());
  if (options.signal?.aborted) stop();
  else options.signal?.addEventListener("abort", stop, { once: true });
  return runtime;
}

/** A process that ends by itself while a module scores does so by the module. */
function whereMetricEnded(path: string, cause: unknown): unknown {
  const ended = cause instanceof InferOptError && cause.code === "RUNTIME_CRASHED" && cause.fields["signal"] === null;
  if (!ended) return cause;
  const how = `exit code ${String(cause.fields["exitCode"])}`;
  return new InferOptError("METRIC_SCORE_FAILED", "input", `metric module ${path} ended the process (${how})`, {
    hint: "score returns or throws: process.exit and rejections that nobody handles end the program around it.",
    cause,
    fields: { path },
  });
}

/** One count out of the counts of several parts; silent until every part has told its size. */
function joinProgress(
  parts: number,
  onProgress: (done: number, total: number) => void,
): (index: number) => (done: number, total: number) => void {
  const seen: ({ done: number; total: number } | null)[] = new Array(parts).fill(null);
  return (index) => (done, total) => {
    seen[index] = { done, total };
    if (seen.some((part) => part === null)) return;
    onProgress(
      seen.reduce((sum, part) => sum + part!.done, 0),
      seen.reduce((sum, part) => sum + part!.total, 0),
    );
  };
}

/** Of parts of a dataset, in order. */
const joinScores = (parts: readonly Scores[]): Scores => ({
  scores: parts[0]!.scores.map((_, model) => concatenate(parts.map(({ scores }) => scores[model]!))),
  ...(parts[0]!.energies && { energies: concatenate(parts.map(({ energies }) => energies!)) }),
});

function concatenate(arrays: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}

/**
 * What crosses between the client and a child: plain data only. Both sides are
 * compiled together, so nothing here is versioned.
 */
import type { DatasetRef } from "../../dataset/index.js";
import type { TapStatistics } from "../../observe/index.js";
import type { NodeProfile } from "../node-profile.js";
import type {
  AdvanceJob,
  CompareJob,
  DescribeOptions,
  ModelSignature,
  NodeTime,
  ObserveJob,
  OutputDifference,
  Placement,
  ProviderFallback,
  ReduceJob,
  ScoreJob,
  ScoreResult,
  ServingPatience,
  SessionOptions,
  StageOrder,
  StageRuns,
  StagesSpec,
  StageTimer,
  Sums,
  Timer,
  TimerSpec,
} from "../port.js";
import type { TrainJob, TrainResult } from "../train-job.js";
import type { WireError } from "./wire-error.js";
import type { WireTensors } from "./wire-tensors.js";

/** The `index`-th of `of` contiguous parts of a dataset. */
export interface Part {
  readonly index: number;
  readonly of: number;
}

/** What the installed runtime says of itself. */
export interface RuntimeFacts {
  readonly version: string;
  /** Execution providers this build knows; those not bundled need libraries that may be missing. */
  readonly providers: readonly { readonly name: string; readonly bundled: boolean }[];
}

export type StagesOpened = Pick<StageTimer, "before" | "after" | "requests" | "hasRequests" | "allowed">;

export type TimerOpened = Pick<Timer, "loadMs" | "firstRunMs" | "start" | "allowed">;

/** Every job: what it takes and what it answers. */
export interface Jobs {
  facts: { args: object; result: RuntimeFacts };
  describe: {
    args: {
      readonly model: string;
      readonly session: SessionOptions;
      readonly options: DescribeOptions;
      /** For temporary files; the client's own, which outlives no run, whatever becomes of this process. */
      readonly scratch: string;
    };
    result: ModelSignature;
  };
  run: {
    args: { readonly model: string; readonly feeds: WireTensors; readonly session: SessionOptions };
    result: WireTensors;
  };
  observe: { args: Omit<ObserveJob, "onProgress"> & { readonly part: Part }; result: TapStatistics[] };
  advance: { args: Omit<AdvanceJob, "onProgress">; result: Sums };
  reduce: { args: ReduceJob; result: ReadonlyMap<string, Float64Array> };
  score: { args: Omit<ScoreJob, "onProgress"> & { readonly part: Part }; result: ScoreResult };
  train: {
    args: Omit<TrainJob, "onProgress" | "told" | "state"> & {
      readonly told: readonly WireTensors[];
      readonly state: WireTensors;
    };
    result: Omit<TrainResult, "best"> & { readonly best: WireTensors };
  };
  compare: { args: Omit<CompareJob, "onProgress">; result: OutputDifference[] };
  placement: {
    args: {
      readonly model: string;
      readonly data: DatasetRef;
      readonly session: SessionOptions;
      /** An empty folder, which the client removes: whatever becomes of this process, no file stays behind. */
      readonly folder: string;
      readonly saveOptimizedTo: string | null;
    };
    result: Placement;
  };
  nodeTimes: {
    args: Omit<Jobs["placement"]["args"], "model" | "saveOptimizedTo"> & { readonly models: readonly string[] };
    result: readonly (readonly NodeTime[])[];
  };
  profileNodes: {
    args: Jobs["placement"]["args"];
    result: NodeProfile;
  };
  timeOpen: { args: TimerSpec; result: TimerOpened };
  timeServe: {
    args: {
      readonly arrivalsMs: Float64Array;
      readonly startAtMs: number;
      readonly patience: ServingPatience | null;
    };
    result: { readonly startMs: Float64Array; readonly endMs: Float64Array };
  };
  stagesOpen: { args: StagesSpec; result: StagesOpened };
  stagesRun: { args: { readonly requests: number; readonly how: StageOrder }; result: StageRuns };
  timeRuns: { args: { readonly runs: number }; result: Float64Array };
  peakRss: { args: object; result: number };
}

export type JobName = keyof Jobs;

export interface Request<J extends JobName = JobName> {
  readonly id: number;
  readonly job: J;
  readonly args: Jobs[J]["args"];
  /** What tells linked models from others (onnx/link-place.ts). */
  readonly links: string;
}

export type Reply =
  | { readonly kind: "progress"; readonly id: number; readonly done: number; readonly total: number }
  /** The next sign of life is due within this time; what is done until then, in words. */
  | { readonly kind: "due"; readonly id: number; readonly withinMs: number; readonly doing: string | null }
  | ({ readonly kind: "done"; readonly id: number; readonly result: Jobs[JobName]["result"] } & Aftermath)
  | ({ readonly kind: "failed"; readonly id: number; readonly error: WireError } & Aftermath);

/** What every finished job leaves to know about its process. */
export interface Aftermath {
  readonly peakRssBytes: number;
  readonly fallbacks: readonly ProviderFallback[];
}

/** What a job may tell while it runs. */
export interface JobContext {
  progress(done: number, total: number): void;
  /** Promises a sign of life within this time, until the next one; errors tell what was done meanwhile. */
  due(withinMs: number, doing?: string): void;
  fellBack(fallback: ProviderFallback): void;
}

export type JobHandler<J extends JobName> = (args: Jobs[J]["args"], context: JobContext) => Promise<Jobs[J]["result"]>;

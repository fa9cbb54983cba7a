/**
 * How models are run, without saying by what. Work goes to the data: a job names a
 * model file and a dataset, runs in another process, and sends back only what is
 * small. `runtime/ort` implements this port with ONNX Runtime.
 */
import type { DatasetRef } from "../dataset/dataset.js";
import type { DType, Shape, Tensor } from "../ir/index.js";
import type { TapStatistics } from "../observe/statistics.js";
import type { NodeProfile } from "./node-profile.js";
import type { ScoreJob, ScoreResult } from "./score-job.js";
import type { SessionOptions } from "./session-options.js";
import type { TrainJob, TrainResult } from "./train-job.js";

/** Tensors by the name of a model's input or output. */
export type Tensors = ReadonlyMap<string, Tensor>;

export type { ScoreJob, ScoreResult, SessionOptions };

export interface PortInfo {
  readonly name: string;
  /** null when the value is no tensor (a sequence, a map, an optional). */
  readonly dtype: DType | null;
  /** null when not even the rank is known; [] is a scalar. */
  readonly shape: Shape | null;
}

export interface ModelSignature {
  readonly inputs: readonly PortInfo[];
  readonly outputs: readonly PortInfo[];
}

export interface DescribeOptions {
  /** Where the graph that the runtime made of the model is to be written. */
  readonly saveOptimizedTo?: string;
  /** Ports of unknown rank may be told as scalars: to find out which they are takes loading the model twice. */
  readonly isRough?: boolean;
}

export interface ObserveJob {
  /** A model whose tapped values are graph outputs. */
  readonly model: string;
  readonly data: DatasetRef;
  /** Names of the outputs to observe, float tensors. */
  readonly taps: readonly string[];
  /** About how much they take together for one sample; 0 when absent. */
  readonly heldBytes?: number;
  /** Time counts more than memory: of many samples the opposite is true. */
  readonly isBrief?: boolean;
  readonly session: SessionOptions;
  /** What is written down on the way, for later jobs to read. */
  readonly keep?: KeepOfSamples;
  /** Called after each sample. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Files of what a model made of single samples, which are found again by their ids. As far as there is room. */
export interface KeepOfSamples {
  /** Outputs as they are, of every sample; of those at the positions `aside` nothing else counts. */
  readonly answers: { readonly path: string; readonly outputs: readonly string[] };
  readonly aside?: readonly number[];
  /** Of float outputs the mean and the mean square by channel, along the axis given (observe/channel-moments.ts); of the samples at these positions in the data. */
  readonly moments: {
    readonly path: string;
    readonly axes: ReadonlyMap<string, number>;
    readonly positions: readonly number[];
  };
}

export interface AnswerJob {
  readonly model: string;
  readonly data: DatasetRef;
  readonly outputs: readonly string[];
  /** Of the file that they are kept in, for `ScoreJob.answers`. */
  readonly path: string;
  readonly session: SessionOptions;
}

export interface ReduceJob {
  readonly model: string;
  readonly data: DatasetRef;
  /** Inputs that are answers kept before, and what they are called there. Samples of which there are none are left out. */
  readonly answers?: { readonly path: string; readonly inputs: ReadonlyMap<string, string> };
  /** Float outputs of the same shape for every sample, by name, and how those of all samples become one. */
  readonly outputs: ReadonlyMap<string, Reduction>;
  readonly session: SessionOptions;
}

/** A part of a model that goes on from what parts before it have kept of every sample. */
export interface AdvanceJob {
  readonly model: string;
  /** For the inputs that were not kept. */
  readonly data: DatasetRef;
  /** Files of what an earlier job kept, by the name of the input. */
  readonly known: ReadonlyMap<string, string>;
  /** Outputs to keep of every sample, by name, and the file of each. */
  readonly kept: ReadonlyMap<string, string>;
  /** Float outputs of the same shape for every sample, which are summed. */
  readonly sums: readonly string[];
  /** So many of the last samples are summed apart. */
  readonly heldOut: number;
  readonly session: SessionOptions;
  readonly onProgress?: (done: number, total: number) => void;
}

/** By output, in double precision; empty where there was no sample. */
export interface Sums {
  readonly fitted: ReadonlyMap<string, Float64Array>;
  readonly heldOut: ReadonlyMap<string, Float64Array>;
}

/** `list`: those of all samples, one after the other. */
export type Reduction = "sum" | "min" | "max" | "list";

export interface CompareJob {
  readonly baseline: string;
  readonly candidate: string;
  readonly data: DatasetRef;
  /** Output of the baseline to output of the candidate; every output of the baseline by its own name when absent. */
  readonly pairs?: readonly (readonly [string, string])[];
  readonly session: SessionOptions;
  /** Compares with the outputs that came with the data in place of the baseline's, which says what they are called; with `pairs`. */
  readonly withReferences?: boolean;
  /** Where the candidate is opened in another way than the baseline. */
  readonly candidateSession?: SessionOptions;
  /** Outputs of the baseline that are held while two large models take turns; 256 MiB when absent. */
  readonly heldBytes?: number;
  /** Also compare the largest element of each row, which takes another look at every element, and tell intervals. */
  readonly isDetailed?: boolean;
  /** Called after each sample. */
  readonly onProgress?: (done: number, total: number) => void;
  /** When the candidate is given up: after so long, and so many times what the baseline took. Without it, as any job. */
  readonly patience?: Patience;
}

export interface Patience {
  readonly leastMs: number;
  readonly factor: number;
}

/**
 * Difference of one output over all samples and elements. Two NaNs are equal, and so are
 * two infinities of one sign; elements that are not finite on both sides are left out of
 * norm and cosine, those that are not in the baseline of its magnitude. Strings count as 1, with a difference of 0 or 1.
 */
export interface OutputDifference {
  readonly output: string;
  /** Largest |candidate - baseline|. */
  readonly maxAbs: number;
  /** Largest |baseline|. */
  readonly maxMagnitude: number;
  /** Largest |candidate - baseline| / |baseline|, where the baseline is not 0. */
  readonly maxRelative: number;
  /** Root of the mean squared difference. */
  readonly rmse: number;
  /** Norm of the difference over norm of the baseline. */
  readonly relativeL2: number;
  /** Signal to quantization noise ratio, dB; Infinity when equal. */
  readonly sqnrDb: number;
  /** Mean over samples of the cosine of the flattened outputs. */
  readonly cosine: number;
  /** Share of the rows along the last axis whose largest element is at the same place in both; null for rows of one element, and where it was not asked for. */
  readonly argmaxAgreement: number | null;
  /** What it might be with other samples; null for a single one, and where it was not asked for. */
  readonly intervals: DifferenceIntervals | null;
  /** Elements that differ at all, those that are NaN on one side only, and how many were compared. */
  readonly differing: number;
  readonly nanMismatch: number;
  /** Elements that are NaN on both sides: nothing can be told by them. */
  readonly nanOnBoth: number;
  readonly elements: number;
  readonly samples: number;
  /** How far each model's outputs are from those of its first sample, relative to their norm; 0 when they are all the same. */
  readonly variation: { readonly baseline: number; readonly candidate: number };
  /** Parts that are far smaller than the rest; null where there are none, and for what has no such parts. */
  readonly faint: FaintSlices | null;
  /** Set when the two outputs could not be compared (shape or type differ). */
  readonly mismatch: string | null;
}

/** Positions along an axis of an output. */
export interface FaintSlices {
  readonly axis: number;
  readonly slices: readonly number[];
  /** Of them alone, all together. */
  readonly sqnrDb: number;
}

/** 95 % intervals over samples. */
export interface DifferenceIntervals {
  readonly rmse: readonly [number, number];
  readonly sqnrDb: readonly [number, number];
  readonly cosine: readonly [number, number];
  readonly argmaxAgreement: readonly [number, number] | null;
}

export interface TimerSpec {
  readonly model: string;
  /** The samples are fed in turn. */
  readonly data: DatasetRef;
  readonly session: SessionOptions;
  /** Holds less memory than it would elsewhere, where that is not what is measured. */
  readonly isSparing?: boolean;
}

/** What it takes until a model can answer, part by part, in a process that does nothing else. */
export interface ColdStart {
  /** Milliseconds: from the start of the process to its first own line, to load the runtime's library, to make a session of the model. */
  readonly processMs: number;
  readonly runtimeMs: number;
  readonly sessionMs: number;
  /** Resident size with the runtime loaded, and with the session besides. */
  readonly runtimeBytes: number;
  readonly sessionBytes: number;
}

/** No request is begun after this moment (milliseconds from the start), once so many were served. */
export interface ServingPatience {
  readonly untilMs: number;
  readonly leastRequests: number;
}

/** A model loaded in a process of its own, ready to be timed. */
export interface Timer {
  readonly start: ColdStart;
  /** Processors that each of its threads may use, told once; empty where the system does not tell. */
  readonly allowed: readonly (readonly number[])[];
  /** Process start to session ready, and the first run, in milliseconds. */
  readonly loadMs: number;
  readonly firstRunMs: number;
  /** Runs back to back; milliseconds of each. */
  measure(runs: number): Promise<Float64Array>;
  /**
   * Serves requests that arrive at these moments (milliseconds from the start, ascending), one after the other, each as soon as it has
   * arrived and those before it are done. Moments in which each began and ended, from the same start; of the first of them, where
   * patience ends before the last one is served.
   */
  serve(
    arrivalsMs: Float64Array,
    onProgress?: (served: number) => void,
    patience?: ServingPatience,
  ): Promise<{ readonly startMs: Float64Array; readonly endMs: Float64Array }>;
  /** Largest resident size of the process so far. */
  peakRssBytes(): Promise<number>;
  close(): Promise<void>;
}

/** A model with the user's own steps around it. */
export interface StagesSpec {
  readonly model: string;
  /** Absolute path of the module. */
  readonly pipeline: string;
  /** What arrives when the module does not say. */
  readonly data: DatasetRef;
  readonly session: SessionOptions;
}

/**
 *   serial      each request from its start to its end before the next one starts
 *   overlapped  the stages before the model work on the next request, in a thread of their own, while it runs
 *   alone       the model only, back to back, on the tensors that the stages made
 */
export type StageOrder = "serial" | "overlapped" | "alone";

export interface StageRuns {
  /** [stage][request], milliseconds; of `serial` all stages, of `alone` the model, of `overlapped` none. */
  readonly stagesMs: readonly Float64Array[];
  /** One a request, from its start to its end. */
  readonly requestMs: Float64Array;
  /** All of them together. */
  readonly wallMs: number;
  /** Why this order is impossible for this module; null when it is not. */
  readonly impossible: string | null;
}

/** A model and the user's stages in a process of their own, ready to be timed. */
export interface StageTimer {
  /** Names of the user's stages, in order. Between the two stand transfer and inference. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Different ones, which come round again; whether the module brought them. */
  readonly requests: number;
  readonly hasRequests: boolean;
  /** As of a `Timer`. */
  readonly allowed: readonly (readonly number[])[];
  measure(requests: number, how: StageOrder): Promise<StageRuns>;
  peakRssBytes(): Promise<number>;
  close(): Promise<void>;
}

/** What one operator type did on one provider; nodes of bodies count, and no time counts twice. */
export interface OperatorTime {
  /** As the runtime executed it: fused and converted operators have names of their own. */
  readonly op: string;
  readonly provider: string;
  /** Nodes that ran at least once, and how often they ran, over all runs. */
  readonly nodes: number;
  readonly calls: number;
  /** For all runs, at what each node took in the run in which it took least. */
  readonly durationMs: number;
}

/** Nodes of one type that compute nothing: they change type, layout or place of a tensor. */
export interface ConversionTime {
  readonly op: string;
  readonly nodes: number;
  /** Those that the model file does not have: the runtime put them there. */
  readonly inserted: number;
  readonly durationMs: number;
}

/** A node that computes in float between a DequantizeLinear and a QuantizeLinear. */
export interface FloatIsland {
  readonly node: string;
  readonly op: string;
  readonly durationMs: number;
}

/**
 * Where a model's nodes ran, by the runtime's own profile. Providers are spelled as in
 * SessionOptions. Times are the host's: on an accelerator that works on its own they tell
 * how long it took to give it the work, so there the nodes are the proof.
 */
export interface Placement {
  /** Runs that were profiled, after one that warmed up. */
  readonly runs: number;
  readonly nodes: number;
  /** In nodes, for all runs: at what each took in the run in which it took least, which others on the machine did not disturb. */
  readonly durationMs: number;
  /** The most time first, as in all lists here. */
  readonly providers: readonly { readonly provider: string; readonly nodes: number; readonly durationMs: number }[];
  readonly operators: readonly OperatorTime[];
  readonly conversions: readonly ConversionTime[];
  /** On cpu only; elsewhere, and for files too large to look into, empty. */
  readonly islands: readonly FloatIsland[];
  /** Every node, in the order in which they were first executed. */
  readonly steps: readonly PlacedStep[];
}

/** A node where it ran. */
export interface PlacedStep extends NodeTime {
  readonly provider: string;
}

/** A node as the runtime executed it. */
export interface NodeTime {
  /** That of a node of the file, or made of it: fused and converted nodes have names of their own. */
  readonly name: string;
  readonly op: string;
  /** Of the run in which it took least, without the nodes of its bodies. */
  readonly ms: number;
}

/** A provider that was asked for and replaced, because `allowFallback` said so. */
export interface ProviderFallback {
  readonly wanted: string;
  readonly used: string;
  readonly reason: string;
}

export interface Runtime {
  /** Loads a model and says what goes in and out. */
  describe(model: string, session: SessionOptions, options?: DescribeOptions): Promise<ModelSignature>;
  /** Runs once on given inputs; every output comes back. For folding and tests: data crosses. */
  run(model: string, feeds: Tensors, session: SessionOptions): Promise<Tensors>;
  observe(job: ObserveJob): Promise<ReadonlyMap<string, TapStatistics>>;
  /** Keeps what a model answers, as far as there is room. */
  answer(job: AnswerJob): Promise<void>;
  /** Elementwise over the samples, in double precision and in their order: the same on every machine. */
  reduce(job: ReduceJob): Promise<ReadonlyMap<string, Float64Array>>;
  /** Runs one part of a model over all samples; see AdvanceJob. */
  advance(job: AdvanceJob): Promise<Sums>;
  score(job: ScoreJob): Promise<ScoreResult>;
  /** Carries a state through the steps of a model, and gives back the one that did best. */
  train(job: TrainJob): Promise<TrainResult>;
  compare(job: CompareJob): Promise<readonly OutputDifference[]>;
  timer(spec: TimerSpec): Promise<Timer>;
  /** Every request went through once before it is answered: whatever is wrong with the module is told here. */
  stages(spec: StagesSpec): Promise<StageTimer>;
  /**
   * Runs a few samples with profiling on, and says which node ran where and for how long. With `saveOptimizedTo`, the
   * graph that was executed is written there, if it can be: on cpu, and not where it is too large.
   */
  placement(model: string, data: DatasetRef, session: SessionOptions, saveOptimizedTo?: string): Promise<Placement>;
  /** Every node of each model by the runtime's own profile, all loaded together and run in turns on the first sample. */
  nodeTimes(
    models: readonly string[],
    data: DatasetRef,
    session: SessionOptions,
  ): Promise<readonly (readonly NodeTime[])[]>;
  /** What each node of a model did on the first sample. With `saveOptimizedTo`, the graph that was executed is written there. */
  profileNodes(
    model: string,
    data: DatasetRef,
    session: SessionOptions,
    saveOptimizedTo?: string,
  ): Promise<NodeProfile>;
  /** Every replacement of a provider that happened so far; a report must show them. */
  fallbacks(): readonly ProviderFallback[];
  /** Largest resident size of this process and those that ran jobs, summed over the ones alive at once. */
  peakRssBytes(): number;
  close(): Promise<void>;
}

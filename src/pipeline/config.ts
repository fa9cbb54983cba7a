/** What a run was asked to do: plain data, the same from flags, a config file or the API. */
import type { PercentileName } from "../base/percentiles.js";
import type { MetricRef } from "../metric/index.js";
import type { RangeMethod } from "../observe/index.js";
import type { Sparsity } from "../pruning/sparsity/sparsity.js";
import type { Correction } from "./correct/corrections.js";

/** How far a metric may fall: percentage points (of a rate) or relative percent, or the metric's own unit. */
export type DropLimit = { readonly percent: number } | { readonly absolute: number } | "none";

export interface LatencyLimit {
  readonly percentile: PercentileName;
  readonly ms: number;
}

export interface Limits {
  /** null: the default of 1 %. */
  readonly maxDrop: DropLimit | null;
  readonly minSpeedup: number | null;
  readonly slo: readonly LatencyLimit[];
  readonly maxSizeBytes: number | null;
  /** Judge accuracy on the interval at this confidence (0..1) instead of on the measured value. */
  readonly confidence: number | null;
}

export interface RuntimeConfig {
  readonly provider: string;
  readonly threads: number;
  readonly allowFallback: boolean;
  /** What is judged is to run where no sum of products of 8 bits saturates, as they do here: answers are those of that place. */
  readonly isExact?: boolean;
  readonly seed: number;
  /** Sizes of made-up inputs, by input name; null for an axis that stays as the model has it. */
  readonly shapes: ReadonlyMap<string, readonly (number | null)[]>;
  /** Processors that what is timed is kept on, ascending; anywhere when absent. */
  readonly affinity?: readonly number[];
  /** Size of a symbolic first dimension where no shape is given. */
  readonly batch: number;
  /** Milliseconds for timing a pair of models. */
  readonly benchMs: number;
  /** Bytes of activations that calibration may hold at once, in each of its processes. */
  readonly maxMemoryBytes: number;
}

export interface DataConfig {
  readonly calibration: string | null;
  readonly eval: string | null;
  readonly metric: MetricRef | null;
}

export interface OutputConfig {
  /** null: nothing is written. */
  readonly output: string | null;
  readonly externalData: boolean;
  readonly keepRejected: boolean;
}

/** How a rewritten graph is compared with the original: not at all, in the end, or after each pass too. */
export type VerifyLevel = "none" | "fast" | "full";

export interface GraphConfig {
  /** Names of passes to leave out, or the only ones to run. */
  readonly skip: readonly string[];
  readonly only: readonly string[];
  /** Sizes that the written model shall have, by input name; a name for an axis that stays open. */
  readonly shapes: ReadonlyMap<string, readonly (number | string)[]>;
  /** Leave the opset as it is, even where a newer one has better operators. */
  readonly keepOpset: boolean;
  /** Convert to this opset first, and stay there. */
  readonly opset?: number;
  /** Where the model is to run, as `--target` names it: nothing is made that is not taken there. */
  readonly target?: string;
  /** Newest opset to raise to without being asked; absent: what ONNX Runtime 1.30 runs on the CPU. */
  readonly maxOpset?: number;
  /** Largest growth of the file that folding one constant may cause, in bytes. */
  readonly foldBudgetBytes: number;
  /** Check the graph's invariants after each pass. */
  readonly check: boolean;
  readonly verify: VerifyLevel;
  /** When a result is wrong, find the one rewrite at fault and leave only that out, not its whole pass. */
  readonly bisect: boolean;
  /** Fuse into operators of com.microsoft too, which only ONNX Runtime has; only `fuse` does. */
  readonly runtimeSpecific: boolean;
  /** Also run the passes that trade precision for speed; `fuse` and `optimize` do. */
  readonly lossy?: boolean;
}

export interface Selection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export interface QuantizeConfig {
  readonly mode: "auto" | "static" | "dynamic" | "weights";
  readonly bits: 8 | 4;
  /** What may be done against the errors of static integers at no cost in speed. */
  readonly corrections: readonly Correction[];
  /** null: chosen by the error at the model's outputs. */
  readonly method: RangeMethod | null;
  readonly ranges: string | null;
  readonly selection: Selection;
  /** Q/DQ pairs (the default), or the integer operators of ai.onnx where there are such. */
  readonly format?: "qdq" | "qoperator";
  /** What counts as gain: speed (the default) or size. */
  readonly goal: "speed" | "size";
  /** Milliseconds for trying candidates and putting regions back to float. */
  readonly searchMs: number;
  /** Milliseconds for the whole run; null or absent where nobody asked for a limit. */
  readonly budgetMs?: number | null;
}

export interface FuseConfig {
  readonly model: string;
  readonly runtime: RuntimeConfig;
  readonly data: DataConfig;
  readonly out: OutputConfig;
  readonly graph: GraphConfig;
}

export interface Fp16Config extends FuseConfig {
  readonly target: "f16" | "bf16";
  readonly convertIo: boolean;
  readonly selection: Selection;
}

export interface OptimizeConfig extends FuseConfig {
  /** The model that the result is judged against; `model` itself when absent. */
  readonly baseline?: string;
  readonly limits: Limits;
  readonly quantize: QuantizeConfig;
}

/** Whether there is a limit to search for; without one a verdict is all that is wanted, soon. */
export const isSearched = ({ limits }: OptimizeConfig): boolean => limits.maxDrop !== "none";

export interface PruneConfig extends FuseConfig {
  readonly limits: Limits;
  readonly prune: {
    /** How much faster the result shall be; null where nobody said. */
    readonly targetSpeedup: number | null;
    /** Share of every group that stays, in place of a search. */
    readonly keepRatio: number | null;
    /** How many units of each group stay, as a result told: those that can be narrowed, in order; null where nobody said. */
    readonly widths: readonly number[] | null;
    /** Zeros in the weights in place of fewer channels; null where nobody asked for them. */
    readonly sparsity: Sparsity | null;
    /** What counts as gain. */
    readonly goal: "speed" | "size";
    /** Whether what is left learns from the original by gradients, after the fit. */
    readonly recover: boolean;
    readonly selection: Selection;
    /** Milliseconds for the whole run; null where nobody asked for a limit. */
    readonly budgetMs: number | null;
  };
}

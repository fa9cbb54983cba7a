/** The outcome of a run: plain data, versioned, safe for JSON. Programs of users read it: what is here stays as it is. */
import type { PercentileBounds } from "../base/percentiles.js";
import type { Form, Mode } from "../quantization/form.js";
import type { FloatNode } from "../quantization/plan-static.js";
import type { WeightBits } from "../quantization/weight-only.js";
import type { Placement } from "../runtime/port.js";
import type { CalibrationFacts } from "./calibrate/calibration-facts.js";
import type { CandidateFacts } from "./candidates/candidate-facts.js";
import type { VerifyLevel } from "./config.js";
import type { CorrectionFacts } from "./correct/correction-facts.js";
import type { HistoryFacts } from "./gate/history.js";
import type { GraphsFacts } from "./inspect/graph-facts.js";
import type { LoadFacts } from "./load/load-facts.js";
import type { BenchFacts } from "./measure/bench-facts.js";
import type { ProvenanceFacts } from "./prepare/provenance.js";
import type { ExecutedFacts } from "./profile/executed-nodes.js";
import type { OperatorTimesFacts } from "./profile/operator-times.js";
import type { ProfileFacts } from "./profile/profile-facts.js";
import type { PruningFacts } from "./prune/pruning-facts.js";
import type { RequestFacts } from "./stages/request-facts.js";
import type { SweepFacts } from "./sweep/sweep-facts.js";
import type { UnfusedNode } from "./unfused/find-unfused.js";

export type { CandidateFacts } from "./candidates/candidate-facts.js";
export type { BenchFacts, BenchRow, ColdStartFacts, MemoryFacts } from "./measure/bench-facts.js";

export interface RunResult {
  readonly schemaVersion: 1;
  readonly command: string;
  /** As typed, quoted for a shell; results of earlier versions are without. */
  readonly commandLine?: string;
  readonly tool: { readonly version: string };
  readonly model: ModelFacts;
  /** Of `--baseline`: the model that `model` was made of, against which accuracy, speed and size are. */
  readonly baseline?: ModelFacts;
  /** null when none was written. */
  readonly output: ModelFacts | null;
  readonly passes: readonly PassFacts[];
  /** What nodes of the output stand for in `model`; those that are what they were are left out. */
  readonly provenance?: readonly ProvenanceFacts[];
  /** Nodes that one would expect to be fused and that the passes left, each with the reason. */
  readonly unfused?: readonly UnfusedNode[];
  readonly quantization: QuantizationFacts | null;
  /** Of `optimize` whose answer is no model with integers: why each node that one would look for among them is float. */
  readonly unquantized?: UnquantizedFacts;
  /** Bytes of weights that `--goal size` may store in fewer bits; of a search for speed that gained nothing. */
  readonly shrinkableBytes?: number;
  readonly accuracy: AccuracyFacts | null;
  readonly latency: LatencyFacts | null;
  readonly verdict: Verdict;
  /** Everything that was measured on the way, best first; the chosen one is marked. */
  readonly candidates: readonly CandidateFacts[];
  /** Of `optimize --prune`: files that were timed and that no other one exceeds in speed, accuracy and size; the slowest first. */
  readonly pareto?: readonly ParetoEntry[];
  readonly precision: PrecisionFacts | null;
  /** Numerical difference between input and output, per output of the model. */
  readonly difference: readonly DifferenceFacts[];
  /** Few, and each worth reading. */
  readonly warnings: readonly string[];
  readonly stages: readonly { readonly stage: string; readonly wallMs: number }[];
  readonly resources: { readonly wallMs: number; readonly peakRssBytes: number };
  readonly environment: EnvironmentFacts;
  /** The second model of `verify` and `gate`, which write none. */
  readonly candidateModel?: ModelFacts;
  /** Where the nodes of the output, or of the candidate, ran, and what took their time; where that was looked into. */
  readonly placement?: PlacementFacts;
  /** Time of a run by operators of the runtime, before and after; where both were profiled side by side. */
  readonly operatorTimes?: OperatorTimesFacts;
  /** What each node of both models took, and where it ran; where both were profiled. */
  readonly executed?: ExecutedFacts;
  /** Inputs and outputs whose sizes `--shape` settled, where it was given. */
  readonly shapes?: readonly ShapeFacts[];
  /** How the rewritten graph was compared with the original, before anything else was done with it. */
  readonly equivalence?: EquivalenceFacts;
  /** Of `fuse --runtime-specific`. */
  readonly runtimeSpecific?: RuntimeSpecificFacts;
  /** Nodes that `--runtime-specific` would make integers, where it was not given; left out where there are none. */
  readonly runtimeSpecificNodes?: number;
  /** Of `--lossy`. */
  readonly lossy?: LossyFacts;
  /** Of `verify` and `gate`, where the data has outputs of its own: how far each model is from them. */
  readonly references?: ReferenceFacts;
  /** Of `verify --drift`. */
  readonly drift?: DriftFacts;
  /** Of `verify --layers`. */
  readonly layers?: LayerDifferences;
  /** Of `bench`: every model by itself. */
  readonly bench?: BenchFacts;
  /** Of `gate`: the config file that limits or data came from. */
  readonly configPath?: string;
  /** Of `bench`. */
  readonly conditions?: ConditionsFacts;
  /** Of `gate --history`. */
  readonly history?: HistoryFacts;
  /** Of `bench --rate` and `--trace`. */
  readonly load?: LoadFacts;
  /** Of `bench` with several batch sizes or thread counts. */
  readonly sweep?: SweepFacts;
  /** Of `bench` and `profile` with --pipeline: whole requests. */
  readonly request?: RequestFacts;
  /** Of `prune`. */
  readonly pruning?: PruningFacts;
  /** Of `profile`. */
  readonly profile?: ProfileFacts;
  /** Of both models, where a report was asked for; those of thousands of nodes are left out. */
  readonly graphs?: GraphsFacts;
  /** Of `calibrate`, and of `quantize` and `optimize` where ranges were chosen. */
  readonly calibration?: CalibrationFacts;
}

export interface ModelFacts {
  readonly path: string;
  readonly sha256: string;
  /** Of the files beside it that hold weights, all together; absent where there are none, or where nothing depends on them. */
  readonly dataSha256?: string;
  /** External data included. */
  readonly bytes: number;
  /** Nodes of the graph and of all bodies. */
  readonly nodes: number;
}

export interface ShapeFacts {
  readonly port: "input" | "output";
  readonly name: string;
  /** A size, a name for one, or null for one without a name; null for a shape of unknown rank. */
  readonly before: readonly (number | string | null)[] | null;
  readonly after: readonly (number | string | null)[] | null;
}

export interface PassFacts {
  readonly name: string;
  readonly applied: number;
  readonly skipped: readonly { readonly node: string; readonly reason: string }[];
  readonly durationMs: number;
  /** Set when the pass's work was undone: the check that failed and where. */
  readonly rejected?: string;
}

export interface EquivalenceFacts {
  readonly level: VerifyLevel;
  /** false when it was not wanted, or could not be done; a warning says why. */
  readonly checked: boolean;
  readonly inputs: "samples" | "made-up" | null;
}

/** The graph with operators of com.microsoft, and the portable one that it was made of and timed against. */
export interface RuntimeSpecificFacts {
  /** Whether the written file has such operators that the original had not: it then runs on ONNX Runtime only. */
  readonly kept: boolean;
  /** Nodes of com.microsoft that were made, kept or not. */
  readonly made: number;
  readonly nodes: number;
  readonly portableNodes: number;
  /** Portable over runtime-specific, both under the runtime's full optimization; null where it was not timed. */
  readonly speedup: number | null;
  readonly speedupInterval: readonly [number, number] | null;
}

/** What passes did that change results on purpose. */
export interface LossyFacts {
  /** Rewrites, those of a pass that was undone not counted. */
  readonly applied: number;
  /** How far an output of the result is from the original's, as a share of its largest value; null where nothing was compared. */
  readonly largestShift: number | null;
}

export interface QuantizationFacts {
  readonly mode: Mode;
  /** Least of the weights; 8 when absent. */
  readonly bits?: WeightBits;
  readonly method: string | null;
  /** Nodes that run on integers or store their weights so. */
  readonly nodes: number;
  /** Of `nodes`, those that are integers only because products around them are. Not in results of earlier versions. */
  readonly between?: number;
  /** What became of each of them; results of earlier versions are without. */
  readonly forms?: readonly { readonly node: string; readonly form: Form }[];
  readonly float: readonly FloatNode[];
  /** Beside static integers: nodes whose weights alone are integers, with the reason why they compute in float; absent where there are none. */
  readonly stored?: readonly FloatNode[];
  /** What was moved between integers and float as one; where the profile was looked at. */
  readonly regions?: readonly RegionFacts[];
  /** Why this mode and placement. */
  readonly why: string;
  /** Whose integer kernels it was made for, as `--target` names them. */
  readonly target?: string;
  readonly notes: readonly string[];
  /** What was done, or tried, against the errors of integers; results of earlier versions are without. */
  readonly corrections?: readonly CorrectionFacts[];
  readonly calibration: { readonly samples: number; readonly tensors: number; readonly data: string } | null;
  /** What the runtime made of the nodes that were to run on integers; where its graph could be looked into. */
  readonly integers?: IntegerFacts;
  /** Weights that can saturate on x86 without VNNI: nodes of which some channel holds such a pair. */
  readonly saturable?: number;
}

export interface UnquantizedFacts {
  readonly why: string;
  readonly float: readonly FloatNode[];
  /** What would have been moved to integers as one, with its times by the table of kernels; where that spoke against all of it. */
  readonly regions?: readonly RegionFacts[];
}

export interface IntegerFacts {
  /** Nodes that run on integers, or move them. */
  readonly integer: number;
  /** Nodes that were to, and do not. */
  readonly float: readonly FloatNode[];
  /** QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear that are executed. */
  readonly conversions: number;
}

/** A node with weights and the nodes that are integers only because it is. */
export interface RegionFacts {
  readonly region: string;
  readonly nodes: readonly string[];
  /** What became of it. */
  readonly form: Form;
  /** Of the outputs when this region alone is integers, dB; null where no search measured it. */
  readonly sqnrDb: number | null;
  /** In float, and as integers with the conversions around them, by the runtime's profile. */
  readonly beforeMs: number;
  readonly afterMs: number;
  /** Why it stays float; empty where it does not. */
  readonly reason: string;
}

export interface PrecisionFacts {
  readonly target: "f16" | "bf16";
  readonly float: readonly FloatNode[];
  readonly notes: readonly string[];
}

export interface AccuracyFacts {
  readonly metric: string;
  /** What answers were held against: labels, the original model's own, or those that came with the data. */
  readonly kind: "labels" | "agreement" | "reference" | "smoke";
  readonly higherIsBetter: boolean;
  readonly samples: number;
  readonly baseline: number;
  readonly candidate: number;
  /** candidate - baseline. */
  readonly delta: number;
  readonly deltaInterval: readonly [number, number];
  readonly confidence: number;
  /** Samples by who answered right, where every score is 0 or 1; results of earlier versions are without. */
  readonly answers?: AnswerFacts;
  /** Samples whose score fell the most, the worst first, counted from 0 in the order of the data. */
  readonly worst?: readonly { readonly sample: number; readonly baseline: number; readonly candidate: number }[];
}

export interface AnswerFacts {
  readonly both: number;
  readonly onlyBefore: number;
  readonly onlyAfter: number;
  readonly neither: number;
}

export interface PlacementFacts extends Omit<Placement, "steps" | "runs"> {
  /** The one asked for. */
  readonly provider: string;
  /** That durations are of. Results of earlier versions are without. */
  readonly runs?: number;
}

export interface Percentiles {
  readonly p50Ms: number;
  /** Results of earlier versions are without. */
  readonly p90Ms?: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly p999Ms: number | null;
  /** The 95 % interval of each; an end is null where the runs do not reach that far. Results of earlier versions have few of them. */
  readonly bounds?: PercentileBounds;
}

export interface LatencyFacts {
  readonly provider: string;
  readonly threads: number;
  readonly batch: number;
  readonly runs: number;
  readonly baseline: Percentiles;
  readonly candidate: Percentiles;
  /** Old over new: above 1 is faster. */
  readonly speedup: number;
  readonly speedupInterval: readonly [number, number];
  /** Quantiles of both, for charts; results of earlier versions are without. */
  readonly distribution?: LatencyDistribution;
}

export interface LatencyDistribution {
  /** Shares of the runs, ascending from 0 to 1: every hundredth, and the tail. */
  readonly at: readonly number[];
  /** Milliseconds in which that share of the runs was done. */
  readonly baselineMs: readonly number[];
  readonly candidateMs: readonly number[];
}

export interface VerdictReason {
  readonly limit: string;
  readonly wanted: number;
  readonly got: number | null;
  readonly status: "met" | "missed" | "inconclusive";
  /** In words, with units. */
  readonly text: string;
  /** Of `wanted`, `got` and `interval`; results of earlier versions are without, and so is what is no limit on a number. */
  readonly unit?: "points" | "percent" | "metric" | "times" | "ms" | "bytes" | "a second";
  /** Where `got` lies; an end is null where the runs do not reach that far. */
  readonly interval?: readonly [low: number | null, high: number | null];
  /**
   * Of what is undecided, and of what was missed because a search ran out of time: about how many times as long it takes
   * to tell; null where no reasonable time would. Absent where nobody knows.
   */
  readonly longer?: number | null;
}

export interface Verdict {
  readonly status: "pass" | "fail" | "inconclusive";
  /** One per declared limit, met or not. */
  readonly reasons: readonly VerdictReason[];
  /** What became of it: decides the exit code. */
  readonly outcome: Outcome;
  readonly summary: string;
}

/** `accuracy` and `latency` name the kind of limit that was missed. */
export type Outcome = "met" | "accuracy" | "latency" | "no-gain" | "inconclusive";

export interface ParetoEntry {
  readonly name: string;
  readonly bytes: number;
  /** The metric on the evaluation data. */
  readonly accuracy: number;
  readonly speedup: number;
  readonly speedupInterval: readonly [number, number];
  readonly chosen: boolean;
  readonly meetsLimits: boolean;
  /** Those that make it again, in order. */
  readonly commands: readonly string[];
}

export interface DifferenceFacts {
  readonly output: string;
  readonly maxAbs: number;
  readonly relativeL2: number;
  readonly sqnrDb: number | null;
  readonly cosine: number;
  /** Results of earlier versions are without these. Largest |after - before| / |before| where that is not 0, and the root of the mean square. */
  readonly maxRelative?: number;
  readonly rmse?: number;
  /** Share of the rows along the last axis whose largest element is at the same place; null for rows of one element. */
  readonly argmaxAgreement?: number | null;
  /** That were compared. */
  readonly samples?: number;
  /** 95 % intervals over samples; absent where there was one sample, or where an element was NaN in one model only. */
  readonly intervals?: {
    readonly rmse: readonly [number, number];
    /** An end is null where samples may be equal. */
    readonly sqnrDb: readonly [number | null, number | null];
    readonly cosine: readonly [number, number];
    readonly argmaxAgreement: readonly [number, number] | null;
  };
}

export interface ReferenceFacts {
  readonly baseline: readonly DifferenceFacts[];
  readonly candidate: readonly DifferenceFacts[];
}

/** What the runtime's own rewriting changes, and what the two models differ in without it. */
export interface DriftFacts {
  /** The two models as their files have them, the runtime's optimizer off in both. */
  readonly asWritten: readonly DifferenceFacts[];
  /** Each model with the optimizer off and on. */
  readonly baseline: readonly DifferenceFacts[];
  readonly candidate: readonly DifferenceFacts[];
}

/** Values of one name in both models, each compared on its own; both models as written, without the runtime's rewriting. */
export interface LayerDifferences {
  readonly thresholdDb: number;
  readonly samples: number;
  /** Values that were compared; those without a namesake of the same type and shape were not. */
  readonly compared: number;
  readonly uncompared: number;
  /** The first in execution order whose SQNR is below the threshold; null when none is. */
  readonly first: LayerDifference | null;
  /** The lowest SQNR first. */
  readonly worst: readonly LayerDifference[];
  /** In execution order, those that were compared; of very many the ones that differ most. Results of earlier versions are without. */
  readonly along?: readonly Pick<LayerDifference, "value" | "node" | "op" | "sqnrDb">[];
}

export interface LayerDifference {
  readonly value: string;
  /** The node of the baseline that makes it. */
  readonly node: string;
  readonly op: string;
  readonly maxAbs: number;
  readonly relativeL2: number;
  /** null when nothing differs. */
  readonly sqnrDb: number | null;
  readonly cosine: number;
}

/** What else decides how fast models run, as far as the system tells; null where it does not. */
export interface ConditionsFacts {
  readonly governor: string | null;
  readonly boost: boolean | null;
  readonly smt: boolean | null;
  readonly quotaCores: number | null;
  readonly memoryBytes: number;
  /** Mean number of busy processors over a minute, before and after. */
  readonly load: readonly [before: number | null, after: number | null];
  readonly temperatureC: readonly [before: number | null, after: number | null];
  /** How much the runtime may rewrite the graph. */
  readonly optimization: string;
  /** Of `--affinity`. */
  readonly affinity?: AffinityFacts;
}

export interface AffinityFacts {
  readonly wanted: readonly number[];
  /** Whether every thread is kept there, or only the runtime's own. */
  readonly means: "process" | "threads";
  /** Processors that the threads were seen to be allowed, each set once; empty where the system does not tell. */
  readonly seen: readonly (readonly number[])[];
}

export interface EnvironmentFacts {
  readonly cpu: string;
  readonly flags: readonly string[];
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
  readonly onnxruntime: string;
}

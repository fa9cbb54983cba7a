/** What the runtime's own profiler says of each node that it executed, and of the memory that it took. */
import type { DType } from "../ir/index.js";

export interface TensorFacts {
  /** null for what is no tensor of a type that ONNX knows. */
  readonly dtype: DType | null;
  readonly dims: readonly number[];
}

/** A node as it was executed: fused and converted ones have names of their own. */
export interface ProfiledStep {
  readonly name: string;
  readonly op: string;
  readonly provider: string;
  /** Executions in one run; more than one in the body of a Loop or Scan. */
  readonly calls: number;
  /** In one run, without the nodes of its bodies: of the run in which it took least, and of the middle one. */
  readonly leastMs: number;
  readonly medianMs: number;
  /** Of the last execution. Weights that the kernel has packed for itself are missing. */
  readonly inputs: readonly TensorFacts[];
  readonly outputs: readonly TensorFacts[];
}

export interface TimelineEvent {
  /** Index of the step. */
  readonly step: number;
  /** Since the first node began. Nodes of bodies lie within the node that owns them. */
  readonly startMs: number;
  readonly ms: number;
}

/** Of the runtime's allocator, in bytes. */
export interface RunMemory {
  /** Most that one run had in use at the end of a node, each tensor in a place of its own: what is alive at once. */
  readonly peakBytes: number;
  /** What it takes ahead for each later run with the same shapes, laid out by its plan. */
  readonly plannedBytes: number;
  /** What the arena held in the end: weights, the plan, and what it took in advance. */
  readonly arenaBytes: number;
}

export interface NodeProfile {
  /** Runs that were profiled, after one that warmed up. */
  readonly runs: number;
  /** A whole run with the profiler on: the least and the middle one. */
  readonly leastRunMs: number;
  readonly medianRunMs: number;
  /** In the order in which they were first executed. */
  readonly steps: readonly ProfiledStep[];
  /** Of the run that took least. */
  readonly timeline: readonly TimelineEvent[];
  /** null where the runtime does not tell. */
  readonly memory: RunMemory | null;
}

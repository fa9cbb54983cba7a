/** What `profile` tells: plain data, part of the result. Times are in milliseconds. */
import type { RunMemory } from "../../runtime/node-profile.js";
import type { AliveTensor } from "../activation-memory.js";
import type { ModelFacts, Percentiles } from "../result.js";
import type { Bound, MachinePeaks } from "./roofline.js";

export interface ProfileFacts {
  readonly provider: string;
  readonly threads: number;
  readonly batch: number;
  /** What the models were fed. */
  readonly data: string;
  /** Measured here with these threads; null on other providers than cpu. */
  readonly machine: MachinePeaks | null;
  /** One, or the first and what it is compared with. */
  readonly models: readonly ModelProfileFacts[];
  /** Where the time of both went, side by side; null for one model. */
  readonly compared: readonly ComparedPart[] | null;
}

export interface ModelProfileFacts {
  readonly model: ModelFacts;
  /** Without the profiler: process start to session ready, the first run, and runs when warm. */
  readonly stages: { readonly loadMs: number; readonly firstRunMs: number; readonly run: Percentiles };
  readonly peakRssBytes: number;
  /** Runs with the profiler on, the least of them, and what of it passed in nodes. */
  readonly runs: number;
  readonly runMs: number;
  readonly nodesMs: number;
  readonly providers: readonly { readonly provider: string; readonly nodes: number; readonly ms: number }[];
  /** The most time first, as in all lists here. */
  readonly operators: readonly OperatorProfile[];
  readonly nodes: readonly NodeProfileFacts[];
  /** Time by what bounds it; null where the machine was not measured. */
  readonly bound: Readonly<Record<Bound, number>> | null;
  /** Of the nodes whose shapes are known. */
  readonly flops: number;
  readonly bytes: number;
  readonly memory: MemoryProfile;
  /** The run that took least, in order. What runs in a body lies within the node that owns it. */
  readonly timeline: readonly TimelineFacts[];
}

export interface TimelineFacts {
  readonly node: string;
  readonly op: string;
  readonly startMs: number;
  readonly ms: number;
}

export interface OperatorProfile {
  readonly op: string;
  readonly provider: string;
  readonly nodes: number;
  readonly ms: number;
  readonly flops: number;
  readonly bytes: number;
}

export interface NodeProfileFacts {
  /** As the runtime executed it; fused and converted nodes have names of their own. */
  readonly name: string;
  readonly op: string;
  readonly provider: string;
  readonly calls: number;
  /** In the run in which it took least. */
  readonly ms: number;
  readonly flops: number | null;
  readonly bytes: number | null;
  /** FLOPs per byte; null where either is unknown or no byte moves. */
  readonly intensity: number | null;
  readonly bound: Bound | null;
  /** Of the machine's peak that bounds it. */
  readonly peakShare: number | null;
}

export interface MemoryProfile {
  /** Of the runtime's allocator; null where it does not tell. */
  readonly runtime: RunMemory | null;
  /** By the lifetimes of tensors in the executed graph; null where that could not be read. */
  readonly activations: {
    readonly totalBytes: number;
    readonly peakBytes: number;
    readonly peakNode: string;
    readonly alive: readonly AliveTensor[];
    /** Bytes alive at each node, in execution order; of very many nodes the most of several neighbours. Results of earlier versions are without. */
    readonly along?: readonly number[];
    /** What counts nothing in all this: tensors of unknown size, and all that is written in the bodies of so many nodes. Results of earlier versions are without. */
    readonly unknown?: number;
    readonly bodies?: number;
  } | null;
}

/** Nodes of both models that together make the same tensor from the same tensors. */
export interface ComparedPart {
  /** The tensor. */
  readonly value: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly beforeMs: number;
  readonly afterMs: number;
}

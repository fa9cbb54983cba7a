/** What `bench --pipeline` tells: plain data, part of the result. */
import type { BenchRow, Percentiles } from "../result.js";

export interface RequestFacts {
  /** The module with the user's stages. */
  readonly pipeline: string;
  readonly provider: string;
  readonly threads: number;
  /** Requests that were timed one after the other; different ones among them, and where these came from. */
  readonly requests: number;
  readonly distinct: number;
  readonly data: string;
  readonly processes: number;
  /** In the order in which a request meets them. */
  readonly stages: readonly StageFacts[];
  readonly total: StageTimeFacts;
  /** Where time is to be won first. */
  readonly first: FirstFacts;
  /** The model by itself on the same tensors, back to back in the same processes. */
  readonly alone: StageTimeFacts;
  /** The stages before the model on the next request while the model runs, as measured; null where that cannot be. */
  readonly overlap: OverlapFacts | null;
  /** Why not; null where it was. */
  readonly notOverlapped: string | null;
  readonly peakRssBytes: number;
}

export interface StageTimeFacts extends Percentiles {
  readonly meanMs: number;
  /** As those of `bench`. */
  readonly bounds: BenchRow["bounds"];
}

export interface StageFacts extends StageTimeFacts {
  readonly name: string;
  /** Whether the module has it; transfer (tensors into the runtime) and inference are not the user's. */
  readonly isOwn: boolean;
  /** Of the time of all requests, with its 95 % interval. */
  readonly share: number;
  readonly shareInterval: readonly [number, number];
}

export interface FirstFacts {
  /** The stage with the largest share; several where their intervals overlap. */
  readonly stages: readonly string[];
  /** How many times as fast requests would be if the first of them took half as long. */
  readonly ifHalved: number;
}

export interface OverlapFacts {
  /** Requests a second, overlapped over one after the other: above 1 is more. */
  readonly speedup: number;
  readonly speedupInterval: readonly [number, number];
  readonly serialPerSecond: number;
  readonly overlappedPerSecond: number;
  /** Of a request while the next one is prepared beside it, from its start to its end. */
  readonly latency: Percentiles;
}

/** SessionOptions in the words of onnxruntime-node. */
import type { InferenceSession } from "onnxruntime-node";
import { threadAffinities } from "../../affinity.js";
import type { SessionOptions } from "../../port.js";

/** Errors only: warnings are the runtime talking to its own developers. */
const LOG_ERRORS = 3;

/** Files that the runtime is to write. */
export interface Records {
  /** The graph that it made of the model. */
  readonly optimizedModel?: string;
  /** What every node did, in a file whose name begins so; it is complete once `endProfiling` returned. */
  readonly profilePrefix?: string;
}

/** What is particular about how a session is opened, besides its options. */
export interface Opening extends Records {
  /** Weights as they are and no memory kept for the next run: for sessions that run once or twice. */
  readonly isLean?: boolean;
  /** No memory kept for the next run: for sessions that write their results to memory of the caller's. */
  readonly isWithoutArena?: boolean;
  /** Keeps the runtime's own threads on the processors of the session's options: for processes that are not kept there as a whole. */
  readonly keepsThreads?: boolean;
  /** The folder of the weights of a model that comes as bytes. */
  readonly weightsFolder?: string;
}

export function toOrtOptions(
  { threads, waiting, optimization, affinity, isExact }: SessionOptions,
  provider: string,
  { optimizedModel, profilePrefix, isLean = false, isWithoutArena = isLean, keepsThreads, weightsFolder }: Opening = {},
): InferenceSession.SessionOptions {
  const entries = {
    ...(isLean && { disable_prepacking: "1" }),
    ...(isExact && { x64quantprecision: "1" }),
    ...(waiting === "asleep" && { "intra_op.allow_spinning": "0" }),
    ...(waiting === "asleep-after-runs" && { force_spinning_stop: "1" }),
    ...(keepsThreads && affinity && threads > 1 && { intra_op_thread_affinities: threadAffinities(affinity, threads) }),
    ...(weightsFolder !== undefined && { model_external_initializers_file_folder_path: weightsFolder }),
  };
  return {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: optimization,
    logSeverityLevel: LOG_ERRORS,
    ...(isWithoutArena && { enableCpuMemArena: false, enableMemPattern: false }),
    ...(Object.keys(entries).length > 0 && { extra: { session: entries } }),
    ...(optimizedModel === undefined ? {} : { optimizedModelFilePath: optimizedModel }),
    ...(profilePrefix === undefined ? {} : { enableProfiling: true, profileFilePrefix: profilePrefix }),
  };
}

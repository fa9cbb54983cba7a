/** SessionOptions in the words of onnxruntime-node. */
import type { InferenceSession } from "onnxruntime-node";
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

export function toOrtOptions(
  { threads, optimization }: SessionOptions,
  provider: string,
  { optimizedModel, profilePrefix }: Records = {},
): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: optimization,
    logSeverityLevel: LOG_ERRORS,
    ...(optimizedModel === undefined ? {} : { optimizedModelFilePath: optimizedModel }),
    ...(profilePrefix === undefined ? {} : { enableProfiling: true, profileFilePrefix: profilePrefix }),
  };
}

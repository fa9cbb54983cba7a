/** SessionOptions in the words of onnxruntime-node. */
import type { InferenceSession } from "onnxruntime-node";
import type { SessionOptions } from "../../port.js";

/** Errors only: warnings are the runtime talking to its own developers. */
const LOG_ERRORS = 3;

export function toOrtOptions(
  { threads, optimization }: SessionOptions,
  provider: string,
  saveOptimizedTo: string | null,
): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: optimization,
    logSeverityLevel: LOG_ERRORS,
    ...(saveOptimizedTo === null ? {} : { optimizedModelFilePath: saveOptimizedTo }),
  };
}

/** The documented exit codes. */
import type { FaultKind } from "../base/errors.js";
import type { Outcome } from "../pipeline/result.js";

export const exitCode = {
  done: 0,
  internal: 1,
  usage: 2,
  input: 3,
  runtime: 4,
  accuracy: 10,
  latency: 11,
  noGain: 12,
  inconclusive: 13,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

export const exitMeanings: ReadonlyMap<ExitCode, string> = new Map([
  [exitCode.done, "done, every declared limit met"],
  [exitCode.internal, "a fault of infer-opt itself"],
  [exitCode.usage, "usage"],
  [exitCode.input, "bad input: model, data, ranges, config, selector"],
  [exitCode.runtime, "runtime or provider missing, or it failed"],
  [exitCode.accuracy, "accuracy limit missed"],
  [exitCode.latency, "latency, SLO or size limit missed"],
  [exitCode.noGain, "no gain: nothing to do, or the result is not faster"],
  [exitCode.inconclusive, "inconclusive: too noisy or too few samples to tell"],
  [exitCode.interrupted, "interrupted"],
]);

export const exitOfFault: Readonly<Record<FaultKind, ExitCode>> = {
  usage: exitCode.usage,
  input: exitCode.input,
  runtime: exitCode.runtime,
  interrupted: exitCode.interrupted,
};

export const exitOfOutcome: Readonly<Record<Outcome, ExitCode>> = {
  met: exitCode.done,
  accuracy: exitCode.accuracy,
  latency: exitCode.latency,
  "no-gain": exitCode.noGain,
  inconclusive: exitCode.inconclusive,
};

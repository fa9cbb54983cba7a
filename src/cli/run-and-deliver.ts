/** What every command that runs models does with its result. */
import type { RunContext } from "../pipeline/context.js";
import type { RunResult } from "../pipeline/result.js";
import type { Invocation } from "./command.js";
import { checkWritten, deliver } from "./deliver.js";
import { type ExitCode, exitCode } from "./exit-code.js";
import { withRunContext } from "./run-context.js";

/** Runs, delivers the result, and says how it ended. */
export async function runAndDeliver(
  invocation: Invocation,
  run: (context: RunContext) => Promise<RunResult>,
): Promise<ExitCode> {
  checkWritten(invocation);
  let isInterrupted = false;
  const result = await withRunContext(invocation, async (context) => {
    const finished = await run(context);
    isInterrupted = context.signal.aborted;
    return finished;
  });
  // A run may answer an interrupt with the best it has so far: worth telling, and still an interrupted run.
  const code = await deliver(await asAsked(result, invocation), invocation);
  return isInterrupted ? exitCode.interrupted : code;
}

/** Graphs are looked at for reports only: it takes reading both files again. */
async function asAsked(result: RunResult, { settings }: Invocation): Promise<RunResult> {
  const isKept = settings.json || settings.report.some(({ format }) => format === "json" || format === "html");
  if (!isKept) return result;
  const { withGraphs } = await import("../pipeline/inspect/graph-facts.js");
  return withGraphs(result);
}

export const changeExits = [
  exitCode.done,
  exitCode.usage,
  exitCode.input,
  exitCode.runtime,
  exitCode.interrupted,
] as const;

export const judgedExits = [
  exitCode.done,
  exitCode.usage,
  exitCode.input,
  exitCode.runtime,
  exitCode.accuracy,
  exitCode.latency,
  exitCode.noGain,
  exitCode.inconclusive,
  exitCode.interrupted,
] as const;

/** Of commands that hold two models against limits: there is nothing to gain, only to compare. */
export const comparedExits: readonly ExitCode[] = judgedExits.filter((code) => code !== exitCode.noGain);

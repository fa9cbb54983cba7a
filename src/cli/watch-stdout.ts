/** What standard output could not take is told at the end: until then there are files to be written. */
import { setImmediate } from "node:timers/promises";
import { type FaultContext, lostOutput, reportFault } from "./fault.js";
import type { Io } from "./io.js";

/** Answers what to give the exit code to once all is written, for the one to end with. */
export function watchStdout(io: Io, context: FaultContext): (code: number) => Promise<number> {
  let lost: Error | null = null;
  let isOver = false;
  io.stdout.on("error", (cause: NodeJS.ErrnoException) => {
    // A reader that leaves early (`| head`) is no fault.
    if (cause.code === "EPIPE") return;
    lost ??= cause;
    if (isOver) io.exitNow(reportFault(lostOutput(cause), context, io));
  });
  return async (code) => {
    // A file that is full says so a moment after it was written to.
    await setImmediate();
    isOver = true;
    return lost === null ? code : reportFault(lostOutput(lost), context, io);
  };
}

/** A result opened on a terminal, where somebody sits at it. */
import type { RunResult } from "../pipeline/result.js";
import type { Invocation } from "./command.js";
import { type ExitCode, exitCode } from "./exit-code.js";
import { drawsUnicode, wantsColor } from "./io.js";
import { writeWhole } from "./write-file.js";

/** Whether the answer is for a person with a keyboard, and not for a program, a file or a log. */
export const isForReader = ({ io, settings }: Invocation): boolean => {
  const { CI, TERM } = io.env;
  return !settings.text && !settings.json && !settings.quiet && !CI && TERM !== "dumb" && io.terminal !== null;
};

/** Until the reader quits. */
export async function openReport(result: RunResult, { io, parameters }: Invocation): Promise<ExitCode> {
  const [{ readReport }, { look }] = await Promise.all([import("../tui/read-report.js"), import("../tui/look.js")]);
  const ended = await readReport({
    ...{ result, path: parameters[0]!, terminal: io.terminal!, writeFile: writeWhole },
    look: look(wantsColor(io, "stdout"), drawsUnicode(io.env)),
    onInterrupt: (handler) => io.onInterrupt(handler),
  });
  return ended === "quit" ? exitCode.done : exitCode.interrupted;
}

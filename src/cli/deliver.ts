/** A result to whoever asked: report files, then stdout, then the exit code. */
import type { RunResult } from "../pipeline/result.js";
import { renderJson } from "../report/json.js";
import { palette } from "../report/palette.js";
import { renderText } from "../report/text.js";
import type { Invocation } from "./command.js";
import { type ExitCode, exitOfOutcome } from "./exit-code.js";
import type { ReportFile } from "./flags.js";
import { wantsColor } from "./io.js";
import { checkWritable } from "./output-path.js";
import { writeWhole } from "./write-file.js";

/** Before any work: reports that could not be written are refused now. */
export function checkReports({ settings }: Invocation): void {
  for (const { path } of settings.report) checkWritable(path);
}

export async function deliver(result: RunResult, invocation: Invocation): Promise<ExitCode> {
  const { io, settings, commandLine } = invocation;
  for (const report of settings.report) await writeReport(result, report, commandLine);
  if (settings.json) io.stdout.write(renderJson(result));
  else if (!settings.quiet) {
    io.stdout.write(renderText(result, palette(wantsColor(io, "stdout")), commandLine, settings.top));
  }
  return exitOfOutcome[result.verdict.outcome];
}

/** `commandLine`: of the command that made the result, null when nobody knows. */
export async function writeReport(
  result: RunResult,
  { path, format }: ReportFile,
  commandLine: string | null,
): Promise<void> {
  switch (format) {
    case "json":
      return writeWhole(path, renderJson(result));
    case "md": {
      const { renderMarkdown } = await import("../report/markdown.js");
      return writeWhole(path, renderMarkdown(result, commandLine));
    }
    case "xml": {
      const { renderJunit } = await import("../report/junit.js");
      return writeWhole(path, renderJunit(result));
    }
  }
}

/** Text for people, or an object for machines, from commands whose answer is no RunResult. */
export function answer({ io, settings, command, toolVersion }: Invocation, text: string, facts: object): void {
  if (settings.json) {
    io.stdout.write(renderJson({ schemaVersion: 1, command: command.name, tool: { version: toolVersion }, ...facts }));
  } else if (!settings.quiet) io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

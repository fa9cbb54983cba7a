/** A result to whoever asked: stdout, then report files, then the exit code. */
import { appendFileSync } from "node:fs";
import { messageOf } from "../base/errors.js";
import { refuseSpecialFile } from "../onnx/output-file.js";
import { rejectedPath } from "../pipeline/output/rejected-path.js";
import type { RunResult } from "../pipeline/result.js";
import { renderJson } from "../report/json.js";
import { palette } from "../report/palette.js";
import { renderText } from "../report/text.js";
import type { Invocation } from "./command.js";
import { type ExitCode, exitOfOutcome } from "./exit-code.js";
import { sheetFor, wantsColor } from "./io.js";
import { checkPlace, modelOutput, type Place } from "./output-path.js";
import type { ReportFile } from "./values/named.js";
import { writeWhole } from "./write-file.js";

/** Before any work: what is written is refused now where it could not be, or where it would replace an input. */
export function checkWritten({ settings, parameters, more, configPath }: Invocation): void {
  const { output, inPlace, keepRejected, report, hdrLog, chromeTrace, history } = settings;
  const { calibration, eval: evaluation, ranges, baseline, metric, pipeline, trace } = settings;
  const isGiven = (path: string | null | undefined): path is string => path != null && path !== "";
  const module = metric?.kind === "module" ? metric.path : null;
  const others = [...more, calibration, evaluation, ranges, baseline, module, pipeline, trace, configPath];
  const read = [...parameters, ...others].filter(isGiven);
  // What is really replaced: behind a link, what it points to.
  const model = inPlace ? modelOutput(parameters[0]!, settings) : output;
  if (isGiven(output) && !inPlace) checkPlace({ flag: "-o", path: output }, read);
  const rejected = rejectedPath({ output: model, keepRejected });
  if (rejected !== null) refuseSpecialFile(rejected, rejected);
  const places = [
    { flag: inPlace ? "--in-place" : "-o", path: model },
    { flag: "--keep-rejected", path: rejected },
    ...report.map(({ path }) => ({ flag: "--report", path })),
    { flag: "--hdr-log", path: hdrLog },
    { flag: "--chrome-trace", path: chromeTrace },
    { flag: "--history", path: history },
  ];
  const written = places.filter((place): place is Place => isGiven(place.path));
  for (const [i, place] of written.entries()) if (place.path !== model) checkPlace(place, read, written.slice(0, i));
}

export async function deliver(found: RunResult, invocation: Invocation): Promise<ExitCode> {
  const { io, settings, commandLine } = invocation;
  const result = { ...found, commandLine };
  if (settings.json) io.stdout.write(renderJson(result));
  else if (!settings.quiet) {
    io.stdout.write(renderText(result, palette(wantsColor(io, "stdout")), commandLine, settings.top, sheetFor(io)));
  }
  // After the answer: a disk that is full by now does not take that away, nor other files.
  const failures: unknown[] = [];
  for (const report of settings.report) {
    await writeReport(result, report, commandLine).catch((failure: unknown) => void failures.push(failure));
  }
  const { GITHUB_ACTIONS } = io.env;
  if (GITHUB_ACTIONS === "true") await tellGithub(result, invocation);
  if (failures.length > 0) throw failures[0];
  return exitOfOutcome[result.verdict.outcome];
}

/** Annotations go to stderr, which GitHub reads as well: stdout may be for a program. */
async function tellGithub(result: RunResult, { io, commandLine }: Invocation): Promise<void> {
  const [{ renderAnnotations }, { renderMarkdown }] = await Promise.all([
    import("../report/github.js"),
    import("../report/markdown.js"),
  ]);
  io.stderr.write(renderAnnotations(result));
  const { GITHUB_STEP_SUMMARY: summary } = io.env;
  if (!summary) return;
  try {
    appendFileSync(summary, `${renderMarkdown(result, commandLine)}\n`);
  } catch (cause) {
    io.stderr.write(`warning: the job summary ${summary} cannot be written: ${messageOf(cause)}\n`);
  }
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
    case "html": {
      const { renderHtml } = await import("../report/html/page.js");
      return writeWhole(path, renderHtml(result, commandLine));
    }
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

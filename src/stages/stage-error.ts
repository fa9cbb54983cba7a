/** What went wrong in code that is not ours: the file, the stage, the line, and the way out. */
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { type ErrorDetails, InferOptError, messageOf } from "../base/errors.js";
import type { UserStage } from "./pipeline-module.js";

export const stageError = (
  code: string,
  message: string,
  hint: string,
  details: Omit<ErrorDetails, "hint"> = {},
): InferOptError => new InferOptError(code, "input", message, { hint, ...details });

/** `doing`: what the module was at. `how`: the code that it left, and what it said. */
export const stagesEnded = (doing: string, how: string, details: Omit<ErrorDetails, "hint">): InferOptError =>
  stageError(
    "PIPELINE_ENDED",
    `${doing} ended the process (${how})`,
    "Stages return or throw: process.exit and rejections that nobody handles end the program around them.",
    details,
  );

/** A stage that threw, on the request of that number. */
export function stageFailed(path: string, { called }: UserStage, request: number, cause: unknown): InferOptError {
  return stageError(
    "PIPELINE_STAGE_FAILED",
    `stage ${called} of ${path} failed on request ${request}${placeOf(cause, path)}: ${messageOf(cause).split("\n")[0]}`,
    `Correct ${called}; what it is given is told in docs/bench.md.`,
    { cause, fields: { path, stage: called, request } },
  );
}

/** " (line 12)" where a stack or a syntax error names a place in the file; "" otherwise. */
export function placeOf(cause: unknown, path: string): string {
  if (cause instanceof SyntaxError) return placeIn(syntaxErrors(path), path);
  return cause instanceof Error ? placeIn(cause.stack ?? "", path) : "";
}

function placeIn(text: string, path: string): string {
  for (const name of [pathToFileURL(path).href, path]) {
    const at = text.indexOf(`${name}:`);
    const line = at < 0 ? undefined : /^\d+/.exec(text.slice(at + name.length + 1))?.[0];
    if (line !== undefined) return ` (line ${line})`;
  }
  return "";
}

/** Where a file does not parse is only told on the way out of a process. */
const syntaxErrors = (path: string): string =>
  spawnSync(process.execPath, ["--check", path], { encoding: "utf8", timeout: 10_000 }).stderr ?? "";

/** Short, and of any value: what a module gives need not have a text. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  const text = inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 3 });
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

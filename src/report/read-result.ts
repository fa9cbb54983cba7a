/** A stored result, checked whole: the renderers must not stumble over a file somebody edited. */
import { readFileSync } from "node:fs";
import { InferOptError, messageOf } from "../base/errors.js";
import { nearbyFile } from "../base/nearby-file.js";
import type { RunResult } from "../pipeline/result.js";
import { parseSavedResult } from "../pipeline/saved-result.js";
import { resultSchema } from "./result-schema.js";

/** Throws RESULT_UNREADABLE, RESULT_INVALID or RESULT_VERSION. */
export const readResult = (path: string): RunResult => parseResult(path, textOf(path));

/** The same of a text, which `name` stands for in messages. */
export const parseResult = (name: string, text: string): RunResult => parseSavedResult(name, text, resultSchema);

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const likely = isMissing ? nearbyFile(path) : null;
    const why = isMissing ? `there is no result ${path}` : `cannot read the result ${path}: ${messageOf(cause)}`;
    throw new InferOptError("RESULT_UNREADABLE", "input", why, {
      hint: likely === null ? "Name a file that --json or --report FILE.json wrote." : `Did you mean ${likely}?`,
      cause,
      fields: { path },
    });
  }
}

/** A stored result, checked whole: the renderers must not stumble over a file somebody edited. */
import { readFileSync } from "node:fs";
import { InferOptError, messageOf } from "../base/errors.js";
import type { RunResult } from "../pipeline/result.js";
import { parseSavedResult } from "../pipeline/saved-result.js";
import { resultSchema } from "./result-schema.js";

/** Throws RESULT_UNREADABLE, RESULT_INVALID or RESULT_VERSION. */
export const readResult = (path: string): RunResult => parseSavedResult(path, textOf(path), resultSchema);

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new InferOptError("RESULT_UNREADABLE", "input", `cannot read the result ${path}: ${messageOf(cause)}`, {
      hint: "Name a file that --json or --report FILE.json wrote.",
      cause,
      fields: { path },
    });
  }
}

/** A stored result, checked whole: the renderers must not stumble over a file somebody edited. */
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { InferOptError, messageOf } from "../base/errors.js";
import type { RunResult } from "../pipeline/result.js";
import { parseSavedResult } from "../pipeline/saved-result.js";
import { resultSchema } from "./result-schema.js";

/** Throws RESULT_UNREADABLE, RESULT_INVALID or RESULT_VERSION. */
export function readResult(path: string): RunResult {
  const result = parseSavedResult(path, textOf(path));
  const parsed = v.safeParse(resultSchema, result);
  if (parsed.success) return result;
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue) ?? "the whole";
  throw new InferOptError(
    "RESULT_INVALID",
    "input",
    `${path} is no result of this program (${where}: ${issue.message.endsWith("received undefined") ? "is missing" : issue.message})`,
    {
      hint: "Name a file that --json or --report FILE.json wrote.",
      fields: { path },
    },
  );
}

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

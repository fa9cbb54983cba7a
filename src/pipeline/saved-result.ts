/** A result read back from a file: what we wrote, or something else, told in words. */
import * as v from "valibot";
import { InferOptError, messageOf } from "../base/errors.js";
import { shellWord } from "../base/shell-word.js";
import type { RunResult } from "./result.js";

/**
 * @param schema of the parts that are going to be read; the rest is taken as it is
 * Throws RESULT_INVALID, or RESULT_VERSION for one of another schema.
 */
export function parseSavedResult(path: string, text: string, schema: v.GenericSchema): RunResult {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
  const version = (json as { schemaVersion?: unknown } | null)?.schemaVersion;
  if (typeof version === "number" && version !== 1) {
    throw new InferOptError(
      "RESULT_VERSION",
      "input",
      `${path} has schema version ${version}, and this program reads 1`,
      {
        hint: "Use the version of the program that wrote it.",
        fields: { path, version },
      },
    );
  }
  const parsed = v.safeParse(schema, json);
  if (parsed.success) return json as RunResult;
  const [issue] = parsed.issues;
  const what = issue.message.endsWith("received undefined") ? "is missing" : issue.message;
  throw invalid(path, `${v.getDotPath(issue) ?? "the whole"}: ${what}`, undefined);
}

const invalid = (path: string, why: string, cause: unknown): InferOptError =>
  new InferOptError("RESULT_INVALID", "input", `${path} is no result of this program (${why})`, {
    hint: /\.onnx$/i.test(path)
      ? `It looks like a model: \`infer-opt inspect ${shellWord(path)}\` tells what is in it.`
      : "Name a file that --json or --report FILE.json wrote.",
    cause,
    fields: { path },
  });

/** A result read back from a file: what we wrote, or something else, told in words. */
import * as v from "valibot";
import { InferOptError, messageOf } from "../base/errors.js";
import type { RunResult } from "./result.js";

const floatNode = v.object({ node: v.string(), op: v.string(), reason: v.string() });

const region = v.looseObject({
  region: v.string(),
  nodes: v.array(v.string()),
  form: v.string(),
  sqnrDb: v.nullable(v.number()),
  beforeMs: v.number(),
  afterMs: v.number(),
  reason: v.string(),
});

/** The parts that are read back; the rest is taken as it is. */
const savedResult = v.looseObject({
  schemaVersion: v.number(),
  command: v.string(),
  passes: v.array(
    v.looseObject({
      name: v.string(),
      applied: v.number(),
      skipped: v.array(v.object({ node: v.string(), reason: v.string() })),
    }),
  ),
  unfused: v.optional(
    v.array(v.looseObject({ node: v.string(), op: v.string(), pass: v.nullable(v.string()), reason: v.string() })),
  ),
  quantization: v.nullable(
    v.looseObject({
      mode: v.string(),
      why: v.string(),
      float: v.array(floatNode),
      regions: v.optional(v.array(region)),
      integers: v.optional(v.looseObject({ integer: v.number(), float: v.array(floatNode), conversions: v.number() })),
    }),
  ),
  precision: v.optional(v.nullable(v.looseObject({ float: v.array(floatNode) }))),
});

/** Throws RESULT_INVALID, or RESULT_VERSION for one of another schema. */
export function parseSavedResult(path: string, text: string): RunResult {
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
  const parsed = v.safeParse(savedResult, json);
  if (parsed.success) return json as RunResult;
  const [issue] = parsed.issues;
  throw invalid(path, `${v.getDotPath(issue) ?? "the whole"}: ${issue.message}`, undefined);
}

const invalid = (path: string, why: string, cause: unknown): InferOptError =>
  new InferOptError("RESULT_INVALID", "input", `${path} is no result of this program (${why})`, {
    hint: "Name a file that --json or --report FILE.json wrote.",
    cause,
    fields: { path },
  });

/** Metrics of the user's own: a module that exports `name`, `higherIsBetter` and `score`. */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { InferOptError, messageOf } from "../base/errors.js";
import type { Metric } from "./metric.js";

/** What a module's `score` is called with: outputs, labels, the inputs of the sample, the baseline's outputs. */
type ModuleScore = (outputs: unknown, labels: unknown, sample: unknown, reference: unknown) => unknown;

/** Of such numbers squares can be added up, as intervals take it, and there is a number still. */
const LARGEST_SCORE = 1e140;

/** Throws METRIC_MODULE_MISSING, METRIC_MODULE_FAILED or METRIC_MODULE_EXPORTS. */
export async function moduleMetric(path: string): Promise<Metric> {
  const exported = await importModule(path);
  const name = exported["name"];
  const higherIsBetter = exported["higherIsBetter"];
  const score = exported["score"];
  if (typeof name !== "string" || name === "") throw wrongExport(path, "name", "a text", name);
  if (typeof higherIsBetter !== "boolean") throw wrongExport(path, "higherIsBetter", "true or false", higherIsBetter);
  if (typeof score !== "function") throw wrongExport(path, "score", "a function", score);
  return {
    name,
    higherIsBetter,
    needsLabels: null,
    needsReference: null,
    async score(outputs, labels, sample, reference) {
      const value = await call(score as ModuleScore, path, sample.id, [outputs, labels, sample.inputs, reference]);
      if (typeof value === "number" && Math.abs(value) <= LARGEST_SCORE) return value;
      const wanted = Number.isFinite(value) ? `more than ${LARGEST_SCORE}` : "not a finite number";
      throw new InferOptError(
        "METRIC_SCORE_INVALID",
        "input",
        `metric module ${path} scored ${shown(value)} on sample ${sample.id}, ${wanted}`,
        { hint: "score must return a finite number for every sample.", fields: { path, sample: sample.id } },
      );
    },
  };
}

/** Throws METRIC_MODULE_MISSING. */
export function refuseMissing(path: string): void {
  if (existsSync(path)) return;
  throw new InferOptError("METRIC_MODULE_MISSING", "input", `metric module ${path} does not exist`, {
    hint: "Check the path given to --metric.",
    fields: { path },
  });
}

async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  refuseMissing(path);
  try {
    const exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    const fallback = exported["default"];
    // CommonJS modules, and those that export one object, have everything on `default`.
    return typeof fallback === "object" && fallback !== null ? { ...fallback, ...exported } : exported;
  } catch (cause) {
    throw new InferOptError(
      "METRIC_MODULE_FAILED",
      "input",
      `metric module ${path} cannot be loaded: ${messageOf(cause)}`,
      {
        hint: `Try it alone: node --input-type=module -e 'await import("${pathToFileURL(path).href}")'.`,
        cause,
        fields: { path },
      },
    );
  }
}

async function call(
  score: ModuleScore,
  path: string,
  sample: string,
  given: Parameters<ModuleScore>,
): Promise<unknown> {
  try {
    return await inTime(score(...given));
  } catch (cause) {
    throw new InferOptError(
      "METRIC_SCORE_FAILED",
      "input",
      `metric module ${path} failed on sample ${sample}: ${messageOf(cause)}`,
      { hint: "Correct the module's score function.", cause, fields: { path, sample } },
    );
  }
}

/** A promise that nothing keeps would be waited for without end. */
const LONGEST_MS = 30_000;

async function inTime(value: unknown): Promise<unknown> {
  // Promises of libraries are of no such class.
  if (!isThenable(value)) return value;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no score within ${LONGEST_MS / 1000} s of its promise`)), LONGEST_MS);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

function wrongExport(path: string, name: string, wanted: string, got: unknown): InferOptError {
  const found = got === undefined ? "does not export it" : `exports ${shown(got)}`;
  return new InferOptError(
    "METRIC_MODULE_EXPORTS",
    "input",
    `metric module ${path} must export "${name}", ${wanted}; it ${found}`,
    {
      hint: "A metric module exports name, higherIsBetter and score(outputs, labels, sample, reference).",
      fields: { path, export: name },
    },
  );
}

/** Short, and of any value: what a module gives need not have a text. */
function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string"
    ? JSON.stringify(value.slice(0, 80))
    : inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY });
}

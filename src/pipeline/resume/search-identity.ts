/**
 * What the numbers of a search hold for, as one digest: model, samples, ranges and a metric of the
 * user's by what is in them, wherever they lie; and all options that a number may depend on. Where
 * the output goes and how long the search may take are none of these.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FuseConfig, Limits, OptimizeConfig, PruneConfig } from "../config.js";
import type { RunContext } from "../context.js";
import type { Intake } from "../intake.js";
import { digestOf } from "../journal.js";
import { modelDigest } from "../model-facts.js";

type Known = Pick<RunContext, "toolVersion" | "environment">;

export function searchIdentity(command: string, config: OptimizeConfig, intake: Intake, known: Known): string {
  const { quantize, baseline, ...rest } = config;
  const { searchMs: _searchMs, budgetMs: _budgetMs, ranges, ...choices } = quantize;
  return identityOf(
    command,
    rest,
    { choices, ranges: ranges && contentOf(ranges), ...(baseline && { baseline: contentOf(baseline) }) },
    intake,
    known,
  );
}

export function pruneIdentity(config: PruneConfig, intake: Intake, known: Known): string {
  const { prune, ...rest } = config;
  const { budgetMs: _budgetMs, ...choices } = prune;
  return identityOf("prune", rest, { choices }, intake, known);
}

function identityOf(
  command: string,
  config: FuseConfig & { readonly limits: Limits },
  choices: Readonly<Record<string, unknown>>,
  { facts, fit, evaluation, evaluationDigest, metric }: Intake,
  { toolVersion, environment }: Known,
): string {
  const { model: _model, data: _data, out: _out, runtime, ...rest } = config;
  const { benchMs: _benchMs, ...session } = runtime;
  const { ref, source } = evaluation;
  return digestOf([
    { command, ...rest, ...choices, session },
    { model: modelDigest(facts), calibration: fit && { digest: fit.digest, indices: fit.ref.indices } },
    { evaluation: { digest: evaluationDigest, source, indices: ref.indices, random: ref.random } },
    { metric: metric.kind === "module" ? contentOf(metric.path) : metric.name },
    { toolVersion, environment },
  ]);
}

/** Modules that a metric imports are not looked into. Null where it cannot be read: whoever uses it says why. */
function contentOf(path: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown) return null;
    throw thrown;
  }
}

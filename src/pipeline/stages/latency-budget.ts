/** `--budget preprocess=10ms,inference=30ms`: what each stage of a request may take. */
import { InferOptError } from "../../base/errors.js";
import { likelyName } from "../../base/nearest.js";
import { stageAliases } from "../../stages/index.js";
import type { LatencyLimit } from "../config.js";
import type { VerdictReason } from "../result.js";
import { judgePercentile } from "../verdict/verdict.js";
import type { RequestFacts } from "./request-facts.js";

export interface StageLimit {
  /** As the user wrote it. */
  readonly stage: string;
  readonly ms: number;
}

/** The whole request. */
export const TOTAL = "total";

/** Throws FLAG_INVALID for a stage that there is not, and for one that has two limits. */
export function budgetOver(limits: readonly StageLimit[], names: readonly string[]): ReadonlyMap<string, number> {
  const known = [...names, TOTAL];
  const budget = new Map<string, number>();
  for (const { stage, ms } of limits) {
    const name = known.includes(stage) ? stage : (stageAliases[stage] ?? stage);
    if (!known.includes(name)) throw unknownStage(stage, known);
    if (budget.has(name)) throw fault(stage, `"${name}" has two limits`, "Give each stage one.");
    budget.set(name, ms);
  }
  return budget;
}

function unknownStage(stage: string, known: readonly string[]): InferOptError {
  const likely = likelyName(stage, known);
  const list = `The stages are ${known.join(", ")}.`;
  const hint = likely === null ? list : `Did you mean ${likely}? ${list}`;
  return fault(stage, `"${stage}" is no stage of this pipeline`, hint);
}

const fault = (stage: string, why: string, hint: string): InferOptError =>
  new InferOptError("FLAG_INVALID", "usage", `--budget: ${why}`, { hint, fields: { flag: "--budget", value: stage } });

/** One reason a limit, each by the interval of its percentile. */
export function judgeBudget(
  budget: ReadonlyMap<string, number>,
  percentile: LatencyLimit["percentile"],
  { stages, total, requests }: Pick<RequestFacts, "stages" | "total" | "requests">,
): VerdictReason[] {
  return [...budget].map(([name, ms]) => {
    const times = name === TOTAL ? total : stages.find((stage) => stage.name === name)!;
    const reason = judgePercentile({ percentile, ms }, times, times.bounds, requests);
    return { ...reason, limit: `budget ${name}` };
  });
}

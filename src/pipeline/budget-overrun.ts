/** What is told of a run that took longer than the time it was given for the whole. */
import type { RunResult } from "./result.js";
import { stageTimes } from "./stage-times.js";
import { givenBudget } from "./verdict/budget-word.js";

/** What ends a run takes a moment, and nobody minds. */
const SLACK = 0.02;
const LEAST_MS = 200;
/** Stages that are named. */
const MOST_NAMED = 3;

/** null where it kept to it. */
export function budgetOverrun(wallMs: number, budgetMs: number, stages: RunResult["stages"]): string | null {
  const overMs = wallMs - budgetMs;
  if (overMs <= Math.max(LEAST_MS, SLACK * budgetMs)) return null;
  const longest = stageTimes(stages)
    .sort((a, b) => b.wallMs - a.wallMs)
    .slice(0, MOST_NAMED);
  const where = longest.map(({ stage, wallMs: ms }) => `${stage} ${seconds(ms)}`).join(", ");
  return (
    `the run took ${seconds(wallMs)}, ${seconds(overMs)} more than --budget ${givenBudget(budgetMs)}: ` +
    `the budget ends searches and shortens timing, and what one candidate needs is done in any case (${where})`
  );
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;

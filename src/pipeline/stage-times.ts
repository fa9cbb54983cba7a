/** What the run itself took its time for. */
import type { RunResult } from "./result.js";

export interface StageTime {
  readonly stage: string;
  readonly times: number;
  readonly wallMs: number;
}

/** A stage that came several times is one row, where it came first. */
export function stageTimes(stages: RunResult["stages"]): StageTime[] {
  const sums = new Map<string, StageTime>();
  for (const { stage, wallMs } of stages) {
    const before = sums.get(stage) ?? { stage, times: 0, wallMs: 0 };
    sums.set(stage, { stage, times: before.times + 1, wallMs: before.wallMs + wallMs });
  }
  return [...sums.values()];
}

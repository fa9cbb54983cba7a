/** What the run itself took its time for, in one line. */
import type { RunResult } from "../pipeline/result.js";
import { stageTimes } from "../pipeline/stage-times.js";
import { duration } from "./numbers.js";

export const stageText = (stages: RunResult["stages"]): string =>
  stageTimes(stages)
    .map(({ stage, wallMs }) => `${stage} ${duration(wallMs)}`)
    .join(", ");

/**
 * What `quantize` answers with where integers gain nothing: the model in float as it was made ready for them, if that alone is faster.
 *
 * A quantizer that keeps the graph is measured beside the file as published, and so is this: who is content with the speed of a bad
 * integer model finds it here without the error.
 */
import type { Rewrite } from "../../rewrite/index.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import type { Candidate } from "../candidates/candidate.js";
import { isFinishedOtherwise } from "../candidates/finishing.js";
import type { Workshop } from "../candidates/workshop.js";
import type { OptimizeConfig } from "../config.js";
import type { Prepared } from "../prepare/prepare.js";
import type { Verdict } from "../result.js";
import type { RunRecord } from "../run-record.js";
import type { Judge, Judged } from "./judge-candidate.js";

/** Beyond what any gain takes at the lower end of its interval: a file that is no smaller has to be worth it by its speed. */
const LEAST_FLOAT_GAIN = 1.1;
/** Of a race, to profile it beside the model that was given. */
const PROFILED_SHARE = 0.25;
const TOO_LITTLE = `without integers a gain takes ${LEAST_FLOAT_GAIN}x: the file is no smaller`;
const INACCURATE = "misses the limit on accuracy";

/** Whether rewrites without integers are an answer at all: to whoever asked for integers of one kind they are none. */
export const admitsFloat = (
  { quantize: { mode, bits, goal, selection } }: Pick<OptimizeConfig, "quantize">,
  { isMeasurable }: Pick<IntegerTarget, "isMeasurable">,
  { passes, path }: Pick<Prepared, "passes" | "path">,
  finishing: readonly Rewrite[],
): boolean =>
  mode === "auto" &&
  bits === 8 &&
  goal === "speed" &&
  selection.include.length === 0 &&
  isMeasurable &&
  (passes.some(({ applied }) => applied > 0) || isFinishedOtherwise(path, finishing));

/** Whether it is the speed alone that the best of the integers lacks: what is inaccurate is for a search to say. */
export const lacksSpeed = ({ outcome }: Verdict): boolean => outcome === "no-gain" || outcome === "inconclusive";

export interface FloatInstead {
  readonly candidate: Candidate;
  /** Null where it misses a limit, or gains too little. */
  readonly answer: Judged | null;
}

export async function floatInstead(
  judge: Judge,
  workshop: Workshop,
  record: RunRecord,
  { runtime: { benchMs } }: Pick<OptimizeConfig, "runtime">,
): Promise<FloatInstead> {
  const candidate = workshop.make({ kind: "fused" });
  const isRaced = await looksFaster(candidate, workshop, record, benchMs);
  const judged = isRaced && (await judge.isAccurate(candidate)) ? await judge.race(candidate) : null;
  const isAnswer = judged?.ruling.verdict.outcome === "met" && candidate.speedup! >= LEAST_FLOAT_GAIN;
  if (!isAnswer)
    candidate.note ||=
      candidate.speedup! < LEAST_FLOAT_GAIN ? TOO_LITTLE : (judged?.ruling.verdict.summary ?? INACCURATE);
  return { candidate, answer: isAnswer ? judged : null };
}

async function looksFaster(
  candidate: Candidate,
  workshop: Workshop,
  record: RunRecord,
  benchMs: number,
): Promise<boolean> {
  await record.stage("verify", () => workshop.measureError([candidate]), candidate.name);
  // The runtime refuses it.
  if (candidate.sqnrDb === Number.NEGATIVE_INFINITY && candidate.note !== "") return false;
  await record.stage("bench", () => workshop.measureSpeed([candidate], benchMs * PROFILED_SHARE), candidate.name);
  return candidate.speedup! >= LEAST_FLOAT_GAIN;
}

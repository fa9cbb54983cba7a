/** The two models that the numbers of a result compare: one rule for every form of the report. */
import type { ModelFacts, RunResult } from "./result.js";

type Models = Pick<RunResult, "model" | "baseline" | "output" | "candidateModel">;

/** What accuracy, speed and size are held against: the model that was given, or the one that it was made of. */
export const beforeOf = ({ model, baseline }: Models): ModelFacts => baseline ?? model;

/** What was written, or the second of two that were given; null where there is but one. */
export const afterOf = ({ output, candidateModel }: Models): ModelFacts | null => output ?? candidateModel ?? null;

/** Whose result it is. */
export const subjectOf = (result: Models): ModelFacts => afterOf(result) ?? result.model;

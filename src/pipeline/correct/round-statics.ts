/**
 * Rounds the weights of static integers with the means of their inputs in view, where that brings
 * the answers closer to the float model's on the samples to judge by (corrections.ts).
 */
import { setImmediate } from "node:timers/promises";
import { storedById } from "../../dataset/index.js";
import { meanOf, meanPairOf, meanSquareOf } from "../../observe/index.js";
import { inputMoments } from "../../quantization/inputs/moment-taps.js";
import type { InputMoments } from "../../quantization/inputs/round-in-view.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import type { Candidate } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import { type Corrected, keepBetter } from "./corrections.js";

/** The first candidate is the widest: the others take a part of its products. */
export async function roundStatics(
  candidates: readonly Candidate[],
  workshop: Workshop,
  answers: FloatAnswers,
): Promise<Corrected> {
  const [first] = candidates;
  if (!first) return { candidates, facts: null };
  const inputs = momentsIn(answers);
  if (inputs.size === 0) return { candidates, facts: null };
  // What there is runs in its own process while its other form is made here.
  const unknown = candidates.filter(({ sqnrDb, built }) => sqnrDb === null && built.forms.size > 0);
  const measured = workshop.measureError(unknown);
  measured.catch(() => undefined);
  await setImmediate();
  const rounded = new Map<Candidate, Candidate>();
  for (const candidate of candidates) {
    const { variant, keptFloat } = candidate;
    if (variant.kind !== "integers" || !variant.recipe.statics) continue;
    const recipe = { ...variant.recipe, statics: { ...variant.recipe.statics, inputs } };
    rounded.set(candidate, workshop.make({ ...variant, recipe }, keptFloat));
  }
  await measured;
  if (first.sqnrDb === null || !Number.isFinite(first.sqnrDb)) {
    for (const made of rounded.values()) workshop.discard(made);
    return { candidates, facts: null };
  }
  await workshop.measureError([...rounded.values()]);
  return keepBetter("means", `weights rounded by the means of ${inputs.size} inputs`, candidates, rounded, workshop);
}

/** By the labels of what products read, as far as it held numbers. */
function momentsIn({ moments: { path, names } }: FloatAnswers): ReadonlyMap<string, InputMoments> {
  const samples = [...storedById(path).values()];
  if (samples.length === 0) return new Map();
  const found = [...names].flatMap(([label, name]) => {
    const moments = inputMoments(
      samples.map((kept) => ({
        mean: kept.get(meanOf(name))!().f32(),
        meanSquare: kept.get(meanSquareOf(name))!().f32(),
        meanPair: kept.get(meanPairOf(name))!().f32(),
      })),
    );
    return moments ? [[label, moments] as const] : [];
  });
  return new Map(found);
}

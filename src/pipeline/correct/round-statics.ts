/**
 * The weights of static integers are rounded with the means of their inputs in view, where that brings
 * the answers closer to the float model's on the samples to judge by (corrections.ts). Ranges are chosen with it, and it is
 * judged when they are.
 */
import { setImmediate } from "node:timers/promises";
import { storedById } from "../../dataset/index.js";
import { meanOf, meanPairOf, meanSquareOf } from "../../observe/index.js";
import { inputMoments } from "../../quantization/inputs/moment-taps.js";
import type { InputMoments } from "../../quantization/inputs/round-in-view.js";
import type { StaticChoice } from "../../quantization/recipe.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import type { Candidate, Variant } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import { type Corrected, type Correction, keepBetter } from "./corrections.js";

/** Holds candidates whose weights were rounded so against the same with each weight rounded by itself. */
export async function judgeRounding(candidates: readonly Candidate[], workshop: Workshop): Promise<Corrected> {
  const pairs = candidates.flatMap((rounded) => {
    const plain = plainOf(rounded.variant);
    return plain ? [{ rounded, plain }] : [];
  });
  if (pairs.length === 0) return { candidates, facts: null };
  // What there is runs in its own process while its other form is made here.
  const unknown = candidates.filter(({ sqnrDb, built }) => sqnrDb === null && built.forms.size > 0);
  const measured = workshop.measureError(unknown);
  measured.catch(() => undefined);
  await setImmediate();
  const forms = new Map(
    pairs.map(({ rounded, plain }) => [workshop.make(plain.variant, rounded.keptFloat), rounded] as const),
  );
  await measured;
  const [first] = pairs;
  const plains = new Map([...forms].map(([plain, rounded]) => [rounded, plain] as const));
  if (first!.rounded.sqnrDb === null || !Number.isFinite(first!.rounded.sqnrDb)) {
    // Nothing confirms it.
    for (const { rounded } of pairs) workshop.discard(rounded);
    return { candidates: candidates.map((each) => plains.get(each) ?? each), facts: null };
  }
  await workshop.measureError([...forms.keys()]);
  const detail = `weights rounded by the means of ${first!.plain.inputs} inputs`;
  const kept = keepBetter("means", detail, [...forms.keys()], forms, workshop);
  const chosen = new Map([...plains.keys()].map((rounded, i) => [rounded, kept.candidates[i]!] as const));
  return { candidates: candidates.map((each) => chosen.get(each) ?? each), facts: kept.facts };
}

/** The same without, and how many inputs were in view; null where there were none. */
function plainOf(variant: Variant): { readonly variant: Variant; readonly inputs: number } | null {
  if (variant.kind !== "integers" || !variant.recipe.statics?.inputs) return null;
  const { inputs, ...choice } = variant.recipe.statics;
  return { variant: { ...variant, recipe: { ...variant.recipe, statics: choice } }, inputs: inputs.size };
}

/** By the labels of what products read, as far as it held numbers; null where nothing did, or where nobody wants it. */
export function inputsInView(
  { corrections }: { readonly corrections: readonly Correction[] },
  answers: FloatAnswers | null,
): NonNullable<StaticChoice["inputs"]> | null {
  if (!answers?.fitted || !corrections.includes("means")) return null;
  const { path, names } = answers.moments;
  const samples = [...storedById(path).values()];
  if (samples.length === 0) return null;
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
  return found.length > 0 ? new Map<string, InputMoments>(found) : null;
}

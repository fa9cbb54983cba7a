/** Brings the answers of static integers closer to the float model's, where that holds on the samples to judge by (corrections.ts). */
import { mean } from "../../base/statistics.js";
import { loadModel } from "../../ir/index.js";
import { fitOutput, type OutputFit, type OutputLine } from "../../quantization/outputs/fit-outputs.js";
import { lastProducts } from "../../quantization/outputs/last-products.js";
import { pairModels } from "../../quantization/outputs/paired-moments.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import type { Candidate } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import { untimed, withSaved } from "../model-runs.js";
import { type Corrected, keepBetter, type LeftOut } from "./corrections.js";
import { portOf } from "./float-answers.js";

/** An expected gain below this is not tried: the samples to judge by decide what is worth having. */
const LEAST_EXPECTED_DB = 0.2;

/**
 * The fit is made on the first candidate, the widest, and tried on all: they differ in
 * what is quantized, not in what the answers are made of.
 */
export async function correctOutputs(
  candidates: readonly Candidate[],
  workshop: Workshop,
  answers: FloatAnswers,
): Promise<Corrected> {
  const [first] = candidates;
  await workshop.measureError(candidates.filter(({ sqnrDb, built }) => sqnrDb === null && built.forms.size > 0));
  const isMeasured = first !== undefined && first.sqnrDb !== null && Number.isFinite(first.sqnrDb);
  const fitted = isMeasured ? await fitLines(first, workshop, answers) : null;
  if (!fitted) return { candidates, facts: null };
  const { lines, leftOut } = fitted;
  const corrected = new Map<Candidate, Candidate>();
  for (const candidate of candidates) {
    const { variant, keptFloat } = candidate;
    if (variant.kind !== "integers") continue;
    corrected.set(candidate, workshop.make({ ...variant, recipe: { ...variant.recipe, lines } }, keptFloat));
  }
  await workshop.measureError([...corrected.values()]);
  const factors = [...lines.values()].map(
    ({ factor, directions }) => `${factor.toFixed(3)} x + ${directions ? "matrix x + " : ""}shift`,
  );
  const detail = `${factors.join(", ")} at ${[...lines.keys()].join(", ")}`;
  return keepBetter("outputs", detail, candidates, corrected, workshop, { isOfLast: true, leftOut });
}

interface FittedLines {
  readonly lines: ReadonlyMap<string, OutputLine>;
  /** Where answers are few numbers, which the samples to judge by say little of; null elsewhere. */
  readonly leftOut: LeftOut | null;
}

async function fitLines(
  candidate: Candidate,
  { options: { prepared, runtime }, context }: Workshop,
  { path, fitted: data }: FloatAnswers,
): Promise<FittedLines | null> {
  const float = loadModel(prepared);
  const products = lastProducts(float).filter(({ node }) => candidate.built.forms.has(node.name));
  if (products.length === 0 || !data) return null;
  const { model, floats, outputs, moments } = pairModels(candidate.built.path, products);
  if (floats.size === 0) return null;
  const names = new Map(products.map(({ value }) => [value.label, portOf(float.graph, value)] as const));
  const inputs = new Map([...floats].map(([input, label]) => [input, names.get(label)!] as const));
  const reduced = await withSaved(model, context, (saved) =>
    context.runtime.reduce({
      model: saved,
      data,
      answers: { path, inputs },
      outputs,
      session: untimed(runtime),
    }),
  );
  const areFew = candidate.inner !== undefined;
  const lines = new Map<string, OutputFit>();
  for (const [node, moment] of moments(reduced)) {
    const fit = fitOutput(moment);
    if (fit.gainDb >= (areFew ? 0 : LEAST_EXPECTED_DB)) lines.set(node, fit);
  }
  if (lines.size === 0) return null;
  const samples = data.indices!.length;
  return { lines, leftOut: areFew ? { gainDb: mean([...lines.values()].map(({ gainDb }) => gainDb)), samples } : null };
}

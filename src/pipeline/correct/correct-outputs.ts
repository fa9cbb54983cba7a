/** Brings the answers of static integers closer to the float model's, where that holds on the samples to judge by (corrections.ts). */
import { mean } from "../../base/statistics.js";
import { loadModel } from "../../ir/index.js";
import { fitOutput, type OutputFit } from "../../quantization/outputs/fit-outputs.js";
import { lastProducts } from "../../quantization/outputs/last-products.js";
import { pairModels } from "../../quantization/outputs/paired-moments.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import type { Candidate } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import { untimed, withSaved } from "../model-runs.js";
import { type Corrected, keepBetter, LEAST_GAIN_DB } from "./corrections.js";
import { portOf } from "./float-answers.js";

/** An expected gain of the answers below this is not tried: the samples to judge by decide what is worth having. */
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
  const { lines, leftOutGainDb } = fitted;
  const corrected = new Map<Candidate, Candidate>();
  for (const candidate of candidates) {
    const { variant, keptFloat } = candidate;
    if (variant.kind !== "integers") continue;
    corrected.set(candidate, workshop.make({ ...variant, recipe: { ...variant.recipe, lines } }, keptFloat));
  }
  await workshop.measureError([...corrected.values()]);
  const factors = [...lines.values()].map(({ factor, directions, along }) => {
    const other = along ? ` (${along.factor.toFixed(3)} along the first principal component)` : "";
    return `${factor.toFixed(3)} x${other} + ${directions ? "matrix x + " : ""}shift`;
  });
  const expected = mean([...lines.values()].map(({ gainDb }) => gainDb));
  const gains = leftOutGainDb === null ? "" : `, ${expected.toFixed(1)} dB expected of what they read`;
  const detail = `${factors.join(", ")} at ${[...lines.keys()].join(", ")}${gains}`;
  return keepBetter("outputs", detail, candidates, corrected, workshop, { isOfLast: true, leftOutGainDb });
}

interface FittedLines {
  readonly lines: ReadonlyMap<string, OutputFit>;
  /** Of the answers, in the mean of the lines, where all of these are fitted to what the products read; null elsewhere. */
  readonly leftOutGainDb: number | null;
}

async function fitLines(
  candidate: Candidate,
  { options: { prepared, runtime }, context }: Workshop,
  { path, fitted: data }: FloatAnswers,
): Promise<FittedLines | null> {
  const float = loadModel(prepared);
  const areFew = candidate.inner !== undefined;
  const products = lastProducts(float).filter(({ node }) => candidate.built.forms.has(node.name));
  if (products.length === 0 || !data) return null;
  const { model, floats, outputs, moments } = pairModels(candidate.built.path, products, areFew);
  if (floats.size === 0) return null;
  const values = products.flatMap(({ node, value }) => (areFew ? [value, node.inputs[0]!] : [value]));
  const names = new Map(values.map((value) => [value.label, portOf(float.graph, value)] as const));
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
  const lines = new Map<string, OutputFit>();
  for (const [node, moment] of moments(reduced)) {
    const fit = fitOutput(moment);
    // What products read tells less of a gain than the answers themselves would, were these not few numbers.
    const least = fit.leftOutGainDb === null ? LEAST_EXPECTED_DB : LEAST_GAIN_DB;
    if (fit.gainDb >= least && !fit.isWorse) lines.set(node, fit);
  }
  if (lines.size === 0) return null;
  const gains = [...lines.values()].map(({ leftOutGainDb }) => leftOutGainDb);
  return { lines, leftOutGainDb: gains.every((gain) => gain !== null) ? mean(gains) : null };
}

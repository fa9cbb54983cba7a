/** Brings the answers of static integers closer to the float model's, where that holds on samples that were not fitted. */
import type { DatasetRef } from "../dataset/index.js";
import { loadModel } from "../ir/index.js";
import { fitOutput, type OutputLine } from "../quantization/outputs/fit-outputs.js";
import { lastProducts } from "../quantization/outputs/last-products.js";
import { pairModels } from "../quantization/outputs/paired-moments.js";
import type { Candidate } from "./candidate.js";
import { type Corrected, keepBetter } from "./corrections.js";
import { asDelivered, untimed, withSaved } from "./model-runs.js";
import type { Workshop } from "./workshop.js";

/** An expected gain below this is not tried. */
const LEAST_EXPECTED_DB = 0.2;

/**
 * The fit is made on the first candidate, the widest, and tried on all: they differ in
 * what is quantized, not in what the answers are made of.
 */
export async function correctOutputs(
  candidates: readonly Candidate[],
  workshop: Workshop,
  data: DatasetRef,
): Promise<Corrected> {
  const [first] = candidates;
  await workshop.measureError(candidates.filter(({ sqnrDb, built }) => sqnrDb === null && built.forms.size > 0));
  const isMeasured = first !== undefined && first.sqnrDb !== null && Number.isFinite(first.sqnrDb);
  const lines = isMeasured ? await fitLines(first, workshop, data) : null;
  if (!lines) return { candidates, facts: null };
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
  return keepBetter("outputs", detail, candidates, corrected, workshop);
}

async function fitLines(
  candidate: Candidate,
  { options: { prepared, runtime }, context }: Workshop,
  data: DatasetRef,
): Promise<ReadonlyMap<string, OutputLine> | null> {
  const products = lastProducts(loadModel(prepared)).filter(({ node }) => candidate.built.forms.has(node.name));
  if (products.length === 0) return null;
  const { model, outputs, moments } = pairModels(prepared, candidate.built.path, products);
  const reduced = await withSaved(model, context, (path) =>
    context.runtime.reduce({ model: path, data, outputs, session: untimed(asDelivered(runtime)) }),
  );
  const lines = new Map<string, OutputLine>();
  for (const [node, moment] of moments(reduced, data.indices!.length)) {
    const fit = fitOutput(moment);
    if (fit.gainDb >= LEAST_EXPECTED_DB) lines.set(node, fit);
  }
  return lines.size > 0 ? lines : null;
}

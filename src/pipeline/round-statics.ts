/**
 * Rounds the weights of static integers with the means of their inputs in view, where that brings
 * the answers closer to the float model's on samples that it has not seen.
 */
import { setImmediate } from "node:timers/promises";
import type { DatasetRef } from "../dataset/index.js";
import { loadModel, type Node } from "../ir/index.js";
import { channelAxis, tapMoments } from "../quantization/inputs/moment-taps.js";
import { type InputMoments, MOST_SAMPLES } from "../quantization/inputs/round-in-view.js";
import { removeWithFeeders } from "../rewrite/index.js";
import type { Candidate } from "./candidate.js";
import { type Corrected, keepBetter } from "./corrections.js";
import { asDelivered, untimed, withSaved } from "./model-runs.js";
import type { Workshop } from "./workshop.js";

/** Samples whose means are looked at: what a few have in common, others mostly share. */
export const MOMENT_SAMPLES = MOST_SAMPLES;

/** The first candidate is the widest: the others take a part of its products. */
export async function roundStatics(
  candidates: readonly Candidate[],
  workshop: Workshop,
  data: DatasetRef,
): Promise<Corrected> {
  const [first] = candidates;
  if (!first) return { candidates, facts: null };
  const inputs = await momentsOf(first, workshop, data);
  if (!inputs || inputs.size === 0) return { candidates, facts: null };
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

async function momentsOf(
  { built }: Candidate,
  { options: { prepared, equalized = prepared, runtime }, context }: Workshop,
  data: DatasetRef,
): Promise<ReadonlyMap<string, InputMoments> | null> {
  const model = loadModel(equalized);
  const isRead = (node: Node): boolean => {
    const [input, weight] = node.inputs;
    return built.forms.get(node.name) === "static" && !!input && !!weight?.constant && channelAxis(node) !== null;
  };
  const products = [...model.graph.nodes()].filter(isRead);
  if (products.length === 0) return null;
  const { outputs, moments } = tapMoments(model, products);
  for (const node of [...model.graph.nodes()].reverse()) removeWithFeeders(node);
  const reduced = await withSaved(model, context, (path) =>
    context.runtime.reduce({ model: path, data, outputs, session: untimed(asDelivered(runtime)) }),
  );
  return moments(reduced, data.indices!.length);
}

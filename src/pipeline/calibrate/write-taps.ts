/** Models that only compute the tensors whose ranges are to be measured. */
import { invariant } from "../../base/errors.js";
import { linkModel, loadModel } from "../../ir/index.js";
import { activationsOf } from "../../quantization/insert-qdq.js";
import { type PlacementOptions, planStatic } from "../../quantization/plan-static.js";
import { removeWithFeeders } from "../../rewrite/index.js";
import { keepOutputs, tapValues } from "../../rewrite/tap-model.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { elementsOf } from "./same-elements.js";

/** Labels of the activations that a placement quantizes, in execution order; empty when there are none. */
export const activationLabels = (prepared: string, target: IntegerTarget, placement: PlacementOptions): string[] =>
  activationsOf(planStatic(loadModel(prepared), target, placement)).map(({ label }) => label);

/** By label, the label of the tensor that holds the same elements and was computed: the one to observe. */
export function observedInstead(prepared: string, labels: readonly string[]): ReadonlyMap<string, string> {
  const { graph } = loadModel(prepared);
  const wanted = new Set(labels);
  const sources = new Map(labels.map((label) => [label, label]));
  for (const node of graph.nodes()) {
    for (const value of node.outputs) {
      if (value && wanted.has(value.label)) sources.set(value.label, elementsOf(value).label);
    }
  }
  return sources;
}

/**
 * Writes a linked copy of the prepared model that computes the values of these labels, makes them
 * outputs, and does nothing else. Returns the outputs' names by label.
 */
export function writeTapModel(prepared: string, labels: readonly string[], path: string): ReadonlyMap<string, string> {
  const model = loadModel(prepared);
  const wanted = new Set(labels);
  const made = [...model.graph.nodes()].flatMap((node) => node.outputs.filter((value) => value !== null));
  // An output may be a constant, which answers are made of too.
  const values = [...model.graph.inputs, ...model.graph.constants, ...made].filter(({ label }) => wanted.has(label));
  invariant(values.length === wanted.size, "labels name one value each");
  const taps = tapValues(model, values);
  keepOutputs(model, new Set(taps.values()));
  for (const node of [...model.graph.nodes()].reverse()) removeWithFeeders(node);
  linkModel(model, path);
  return taps;
}

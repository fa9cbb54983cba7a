/**
 * What calibration is to keep of the float model's runs, sample by sample: answers that integers are held
 * against, and moments of what products read. The steps that want them need not run the model again.
 */
import { spread } from "../../base/spread.js";
import { type Graph, isFloat, loadModel, type Value } from "../../ir/index.js";
import { inputAxis } from "../../quantization/inputs/moment-taps.js";
import { MOST_SAMPLES } from "../../quantization/inputs/round-in-view.js";
import { lastProducts } from "../../quantization/outputs/last-products.js";
import { type PlacementOptions, planStatic } from "../../quantization/plan-static.js";
import { makerBehindView } from "../../rewrite/match.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { type FloatAnswers, LEAST_OBSERVED } from "../calibrate/kept-answers.js";
import type { RunContext } from "../context.js";
import type { Intake } from "../intake.js";
import { samplesFile } from "../model-runs.js";
import { mostFitted, samplesToFit } from "./corrections.js";

export interface AnswersRequest {
  /** The model that will be run. */
  readonly prepared: string;
  readonly target: IntegerTarget;
  readonly placement: PlacementOptions;
  /** Of all activations of one sample. */
  readonly elements: number;
  /** Labels of what else candidates are judged by. */
  readonly inner: readonly string[];
}

/**
 * @returns null where nothing is to be held against anything: the trial's samples are none of the calibration's
 */
export function planAnswers(
  { prepared, target, placement, elements, inner }: AnswersRequest,
  { fit, trial }: Intake,
  context: RunContext,
): FloatAnswers | null {
  if (!fit || fit.ref.random || trial.path !== fit.ref.path || !trial.indices) return null;
  const model = loadModel(prepared);
  const products = lastProducts(model);
  const fitted = samplesToFit({ fit, trial }, products.length > 0 ? mostFitted(elements) : MOST_SAMPLES);
  const outputs = model.graph.outputs.flatMap(({ value }) => (value.dtype && isFloat(value.dtype) ? [value] : []));
  const wanted = [...outputs, ...products.map(({ value }) => value), ...beforeSquashing(model.graph)];
  const axes = new Map<string, number>();
  const names = new Map<string, string>();
  for (const { node } of planStatic(model, target, placement).nodes) {
    const [input, weight] = node.inputs;
    const axis = inputAxis(node);
    if (axis === null || !input || input.constant || !weight?.constant) continue;
    axes.set(input.label, axis);
    names.set(input.label, portOf(model.graph, input));
  }
  const few = fitted ? spread(fitted.indices!, MOST_SAMPLES) : [];
  const told = few.length > 0 ? { axes, names } : { axes: new Map(), names: new Map() };
  return {
    path: samplesFile(context),
    labels: [...new Set([...wanted.map(({ label }) => label), ...inner])],
    fitted,
    moments: { path: samplesFile(context), ...told, indices: few },
    indices: [...trial.indices, ...(fitted?.indices ?? [])].sort((a, b) => a - b),
    aside: fit.count - trial.indices.length >= LEAST_OBSERVED ? trial.indices : [],
  };
}

/** What a value is called among the outputs of a model that tells it. */
export const portOf = ({ outputs }: Graph, value: Value): string =>
  outputs.find((output) => output.value === value)?.name ?? value.label;

/** Operators that press what they read into [0, 1], where a small error shows as none or as all. */
const squashing = new Set(["Softmax", "LogSoftmax", "Sigmoid", "HardSigmoid", "ArgMax"]);

/** What a last Softmax or its like reads, where an output comes from one; null for other outputs. */
export function beforeSquash(output: Value): Value | null {
  // Axes may have been joined for it.
  const producer = makerBehindView(output);
  const before = producer?.inputs[0];
  return producer?.domain === "" && squashing.has(producer.op) && before && !before.constant ? before : null;
}

const beforeSquashing = ({ outputs }: Graph): Value[] => outputs.flatMap(({ value }) => beforeSquash(value) ?? []);

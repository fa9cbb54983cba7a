/** What a result says of the integers in it: which nodes, in what form, why these, and what stayed float. */
import { loadModel, type Model } from "../../ir/index.js";
import { bitsOf, type Form, isDynamicForm, storedBitsOf } from "../../quantization/form.js";
import { activationsOf } from "../../quantization/insert-qdq.js";
import { type FloatNode, planStatic } from "../../quantization/plan-static.js";
import { methodFor, methodsOf, modeOfFile } from "../../quantization/recipe.js";
import { runtimeSpecificNodes } from "../../quantization/recurrent.js";
import { saturableNodes } from "../../quantization/saturable.js";
import type { WeightBits } from "../../quantization/weight-only.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { widestPlacement } from "../calibrate/calibration.js";
import { type CalibrationFacts, calibrationFacts } from "../calibrate/calibration-facts.js";
import { type Candidate, estimateOf, isStatic } from "../candidates/candidate.js";
import type { Region, RegionTime } from "../candidates/regions.js";
import type { Workshop } from "../candidates/workshop.js";
import type { QuantizeConfig } from "../config.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { correctionNote } from "../correct/corrections.js";
import type { Intake } from "../intake.js";
import type { IntegerFacts, QuantizationFacts, RegionFacts, RunResult } from "../result.js";

/** What a run found out on the way to the candidate that it chose. */
export interface Findings {
  /** All that were made, the chosen one among them. */
  readonly tried: readonly Candidate[];
  readonly corrections: readonly CorrectionFacts[];
  readonly fit: Intake["fit"];
  readonly workshop: Workshop;
  /** What the runtime made of the chosen file; null where that was not looked at. */
  readonly integers: IntegerFacts | null;
  /** What else was made of the model before integers were. */
  readonly notes: readonly string[];
}

/** Null for a float candidate. */
export function quantizationFacts(chosen: Candidate, findings: Findings): QuantizationFacts | null {
  const { variant, built } = chosen;
  if (variant.kind !== "integers") return null;
  const { tried, fit, workshop, integers } = findings;
  const { target } = workshop.options;
  const { taps } = workshop;
  const others = tried.filter((other) => other !== chosen && other.speedup !== null);
  const forms = [...built.forms.values()];
  const statics = forms.includes("static") ? variant.recipe.statics : null;
  const corrections = findings.corrections.filter(({ correction }) =>
    correction === "rounding" ? forms.includes("weights4") : statics !== null,
  );
  const stored = statics ? storedNodes(chosen, tried) : [];
  const observed = Math.max(0, ...[...(taps?.values() ?? [])].map(({ samples }) => samples));
  return {
    mode: modeOfFile(variant.recipe, forms),
    ...bitsFacts(forms),
    method: statics && methodsOf(statics),
    nodes: built.forms.size,
    between: built.forms.size - workshop.regionsOf(chosen).length,
    forms: [...built.forms].map(([node, form]) => ({ node, form })),
    ...regionsOfKin(chosen, tried, workshop),
    float: built.float,
    ...(stored.length > 0 && { stored }),
    why: whyChosen(chosen, others),
    target: target.name,
    notes: [...findings.notes, ...built.notes, ...corrections.map(correctionNote)],
    ...((statics || corrections.length > 0) && { corrections }),
    ...(integers && { integers }),
    ...(target.isMeasurable && { saturable: saturableNodes(loadModel(built.path)).length }),
    calibration: statics && fit ? { samples: observed, tensors: taps?.size ?? 0, data: fit.digest } : null,
  };
}

/** Those whose weights alone are integers: others of static integers alone say why no more of them is. */
function storedNodes({ built }: Candidate, tried: readonly Candidate[]): readonly FloatNode[] {
  const float = new Map(tried.filter(isStatic).flatMap((each) => each.built.float.map((node) => [node.node, node])));
  return [...built.forms].flatMap(([name, form]) => (storedBitsOf(form) === null ? [] : (float.get(name) ?? [])));
}

/** The ranges of a candidate with measured ones, beside those that it might have had; null for any other. */
export function chosenRanges({ variant, built, keptFloat }: Candidate, workshop: Workshop): CalibrationFacts | null {
  const statics = variant.kind === "integers" ? variant.recipe.statics : null;
  const { target, excluded } = workshop.options;
  const { taps } = workshop;
  if (!statics || !taps) return null;
  const keepFloat = new Map([...excluded, ...keptFloat]);
  const plan = planStatic(workshop.model, target, { ...statics.placement, keepFloat });
  const nodes = plan.nodes.filter(({ node }) => built.forms.get(node.name) === "static");
  if (nodes.length === 0) return null;
  return calibrationFacts(activationsOf({ nodes }), taps, (label) => methodFor(statics, label));
}

/** What may become integers in a run. */
export interface Allowed {
  readonly target: IntegerTarget;
  readonly mode: QuantizeConfig["mode"];
  /** By `--include` and `--exclude`, with the reason. */
  readonly excluded: ReadonlyMap<string, string>;
}

/** Of a model that stays as it is, with the reason of each node. */
export const allFloat = (
  model: Model,
  allowed: Allowed,
  why: string,
  /** Where integers were weighed, and none of them pay. */
  regions: readonly RegionFacts[] = [],
): Pick<RunResult, "quantization" | "runtimeSpecificNodes"> => ({
  quantization: {
    mode: allowed.mode === "auto" ? "static" : allowed.mode,
    method: null,
    nodes: 0,
    forms: [],
    float: planStatic(model, allowed.target, {
      ...widestPlacement,
      keepFloat: new Map([...allowed.excluded, ...regions.map(({ region, reason }) => [region, reason] as const)]),
    }).float,
    ...(regions.length > 0 && { regions }),
    why,
    notes: [],
    calibration: null,
  },
  ...missedRuntimeSpecific(model, allowed),
});

/** What only operators of the runtime's own would make integers, where dynamic ones may be made. */
export function missedRuntimeSpecific(
  model: Model,
  { target, mode, excluded }: Allowed,
): Pick<RunResult, "runtimeSpecificNodes"> {
  const isDynamic = mode === "auto" || mode === "dynamic";
  const count = isDynamic ? runtimeSpecificNodes(model, target, excluded).length : 0;
  return count > 0 ? { runtimeSpecificNodes: count } : {};
}

/** Left out where it is 8. */
function bitsFacts(forms: readonly Form[]): Pick<QuantizationFacts, "bits"> {
  const bits = Math.min(...forms.map(bitsOf)) as WeightBits;
  return bits === 8 ? {} : { bits };
}

/** Those of the same recipe with the most nodes as integers, and what became of them. */
function regionsOfKin(
  chosen: Candidate,
  tried: readonly Candidate[],
  workshop: Workshop,
): Pick<QuantizationFacts, "regions"> {
  const isKin = (other: Candidate): boolean =>
    other.variant === chosen.variant || (isStatic(other) && isStatic(chosen));
  const kin = tried.filter((other) => isKin(other) && other.times);
  const widest = workshop.isByTable(chosen)
    ? workshop.plan(chosen.variant)
    : kin.sort((a, b) => b.built.forms.size - a.built.forms.size)[0];
  if (!widest) return {};
  const regions = workshop.regionsOf(widest);
  const times = workshop.regionTimes(widest, regions);
  return times ? { regions: regions.map((region) => regionFacts(region, times.get(region.name)!, chosen)) } : {};
}

function regionFacts(
  { name, nodes }: Region,
  { beforeMs, kernelMs, conversionMs }: RegionTime,
  { variant, built, errors, keptFloat }: Candidate,
): RegionFacts {
  const sqnrDb = errors?.get(name) ?? null;
  const form = built.forms.get(name) ?? "float";
  const { statics, forms } = variant.kind === "integers" ? variant.recipe : { statics: null, forms: null };
  // What has no static integers is dynamic without a word in the recipe.
  const isInstead = statics !== null && isDynamicForm(form) && forms.has(name);
  return {
    region: name,
    nodes,
    form,
    sqnrDb: sqnrDb !== null && Number.isFinite(sqnrDb) ? sqnrDb : null,
    beforeMs,
    afterMs: kernelMs + conversionMs,
    reason: keptFloat.get(name) ?? (isInstead ? wouldCost(sqnrDb) : ""),
  };
}

const wouldCost = (sqnrDb: number | null): string =>
  sqnrDb === null || !Number.isFinite(sqnrDb)
    ? "costs too much accuracy as static integers"
    : `costs too much accuracy as static integers: alone they leave ${sqnrDb.toFixed(1)} dB SQNR at the output`;

/** All in one measure: what a long race tells of one is no word on others that have only been estimated. */
export function whyChosen(candidate: Candidate, others: readonly Candidate[]): string {
  const isTimed = [candidate, ...others].every(({ estimate }) => estimate !== undefined);
  const text = (each: Candidate): string => {
    const { name, sqnrDb } = each;
    const speed = isTimed ? each.speedup : estimateOf(each);
    return `${name} ${speed === null ? "untimed" : `${speed.toFixed(2)}x`}${sqnrDb === null ? "" : ` at ${sqnrDb.toFixed(1)} dB`}`;
  };
  if (others.length === 0)
    return `${candidate.name}${candidate.speedup === null ? ", by size and error" : ", the only candidate that was timed"}`;
  const against = `${text(candidate)}; against ${others.map(text).join(", ")}`;
  if (isTimed) return `timed in turns with the original: ${against}`;
  const timed =
    candidate.estimate === undefined ? "" : `; timed in turns with the original, ${candidate.speedup!.toFixed(2)}x`;
  return `estimated here: ${against}${timed}`;
}

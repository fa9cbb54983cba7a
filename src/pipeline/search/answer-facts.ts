/** All that a result tells of the candidate that is the answer, but for the file that it became. */
import { opsetOf } from "../../ir/index.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import type { Candidate } from "../candidates/candidate.js";
import { candidateFacts, integerChoices } from "../candidates/candidate-facts.js";
import { withFinished } from "../candidates/finishing.js";
import type { Workshop } from "../candidates/workshop.js";
import type { OptimizeConfig } from "../config.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { shapeChanges } from "../fix-shapes.js";
import type { Intake } from "../intake.js";
import { lossyText } from "../prepare/lossy.js";
import type { Prepared } from "../prepare/prepare.js";
import { raisedNotes } from "../prepare/raise-opset.js";
import { operatorTimes } from "../profile/operator-times.js";
import type { LossyFacts, ModelFacts, UnquantizedFacts } from "../result.js";
import { differenceFacts } from "../verify/difference.js";
import type { Examination, OriginalTimes } from "./examine-candidate.js";
import type { Judge, Judged } from "./judge-candidate.js";
import { shrinkableBytes } from "./nothing-pays.js";
import { chosenRanges, missedRuntimeSpecific, quantizationFacts } from "./quantization-facts.js";

/** What an answer is told from. */
export interface AnswerParts {
  readonly judge: Judge;
  readonly workshop: Workshop;
  readonly intake: Intake;
  readonly prepared: Prepared;
  /** The model that it is judged against. */
  readonly against: ModelFacts;
  readonly unquantized: () => UnquantizedFacts;
  /** Why it has no integers, where these were all that was asked for; null otherwise. */
  readonly whyFloat: string | null;
}

export interface Answer extends AnswerParts {
  readonly config: OptimizeConfig;
  readonly target: IntegerTarget;
  readonly differences: readonly OutputDifference[];
  readonly examination: Examination;
  /** Of the model that was given. */
  readonly before: OriginalTimes | null;
  readonly lossy: LossyFacts | null;
  /** All candidates that were made. */
  readonly tried: readonly Candidate[];
  readonly corrections: readonly CorrectionFacts[];
}

export function answerFacts({ candidate, latency, ruling }: Judged, answer: Answer) {
  const { workshop, intake, prepared, against, unquantized, whyFloat } = answer;
  const { config, target, differences, before, lossy, tried, corrections } = answer;
  const { integers, placed, executed } = answer.examination;
  const { original, fit } = intake;
  const isPassed = ruling.verdict.outcome === "met";
  const calibration = chosenRanges(candidate, workshop);
  // Profiled beside the model that was given, which is not the one that is judged against.
  const times = config.baseline === undefined ? operatorTimes(candidate, before?.steps, placed?.steps) : null;
  const notes = raisedNotes(opsetOf(original), prepared.model);
  const quantization = quantizationFacts(candidate, { tried, corrections, fit, workshop, integers, notes });
  const told = [
    ...(whyFloat === null ? [] : [`the rewrites alone, without integers: ${whyFloat}`]),
    ...(lossy ? [lossyText(lossy)] : []),
    ...(quantization === null && isPassed ? notes : []),
  ];
  const choices = () => integerChoices(prepared.model, target);
  const isGoneWithout = ruling.verdict.outcome === "no-gain" && config.quantize.goal === "speed";
  return {
    model: intake.facts,
    ...(config.baseline !== undefined && { baseline: against }),
    passes: withFinished(prepared.passes, candidate.built.finished),
    ...(prepared.provenance && { provenance: prepared.provenance }),
    unfused: prepared.unfused,
    quantization,
    ...(quantization === null && { unquantized: unquantized() }),
    ...(isGoneWithout && { shrinkableBytes: shrinkableBytes(original) }),
    accuracy: candidate.accuracy,
    latency: latency?.facts ?? null,
    ...(lossy && { lossy }),
    verdict: { ...ruling.verdict, summary: [ruling.verdict.summary, ...told].join("; ") },
    candidates: candidateFacts(tried, candidate, choices, workshop.estimatesBeside),
    difference: differenceFacts(differences),
    ...(config.graph.shapes.size > 0 && { shapes: shapeChanges(original, prepared.model) }),
    ...(times && { operatorTimes: times }),
    ...(placed && { placement: placed.facts }),
    ...((before ?? executed) && { executed: { before: before?.executed ?? null, after: executed } }),
    ...(calibration && { calibration }),
    ...missedRuntimeSpecific(prepared.model, { ...workshop.options, mode: config.quantize.mode }),
  };
}

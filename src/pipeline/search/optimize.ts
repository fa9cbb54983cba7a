/**
 * The main job: from a model and samples to a smaller, faster file that is as accurate
 * as was asked for, or a clear no. Candidates are made, measured cheaply, ranked, and the
 * fastest that meets the limits on the evaluation data is timed properly and judged.
 *
 * `quantize` considers integers, and the fused float model where these gain nothing; `optimize` both from the start and, where it
 * can pay, half precision.
 */
import { collectGarbage } from "../../base/collect-garbage.js";
import { loadModel, opsetOf } from "../../ir/index.js";
import type { TapStatistics } from "../../observe/index.js";
import { halfWeightsOf } from "../../passes/precision/store-half.js";
import { alreadyQuantized, floatRest } from "../../quantization/already-quantized.js";
import { KeptIntegers } from "../../quantization/kept-integers.js";
import { LEAST_OPSET } from "../../quantization/recipe.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { loadRanges, observeActivations, observeValues, widestPlacement } from "../calibrate/calibration.js";
import type { FloatAnswers } from "../calibrate/kept-answers.js";
import { type Candidate, isInteger } from "../candidates/candidate.js";
import { candidateFacts, integerChoices } from "../candidates/candidate-facts.js";
import { approximatingFor, finishingFor } from "../candidates/finishing.js";
import { innerValuesOf, labelsOf } from "../candidates/inner-values.js";
import { Workshop } from "../candidates/workshop.js";
import { isSearched, type OptimizeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { correctOutputs } from "../correct/correct-outputs.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { type Corrected, samplesToFit } from "../correct/corrections.js";
import { equalizeModel, type QuickOptions } from "../correct/equalize-model.js";
import { planAnswers } from "../correct/float-answers.js";
import { inputsInView } from "../correct/inputs-in-view.js";
import { largestAnswers } from "../correct/largest-answers.js";
import { roundCandidates } from "../correct/round-weights.js";
import {
  allOf,
  type Intake,
  refuseUnjudged,
  requireCalibration,
  takeInLoaded,
  withSamples,
  withTrialOf,
} from "../intake.js";
import { scratchFile } from "../model-runs.js";
import { blamed } from "../original-too.js";
import { bytesReckoner, writeJudged } from "../output/write-output.js";
import { type EarlyPlacement, isPlacedEarly, notPlaced, placeEarly } from "../place/early-placement.js";
import { joinFacts } from "../place/join-products.js";
import { layOut, layOutDraft } from "../place/lay-out.js";
import { leftBetween } from "../place/left-between.js";
import { whyHopeless } from "../place/place-statics.js";
import { approximate } from "../prepare/lossy.js";
import { type Draft, draftModel, type Prepared } from "../prepare/prepare.js";
import { recipeFor, requestOf } from "../prepare/prepare-request.js";
import type { LossyFacts, RunResult, UnquantizedFacts, Verdict } from "../result.js";
import { type PartOf, SearchFiles } from "../resume/search-files.js";
import { RunRecord } from "../run-record.js";
import { quickTrial } from "../sample-counts.js";
import { ScratchWeights } from "../scratch-weights.js";
import { leftOut } from "../select.js";
import { requireLimit } from "../verdict/required-limit.js";
import { outputWarnings } from "../verify/difference.js";
import { placesOf, timedOnAnother, whatIsUnseen, withAnswersOf, withoutSpeed } from "../verify/other-target.js";
import { amongMissed } from "./among-missed.js";
import { type AnswerParts, answerFacts } from "./answer-facts.js";
import { baselineOf } from "./baseline.js";
import { chooseCandidate } from "./choose-candidate.js";
import { type Examination, examineCandidate, examineOriginal, type OriginalTimes } from "./examine-candidate.js";
import {
  admitsFloat,
  type FloatInstead,
  floatInstead,
  mayBeBehindFloat,
  missesLimit,
  whyInFloat,
} from "./float-instead.js";
import { Judge, type Judged } from "./judge-candidate.js";
import { leastOpset, makeCandidates } from "./make-candidates.js";
import { measureSpeed } from "./measure-speed.js";
import { isFloatRaced, unchangedResult, whyNoneFits, whyNothingPays } from "./nothing-pays.js";
import { allFloat } from "./quantization-facts.js";
import { contenders } from "./rank-candidates.js";
import { slowBlocks } from "./slow-blocks.js";
import { unquantizedFacts } from "./unquantized-facts.js";
import { ruledOut, unused } from "./without-effect.js";

export const runQuantize = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new OptimizeRun("quantize", config, context).run();

export const runOptimize = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new OptimizeRun("optimize", config, context).run();

/** Samples that say which inputs of a product come together. */
const MOST_ROUNDED_ON = 96;

export class OptimizeRun {
  readonly record: RunRecord;
  readonly target: IntegerTarget;
  readonly config: OptimizeConfig;
  readonly #tried: Candidate[] = [];
  /** While there is a limit to search for. */
  #files: SearchFiles | null = null;
  readonly #corrections: CorrectionFacts[] = [];
  #lossy: LossyFacts | null = null;
  #admitted: Intake | null = null;
  readonly #integers: ScratchWeights;
  readonly #kept: KeptIntegers;
  readonly #examined = new Map<Candidate, Examination>();
  #original: Promise<OriginalTimes | null> | null = null;

  constructor(
    readonly command: "quantize" | "optimize",
    config: OptimizeConfig,
    readonly context: RunContext,
    readonly part: PartOf | null = null,
  ) {
    this.record = part?.record ?? new RunRecord(command, context, config.quantize.budgetMs ?? null);
    const places = placesOf(config.graph.target ?? null, config.runtime.provider, context);
    const { target } = places;
    const runtimeSpecific = config.graph.runtimeSpecific && target.isMeasurable;
    if (config.graph.runtimeSpecific && !runtimeSpecific)
      this.record.warn(`${target.title} has no operators of ONNX Runtime: --runtime-specific changes nothing`);
    this.target = { ...target, runtimeSpecific, isForSize: config.quantize.goal === "size" };
    const asked = this.target.isMeasurable ? config : withoutSpeed(config, this.target);
    this.config = { ...asked, runtime: withAnswersOf(asked.runtime, places) };
    if (!target.isMeasurable) this.record.warn(...whatIsUnseen(target, config.runtime.provider));
    else this.record.warn(...timedOnAnother(places));
    this.#integers = new ScratchWeights(scratchFile(context, "integers"));
    this.#kept = new KeptIntegers(this.#integers.store);
  }

  async run(): Promise<RunResult> {
    try {
      return await this.#run();
    } catch (thrown) {
      const told = await blamed(thrown, this.config.model, this.#admitted, this.config.runtime, this.context);
      throw this.#files && !this.part ? this.#files.failed(told, this.context.signal) : told;
    } finally {
      this.#integers.drop();
    }
  }

  async #run(): Promise<RunResult> {
    const { config, record } = this;
    const { mode, ranges } = config.quantize;
    requireLimit(config);
    record.warn(...ruledOut(config));
    if (mode === "static") requireCalibration(config.data.calibration !== null || ranges !== null);
    const original = loadModel(config.model);
    const already = alreadyQuantized(original);
    // Nodes that are named to be quantized are meant, also where others are already.
    const isMore = config.quantize.selection.include.length > 0;
    const taken = takeInLoaded(original, config, record, "numbers");
    const taking = Promise.all([taken.judged, taken.facts]).then(([judgement, facts]) => ({ ...judgement, facts }));
    if (already && this.command === "quantize" && !isMore) {
      return this.#nothingToDo(await record.stage("load", () => taking), already + floatRest(original, this.target));
    }
    const request = requestOf(config, taken.judged, recipeFor(this.target), leastOpset(config, original));
    const [admitted, draft] = await this.#taken(taking, draftModel(request, this.context));
    this.#admitted = admitted;
    refuseUnjudged(admitted);
    const against = await baselineOf(config, admitted, this.context);
    const exact = config.graph.lossy ? await record.stage("fuse", () => draft.prove()) : null;
    const lossy = exact && (await approximate(exact, request, record));
    this.#lossy = lossy?.facts ?? null;
    const model = (lossy?.prepared ?? exact ?? draft.prepared).model;
    // Before the long work: a selector that matches nothing ends the run.
    const excluded = leftOut(model, config.quantize.selection);
    this.#files = this.part ? this.part.files(admitted) : SearchFiles.forRun(config, admitted, record);
    const common = {
      bytesOf: bytesReckoner(original, config.out),
      original: against.path,
      target: this.target,
      trial: admitted.trial,
      excluded,
      kept: this.#kept,
      finishing: this.target.isMeasurable ? finishingFor(config.graph) : [],
      approximating: this.target.isMeasurable ? approximatingFor(config.graph) : [],
      ...(config.quantize.format && { format: config.quantize.format }),
      halfWeights: halfWeightsOf(original),
      runtime: config.runtime,
    };
    const journal = this.#files?.journal ?? null;
    const isPlaced = (fused: Prepared): boolean => (already === null || isMore) && this.#mayBeStatic(fused);
    const place = async (prepared: Prepared, integers: ReadonlySet<string> = new Set()): Promise<EarlyPlacement> =>
      isPlaced(prepared) ? placeEarly({ config, common, prepared, integers, journal }, admitted, record) : notPlaced;
    const mayJoin = (fused: Prepared): boolean => isPlaced(fused) && this.#mayJoin(admitted);
    const asked = { request, mayJoin, place, record };
    const { fused, prepared, joined, early } = exact
      ? await layOut(lossy?.prepared ?? exact, asked)
      : await layOutDraft(draft, asked, this.command === "optimize");
    if (joined) this.#corrections.push(joinFacts(joined));
    record.warn(...prepared.warnings);
    const { quick, sizes, placed, tried, hopeless } = early;
    this.#tried.push(...tried);
    const mayBeStatic = this.#mayBeStatic(prepared) && !hopeless;
    const between = mayBeStatic ? leftBetween(prepared.model, this.target, excluded) : null;
    if (between) record.warn(between);
    // What all placements have in common; a second one has more in float.
    const keepFloat = new Map([...excluded, ...(placed?.[0]?.keptFloat ?? [])]);
    const own = { ...common, fused: fused.path, prepared: prepared.path };
    const equalized = mayBeStatic ? await this.#equalized(admitted, { ...own, excluded: keepFloat, quick }) : null;
    const elements = [...(sizes?.values() ?? [])].reduce((sum, each) => sum + each, 0);
    const intake = isSearched(config) ? admitted : withTrialOf(admitted, quickTrial(elements));
    const float = equalized ?? prepared.path;
    const inner = mayBeStatic ? innerValuesOf(float, config.quantize.format, this.context) : null;
    const placement = { ...widestPlacement, keepFloat };
    const toKeep = { prepared: float, target: this.target, placement, elements, inner: inner ? labelsOf(inner) : [] };
    const answers = mayBeStatic ? planAnswers(toKeep, intake, this.context) : null;
    const taps = mayBeStatic ? await this.#statistics(intake, float, keepFloat, answers) : null;
    const look = () => largestAnswers(answers!, float, config.runtime, this.context);
    const largest = answers?.fitted ? await record.stage("calibrate", look, "largest answers") : [];
    const trial = withSamples(intake.trial, largest);
    const known = {
      ...own,
      trial,
      ...(equalized !== null && { equalized }),
      ...(sizes && { sizes }),
      taps,
      ...(answers && { answers: answers.path }),
      ...(inner && { inner }),
      meanwhile: () => this.#examineOriginal(intake),
      // A file of ranges has all of them.
      ...(!config.quantize.ranges && {
        observe: (kept: Candidate["keptFloat"]) =>
          this.#statistics(intake, float, new Map([...excluded, ...kept]), null),
      }),
    };
    const examine = (candidate: Candidate) => this.#examine(candidate, intake);
    const judge = new Judge(config, intake, record, this.#files, examine, elements, against);
    const workshop = new Workshop(known, this.context, journal);
    const withFloat = this.command === "optimize";
    const isUnchanged = withFloat && !isFloatRaced(fused, config, common.finishing);
    const candidates = await makeCandidates({
      config,
      workshop,
      model: prepared.model,
      withFloat,
      isFloatRaced: !isUnchanged,
      isQuantized: already !== null && !isMore,
      placed,
      fit: trial,
      largest,
      checks: samplesToFit(intake),
      inputs: inputsInView(config.quantize, answers),
      onRounding: (facts) => this.#corrections.push(facts),
      record,
      correct: (statics) => {
        judge.begin();
        return this.#corrected(statics, workshop, answers);
      },
      round: (others) => this.#rounded(others, workshop, intake),
    });
    this.#tried.push(...candidates);
    const whyNot = hopeless ? whyHopeless(hopeless) : whyNoneFits(prepared.model, taps, config);
    const whyNone = isMore ? whyNot : (already ?? whyNot);
    const unquantized = (): UnquantizedFacts =>
      unquantizedFacts(prepared.model, common, { tried: this.#tried, regions: hopeless?.regions ?? [], why: whyNone });
    const parts = { judge, workshop, intake, prepared, against, unquantized };
    // Of a model whose products were joined the one without was not compared with the original.
    const mayBeFloat = !withFloat && !joined && admitsFloat(config, this.target, fused, common.finishing);
    const instead = async (): Promise<FloatInstead | null> => {
      if (!mayBeFloat || record.elapsedMs > (config.quantize.budgetMs ?? Number.POSITIVE_INFINITY)) return null;
      const found = await floatInstead(judge, workshop, record, config, this.#tried);
      this.#tried.push(found.candidate);
      return found;
    };
    if (candidates.length === 0 && !isUnchanged) {
      const rewritten = await instead();
      if (rewritten?.isAnswer || missesLimit(rewritten)) return this.#answer(rewritten!.judged!, parts, whyNone);
      // The float model is one of them otherwise.
      const why = withFloat ? `the runtime refuses the rewritten model, and ${whyNone}` : whyNone;
      const found = allFloat(prepared.model, { ...common, mode }, whyNone, hopeless?.regions);
      const choices = () => integerChoices(prepared.model, this.target);
      const candidates = candidateFacts(this.#tried, null, choices, workshop.estimatesBeside);
      if (!this.part) this.#files?.remove();
      return this.#nothingToDo(intake, why, { passes: prepared.passes, ...found, candidates });
    }
    if (hopeless && candidates.length > 0) record.warn(`static integers were left out: ${whyHopeless(hopeless)}`);
    const timed = () => measureSpeed({ candidates, earlier: tried, workshop, config, isPlaced: placed !== null });
    if (candidates.length > 0) this.#tried.push(...(await record.stage("bench", timed, "candidates")));
    const nothing = isUnchanged ? whyNothingPays(candidates, prepared, config.quantize.goal, whyNone) : null;
    if (nothing !== null) {
      if (!this.part) this.#files?.remove();
      const found = { prepared, excluded, target: this.target, tried: this.#tried, unquantized: unquantized() };
      return record.result(unchangedResult(nothing, intake, found, config));
    }
    const close = contenders(candidates);
    const unknown = close.length > 1 ? close.filter((each) => isInteger(each) && each.sqnrDb === null) : [];
    if (unknown.length > 0) {
      await record.stage("verify", () => workshop.measureError(unknown), "errors on a few samples");
    }
    const { judged, made } = await chooseCandidate(candidates, judge, workshop, record, config);
    this.#tried.push(...made);
    const rewritten = mayBeBehindFloat(judged, workshop) ? await instead() : null;
    const whyFloat = rewritten && whyInFloat(rewritten, judged);
    return whyFloat === null ? this.#answer(judged, parts) : this.#answer(rewritten!.judged!, parts, whyFloat);
  }

  /** @param whyFloat why it has no integers, where that is all that was asked for */
  async #answer(
    judged: Judged,
    parts: Omit<AnswerParts, "whyFloat">,
    whyFloat: string | null = null,
  ): Promise<RunResult> {
    const { candidate, latency, search } = judged;
    const { judge, workshop } = parts;
    workshop.restore(candidate);
    const differences = await judge.differencesOf(candidate);
    const ruling = amongMissed(judge.rule(candidate, latency, search), judge.missedBefore(candidate));
    return this.#finish({ ...judged, ruling }, differences, { ...parts, whyFloat });
  }

  /** What is wrong with the file, or with the data, is told first. */
  async #taken(taking: Promise<Intake>, drafting: Promise<Draft>): Promise<[Intake, Draft]> {
    const settled = Promise.allSettled([drafting]);
    const { record } = this;
    try {
      const intake = await record.stage("load", () => taking);
      return [intake, await record.stage("fuse", () => drafting)];
    } finally {
      await settled;
    }
  }

  #mayBeStatic({ model }: Prepared): boolean {
    const { mode } = this.config.quantize;
    return mode !== "dynamic" && mode !== "weights" && opsetOf(model) >= LEAST_OPSET.static;
  }

  /** Where what becomes integers is known early; ranges from a file, and names that users give, are of the model without. */
  #mayJoin({ fit }: Intake): boolean {
    const { corrections, ranges, selection } = this.config.quantize;
    const isNamed = selection.include.length > 0 || selection.exclude.length > 0;
    const isOwn = ranges === null && !isNamed && fit !== null;
    return corrections.includes("join") && isOwn && isPlacedEarly(this.config, this.target);
  }

  /** Ranges from a file were measured on the model without. */
  async #equalized(intake: Intake, options: QuickOptions): Promise<string | null> {
    const { corrections, ranges } = this.config.quantize;
    if (!corrections.includes("equalize") || ranges !== null) return null;
    const work = () => equalizeModel(intake, options, this.context);
    const { path, facts } = await this.record.stage("calibrate", work, "channels");
    // All weights of the model were read for that.
    collectGarbage();
    if (facts) this.#corrections.push(facts);
    return path;
  }

  async #corrected(
    statics: readonly Candidate[],
    workshop: Workshop,
    answers: FloatAnswers | null,
  ): Promise<readonly Candidate[]> {
    const { corrections } = this.config.quantize;
    if (!answers?.fitted || !corrections.includes("outputs")) return statics;
    return this.#keep(() => correctOutputs(statics, workshop, answers), "corrections");
  }

  async #rounded(others: readonly Candidate[], workshop: Workshop, intake: Intake): Promise<readonly Candidate[]> {
    const { corrections, bits } = this.config.quantize;
    const data = samplesToFit(intake, MOST_ROUNDED_ON);
    if (!data || bits !== 4 || !corrections.includes("rounding")) return others;
    return this.#keep(() => roundCandidates(others, workshop, data), "rounding");
  }

  async #keep(work: () => Promise<Corrected>, detail: string): Promise<readonly Candidate[]> {
    const { candidates, facts } = await this.record.stage("quantize", work, detail);
    if (facts) this.#corrections.push(facts);
    return candidates;
  }

  async #statistics(
    intake: Intake,
    path: string,
    keepFloat: ReadonlyMap<string, string>,
    answers: FloatAnswers | null,
  ): Promise<ReadonlyMap<string, TapStatistics> | null> {
    const { config, record, target, context } = this;
    const { ranges } = config.quantize;
    const { runtime } = config;
    const { fit } = intake;
    const own = { prepared: path, runtime, isBrief: true, onProgress: record.progress, ...(answers && { answers }) };
    if (ranges !== null) {
      const taps = loadRanges(ranges, intake, { prepared: path, target }, record);
      const data = answers && { ...fit!.ref, indices: answers.indices };
      if (data) await record.stage("calibrate", () => observeValues([], { ...own, data }, context), "answers");
      return taps;
    }
    if (!fit) return null;
    const request = { ...own, target, data: allOf(fit), keepFloat, kept: this.#kept };
    return record.stage("calibrate", () => observeActivations(request, context), "samples");
  }

  async #finish(judged: Judged, differences: readonly OutputDifference[], parts: AnswerParts): Promise<RunResult> {
    const { record, config } = this;
    const { candidate, latency, ruling } = judged;
    const { original } = parts.intake;
    record.warn(...ruling.warnings);
    record.warn(...outputWarnings(differences, candidate.accuracy?.metric ?? null, parts.intake.signature));
    const slow = slowBlocks(candidate, latency);
    if (slow) record.warn(slow);
    const examination = await this.#examine(candidate, parts.intake);
    const before = await this.#examineOriginal(parts.intake);
    record.warn(...examination.warnings);
    const isPassed = ruling.verdict.outcome === "met";
    candidate.note ||= isPassed ? "chosen" : "";
    record.warn(...unused(config, this.#tried, isPassed ? candidate : null));
    // Before the output is there: models of the run have their weights where the input has them, which it may replace.
    const findings = answerFacts(judged, {
      ...{ ...parts, differences, config, before, lossy: this.#lossy, target: this.target },
      ...{ examination, tried: this.#tried, corrections: this.#corrections },
    });
    const write = () => writeJudged(isPassed, candidate.built.path, original, config, record);
    const output = await (this.#files && !this.part ? this.#files.write(write) : write());
    if (!this.part) this.#files?.remove();
    return record.result({ ...findings, output });
  }

  async #examine(candidate: Candidate, intake: Intake): Promise<Examination> {
    const known = this.#examined.get(candidate);
    if (known) return known;
    // What the runtime here makes of a file for another says nothing.
    const isAudited = candidate.variant.kind === "integers" && this.target.isMeasurable;
    const found = await examineCandidate(candidate, isAudited, intake.trial, this.config.runtime, this.record);
    await this.#examineOriginal(intake);
    this.#examined.set(candidate, found);
    return found;
  }

  /** Once: the model that was given does not change. */
  #examineOriginal({ original, facts, trial }: Intake): Promise<OriginalTimes | null> {
    this.#original ??= examineOriginal(original, facts.path, trial, this.config.runtime, this.record);
    return this.#original;
  }

  #nothingToDo({ facts: model }: Intake, why: string, found: Partial<RunResult> = {}): RunResult {
    const verdict: Verdict = { status: "fail", outcome: "no-gain", reasons: [], summary: `nothing to do: ${why}` };
    return this.record.result({ model, passes: [], quantization: null, ...found, verdict });
  }
}

/**
 * The main job: from a model and samples to a smaller, faster file that is as accurate
 * as was asked for, or a clear no. Candidates are made, measured cheaply, ranked, and the
 * fastest that meets the limits on the evaluation data is timed properly and judged.
 *
 * `quantize` considers integers only; `optimize` also the fused float model and, where it
 * can pay, half precision.
 */
import { InferOptError } from "../base/errors.js";
import { loadModel, type Model, opsetOf } from "../ir/index.js";
import type { TapStatistics } from "../observe/index.js";
import { planStatic } from "../quantization/plan-static.js";
import { bitsOf, type Form, methodsOf, modeOfFile } from "../quantization/recipe.js";
import { saturableNodes } from "../quantization/saturable.js";
import type { WeightBits } from "../quantization/weight-only.js";
import type { OutputDifference } from "../runtime/port.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { integerTarget, integerTargetNamed } from "../target/integer-kernels.js";
import { alreadyQuantized } from "./already-quantized.js";
import { BestSoFar } from "./best-so-far.js";
import { loadRanges, observeActivations, widestPlacement } from "./calibration.js";
import { type Candidate, candidateFacts, isInteger, isStatic } from "./candidate.js";
import { chooseCandidate, contenders } from "./choose-candidate.js";
import type { OptimizeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { correctOutputs } from "./correct-outputs.js";
import { correctionNote, samplesToFit } from "./corrections.js";
import { differenceFacts, differenceWarnings } from "./difference.js";
import { notPlaced, placeEarly } from "./early-placement.js";
import { equalizeModel, type QuickOptions } from "./equalize-model.js";
import { shapeChanges } from "./fix-shapes.js";
import { allOf, type Intake, requireCalibration, takeIn } from "./intake.js";
import { auditCandidate } from "./integer-audit.js";
import { Journal } from "./journal.js";
import { Judge, type Judged } from "./judge-candidate.js";
import { isSearched, LEAST_OPSET, leastOpset, makeCandidates } from "./make-candidates.js";
import { leaveWhatDoesNotPay } from "./paying-regions.js";
import { measurePlacement } from "./placement.js";
import { type Prepared, prepareModel } from "./prepare.js";
import type { Region, RegionTime } from "./regions.js";
import type { CorrectionFacts, IntegerFacts, QuantizationFacts, RegionFacts, RunResult, Verdict } from "./result.js";
import { roundCandidates } from "./round-weights.js";
import { RunRecord } from "./run-record.js";
import { searchIdentity } from "./search-identity.js";
import { leftOut } from "./select.js";
import { Workshop } from "./workshop.js";
import { writeOutput, writeRejected } from "./write-output.js";

export const runQuantize = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new OptimizeRun("quantize", config, context).run();

export const runOptimize = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new OptimizeRun("optimize", config, context).run();

interface Kept {
  readonly journal: Journal;
  readonly best: BestSoFar;
}

function interruptedWith({ journal, best }: Kept, cause: unknown): unknown {
  if (journal.size === 0) return cause;
  const left = best.exists ? `The best file so far that meets the limits is ${best.path}. ` : "";
  return new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted", {
    hint: `${left}Run the same command again to go on where it was: ${journal.path} holds what was measured.`,
    cause,
    fields: { best: best.exists ? best.path : null, journal: journal.path },
  });
}

/** Samples that say which inputs of a product come together. */
const MOST_ROUNDED_ON = 96;

/** Candidates that are looked at region by region. */
const MOST_REFINED = 2;

class OptimizeRun {
  readonly record: RunRecord;
  readonly target: IntegerTarget;
  readonly config: OptimizeConfig;
  readonly #tried: Candidate[] = [];
  #tapCount = 0;
  #workshop: Workshop | null = null;
  #kept: Kept | null = null;
  readonly #corrections: CorrectionFacts[] = [];

  constructor(
    readonly command: "quantize" | "optimize",
    config: OptimizeConfig,
    readonly context: RunContext,
  ) {
    this.record = new RunRecord(command, context);
    const here = integerTarget(config.runtime.provider, process.arch, context.environment.flags);
    this.target = integerTargetNamed(config.graph.target, here);
    this.config = this.target.isMeasurable ? config : withoutSpeed(config, this.target);
  }

  async run(): Promise<RunResult> {
    try {
      return await this.#run();
    } catch (thrown) {
      if (this.#kept && this.context.signal.aborted) throw interruptedWith(this.#kept, thrown);
      // Somebody's mistake: what was measured is of no use once it is mended.
      if (thrown instanceof InferOptError && (thrown.kind === "usage" || thrown.kind === "input")) this.#forget();
      throw thrown;
    }
  }

  /** A journal and the best file so far lie beside the output while there is a limit to search for. */
  #keep(intake: Intake): Kept | null {
    const { config, context, record } = this;
    const { output } = config.out;
    if (output === null || !isSearched(config)) return null;
    const identity = searchIdentity(this.command, config, intake, context);
    const journal = new Journal(`${output}.journal.jsonl`, identity, (warning) => record.warn(warning));
    const best = new BestSoFar(output, journal, config.quantize.goal);
    if (best.isTaken) record.warn(`${best.path} is there already and stays: the best file so far is not kept`);
    return { journal, best };
  }

  #forget(): void {
    this.#kept?.best.remove();
    this.#kept?.journal.remove();
  }

  async #run(): Promise<RunResult> {
    const { config, record } = this;
    const { mode, ranges } = config.quantize;
    if (!this.target.isMeasurable) record.warn(...whatIsUnseen(this.target, config.runtime.provider));
    if (mode === "static") requireCalibration(config.data.calibration !== null || ranges !== null);
    const intake = await record.stage("load", () => takeIn(config, record));
    const original = loadModel(config.model);
    const already = alreadyQuantized(original);
    // Nodes that are named to be quantized are meant, also where others are already.
    const isMore = config.quantize.selection.include.length > 0;
    if (already && this.command === "quantize" && !isMore) {
      return this.#nothingToDo(intake, null, already + floatRest(original, this.target));
    }

    const prepared = await record.stage("fuse", () =>
      prepareModel(
        {
          model: config.model,
          recipe: "fuse",
          signature: intake.signature,
          data: intake.trial,
          graph: config.graph,
          runtime: config.runtime,
          minOpset: leastOpset(config, original),
        },
        this.context,
      ),
    );
    record.warn(...prepared.warnings);
    // Before the long work: a selector that matches nothing ends the run.
    const excluded = leftOut(prepared.model, config.quantize.selection);
    this.#kept = this.#keep(intake);
    const common = {
      original: config.model,
      prepared: prepared.path,
      target: this.target,
      trial: intake.trial,
      excluded,
      ...(config.quantize.format && { format: config.quantize.format }),
      runtime: config.runtime,
    };
    const isPlaced = (already === null || isMore) && this.#mayBeStatic(prepared);
    const journal = this.#kept?.journal ?? null;
    const early = isPlaced ? await placeEarly(config, intake, common, record, journal) : notPlaced;
    const { quick, placed, tried } = early;
    this.#tried.push(...tried);
    // What all placements have in common; a second one has more in float.
    const keepFloat = new Map([...excluded, ...(placed?.[0]?.keptFloat ?? [])]);
    const equalized = await this.#equalized(intake, prepared, { ...common, excluded: keepFloat, quick });
    const taps = await this.#statistics(intake, equalized ?? prepared.path, prepared, keepFloat);
    this.#tapCount = taps?.size ?? 0;
    const workshop = new Workshop({ ...common, ...(equalized !== null && { equalized }), taps }, this.context, journal);

    this.#workshop = workshop;

    const candidates = await makeCandidates({
      config,
      workshop,
      model: prepared.model,
      withFloat: this.command === "optimize",
      isQuantized: already !== null && !isMore,
      placed,
      fit: intake.fit ? allOf(intake.fit) : intake.trial,
      record,
      correct: (statics) => this.#corrected(statics, workshop, intake),
      round: (others) => this.#rounded(others, workshop, intake),
    });
    this.#tried.push(...candidates);
    if (candidates.length === 0) return this.#nothingToDo(intake, prepared, this.#whyNone(prepared));
    await record.stage("bench", () => this.#measureSpeed(candidates, workshop, placed !== null), "candidates");
    const close = contenders(candidates);
    const unknown = close.length > 1 ? close.filter((each) => isInteger(each) && each.sqnrDb === null) : [];
    if (unknown.length > 0) {
      await record.stage("verify", () => workshop.measureError(unknown), "errors on a few samples");
    }
    const judge = new Judge(config, intake, record, this.#kept);
    const { judged, made } = await chooseCandidate(candidates, judge, workshop, record, config);
    this.#tried.push(...made);
    workshop.restore(judged.candidate);
    const differences = await judge.differencesOf(judged.candidate);
    return this.#finish(
      { ...judged, ruling: judge.rule(judged.candidate, judged.latency) },
      differences,
      original,
      intake,
      prepared,
    );
  }

  #mayBeStatic({ model }: Prepared): boolean {
    const { mode } = this.config.quantize;
    return mode !== "dynamic" && mode !== "weights" && opsetOf(model) >= LEAST_OPSET.static;
  }

  /** Ranges from a file were measured on the model without. */
  async #equalized(intake: Intake, prepared: Prepared, options: QuickOptions): Promise<string | null> {
    const { corrections, ranges } = this.config.quantize;
    if (!corrections.includes("equalize") || ranges !== null || !this.#mayBeStatic(prepared)) return null;
    const work = () => equalizeModel(intake, options, this.context);
    const { path, facts } = await this.record.stage("calibrate", work, "channels");
    if (facts) this.#corrections.push(facts);
    return path;
  }

  async #corrected(statics: readonly Candidate[], workshop: Workshop, intake: Intake): Promise<readonly Candidate[]> {
    const data = samplesToFit(intake);
    if (!data || !this.config.quantize.corrections.includes("outputs")) return statics;
    const work = () => correctOutputs(statics, workshop, data);
    const { candidates, facts } = await this.record.stage("quantize", work, "corrections");
    if (facts) this.#corrections.push(facts);
    return candidates;
  }

  async #rounded(others: readonly Candidate[], workshop: Workshop, intake: Intake): Promise<readonly Candidate[]> {
    const { corrections, bits } = this.config.quantize;
    const data = samplesToFit(intake, MOST_ROUNDED_ON);
    if (!data || bits !== 4 || !corrections.includes("rounding")) return others;
    const work = () => roundCandidates(others, workshop, data);
    const { candidates, facts } = await this.record.stage("quantize", work, "rounding");
    if (facts) this.#corrections.push(facts);
    return candidates;
  }

  /** The fastest integers, and without the regions that do not pay. */
  async #measureSpeed(candidates: Candidate[], workshop: Workshop, isPlaced: boolean): Promise<void> {
    // Side by side, or not at all: what was placed early was timed then.
    const isTimed = candidates.every(({ speedup }) => speedup !== null);
    if (!isTimed) await workshop.measureSpeed(candidates, this.config.runtime.benchMs / 2);
    const { goal, mode } = this.config.quantize;
    // Weights in float again would be faster, and what nobody asked for.
    if (goal === "size" || mode === "weights" || !this.target.isMeasurable) return;
    const integers = candidates.filter(isInteger).sort((a, b) => b.speedup! - a.speedup!);
    for (const candidate of integers.slice(0, isSearched(this.config) ? MOST_REFINED : 1)) {
      if (isPlaced && isStatic(candidate)) continue;
      const { best, made } = await leaveWhatDoesNotPay(candidate, workshop);
      if (candidate.sqnrDb !== null) await workshop.measureError(made.filter((each) => each === best));
      for (const each of made) if (each !== best) workshop.discard(each);
      this.#tried.push(...made);
      if (best !== candidate) candidates.push(best);
    }
  }

  async #statistics(
    intake: Intake,
    path: string,
    prepared: Prepared,
    keepFloat: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, TapStatistics> | null> {
    const { config, record, target, context } = this;
    const { ranges } = config.quantize;
    if (!this.#mayBeStatic(prepared)) return null;
    if (ranges !== null) return loadRanges(ranges, intake.facts.sha256, context.toolVersion);
    const { fit } = intake;
    if (!fit) return null;
    return record.stage(
      "calibrate",
      () =>
        observeActivations(
          { prepared: path, target, data: fit.ref, runtime: config.runtime, keepFloat, onProgress: record.progress },
          context,
        ),
      `${fit.count} samples`,
    );
  }

  #whyNone({ model }: Prepared): string {
    const opset = opsetOf(model);
    return opset < LEAST_OPSET.static
      ? `the model's opset stays at ${opset}, and its integer operators came with ${LEAST_OPSET.static}`
      : "no node of the model can be quantized";
  }

  async #finish(
    { candidate, latency, ruling }: Judged,
    differences: readonly OutputDifference[],
    original: Model,
    intake: Intake,
    prepared: Prepared,
  ): Promise<RunResult> {
    const { record, config } = this;
    record.warn(...ruling.warnings);
    record.warn(...differenceWarnings(differences));
    // What the runtime here makes of a file for another says nothing.
    const isAudited = candidate.variant.kind === "integers" && this.target.isMeasurable;
    const integers = isAudited ? await auditCandidate(candidate.built, config.runtime, record) : null;
    const placement = await measurePlacement(candidate.built.path, intake.trial, config.runtime, record);
    const isPassed = ruling.verdict.outcome === "met";
    const output = await record.stage("write", () =>
      isPassed
        ? writeOutput(candidate.built.path, original, config.out, record)
        : writeRejected(candidate.built.path, original, config.out, record),
    );
    this.#forget();
    candidate.note ||= isPassed ? "chosen" : "";
    return record.result({
      model: intake.facts,
      output,
      passes: prepared.passes,
      unfused: prepared.unfused,
      quantization: this.#quantizationFacts(candidate, intake, integers),
      accuracy: candidate.accuracy,
      latency: latency?.facts ?? null,
      verdict: ruling.verdict,
      candidates: this.#tried.map((each) => candidateFacts(each, candidate)),
      difference: differenceFacts(differences),
      ...(config.graph.shapes.size > 0 && { shapes: shapeChanges(original, prepared.model) }),
      ...(placement && { placement }),
    });
  }

  #quantizationFacts(candidate: Candidate, { fit }: Intake, integers: IntegerFacts | null): QuantizationFacts | null {
    const { variant, built } = candidate;
    if (variant.kind !== "integers") return null;
    const others = this.#tried.filter((other) => other !== candidate && other.speedup !== null);
    const forms = [...built.forms.values()];
    const statics = forms.includes("static") ? variant.recipe.statics : null;
    const corrections = this.#corrections.filter(({ correction }) =>
      correction === "rounding" ? forms.includes("weights4") : statics !== null,
    );
    return {
      mode: modeOfFile(variant.recipe, forms),
      ...bitsFacts(forms),
      method: statics && methodsOf(statics),
      nodes: built.forms.size,
      forms: [...built.forms].map(([node, form]) => ({ node, form })),
      ...this.#regions(candidate),
      float: built.float,
      why: whyChosen(candidate, others),
      target: this.target.name,
      notes: [...built.notes, ...corrections.map(correctionNote)],
      ...((statics || corrections.length > 0) && { corrections }),
      ...(integers && { integers }),
      ...(this.target.isMeasurable && { saturable: saturableNodes(loadModel(built.path)).length }),
      calibration: statics && fit ? { samples: fit.count, tensors: this.#tapCount, data: fit.digest } : null,
    };
  }

  /** Those of the same recipe with the most nodes as integers, and what became of them. */
  #regions(chosen: Candidate): { readonly regions?: readonly RegionFacts[] } {
    const isKin = (other: Candidate): boolean =>
      other.variant === chosen.variant || (isStatic(other) && isStatic(chosen));
    const kin = this.#tried.filter((other) => isKin(other) && other.times);
    const widest = kin.sort((a, b) => b.built.forms.size - a.built.forms.size)[0];
    const regions = widest && this.#workshop?.regionsOf(widest);
    const times = regions && this.#workshop!.regionTimes(widest, regions);
    return times ? { regions: regions.map((region) => regionFacts(region, times.get(region.name)!, chosen)) } : {};
  }

  #nothingToDo(intake: Intake, prepared: Prepared | null, why: string): RunResult {
    const verdict: Verdict = { status: "fail", outcome: "no-gain", reasons: [], summary: `nothing to do: ${why}` };
    const { mode } = this.config.quantize;
    const quantization: QuantizationFacts | null = prepared && {
      mode: mode === "auto" ? "static" : mode,
      method: null,
      nodes: 0,
      forms: [],
      float: planStatic(prepared.model, this.target, widestPlacement).float,
      why,
      notes: [],
      calibration: null,
    };
    return this.record.result({ model: intake.facts, passes: prepared?.passes ?? [], quantization, verdict });
  }
}

/** Speed measured here is no reason for anything elsewhere: what can become integers there does. */
function withoutSpeed(config: OptimizeConfig, { kernels }: IntegerTarget): OptimizeConfig {
  const { quantize } = config;
  if (quantize.goal === "size") return config;
  const mode = Object.keys(kernels).length > 0 ? "static" : "weights";
  return { ...config, quantize: { ...quantize, goal: "size", mode: quantize.mode === "auto" ? mode : quantize.mode } };
}

/** What the measurements of a run cannot say about the place that its result is for. */
function whatIsUnseen({ name, title, kernels, sources }: IntegerTarget, provider: string): string[] {
  const none =
    Object.keys(kernels).length === 0 ? [`${title} has no integer kernels: only weights become integers`] : [];
  if (name === provider) return none;
  const measured = `accuracy was measured with ONNX Runtime on the ${provider}, whose speed says nothing about it`;
  return [
    ...none,
    `made for ${title}, which does not run here: its integer kernels are those of its documents (${sources.join(", ")}), and ${measured}`,
  ];
}

/** Left out where it is 8. */
function bitsFacts(forms: readonly Form[]): Pick<QuantizationFacts, "bits"> {
  const bits = Math.min(...forms.map(bitsOf)) as WeightBits;
  return bits === 8 ? {} : { bits };
}

function regionFacts(
  { name, nodes }: Region,
  { beforeMs, kernelMs, conversionMs }: RegionTime,
  { built, errors, keptFloat }: Candidate,
): RegionFacts {
  const sqnrDb = errors?.get(name) ?? null;
  return {
    region: name,
    nodes,
    form: built.forms.get(name) ?? "float",
    sqnrDb: sqnrDb !== null && Number.isFinite(sqnrDb) ? sqnrDb : null,
    beforeMs,
    afterMs: kernelMs + conversionMs,
    reason: keptFloat.get(name) ?? "",
  };
}

function whyChosen(candidate: Candidate, others: readonly Candidate[]): string {
  const text = ({ name, speedup, sqnrDb }: Candidate): string =>
    `${name} ${speedup === null ? "untimed" : `${speedup.toFixed(2)}x`}${sqnrDb === null ? "" : ` at ${sqnrDb.toFixed(1)} dB`}`;
  if (others.length === 0) return `${candidate.name} was the only way to quantize this model`;
  return `measured here: ${text(candidate)}; against ${others.map(text).join(", ")}`;
}

/** What of a quantized model could be quantized besides. */
function floatRest(model: Model, target: IntegerTarget): string {
  const { nodes } = planStatic(model, target, { neighbours: false, depthwise: true });
  const left = nodes.length === 1 ? "a node with weights is" : `${nodes.length} nodes with weights are`;
  return nodes.length === 0 ? "" : `; ${left} float: name those that are to be integers too with --include`;
}

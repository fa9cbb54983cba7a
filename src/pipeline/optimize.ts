/**
 * The main job: from a model and samples to a smaller, faster file that is as accurate
 * as was asked for, or a clear no. Candidates are made, measured cheaply, ranked, and the
 * fastest that meets the limits on the evaluation data is timed properly and judged.
 *
 * `quantize` considers integers only; `optimize` also the fused float model and, where it
 * can pay, half precision.
 */
import { loadModel, type Model, nodesWithin } from "../ir/index.js";
import type { TapStatistics } from "../observe/index.js";
import { dynamicCandidates } from "../quantization/dynamic.js";
import { planStatic } from "../quantization/plan-static.js";
import { weightOnlyOpset } from "../quantization/weight-only.js";
import { type IntegerTarget, integerTarget } from "../target/integer-kernels.js";
import { scoreModels } from "./accuracy.js";
import { loadRanges, observeActivations, widestPlacement } from "./calibration.js";
import { type Candidate, candidateFacts, type Variant } from "./candidate.js";
import type { OptimizeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { differenceFacts, differenceWarnings } from "./difference.js";
import { fewOf, type Intake, requireCalibration, takeIn } from "./intake.js";
import { keepWorstFloat } from "./keep-float.js";
import { measureLatency } from "./latency.js";
import { asDelivered } from "./model-runs.js";
import { type Prepared, prepareModel } from "./prepare.js";
import type { QuantizationFacts, RunResult, Verdict } from "./result.js";
import { RunRecord } from "./run-record.js";
import { leftOut } from "./select.js";
import { type AccuracyMeasure, judge, type LatencyMeasure, leastGain, type Ruling } from "./verdict.js";
import { Workshop } from "./workshop.js";
import { writeOutput, writeRejected } from "./write-output.js";

export const runQuantize = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new OptimizeRun("quantize", config, context).run();

export const runOptimize = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new OptimizeRun("optimize", config, context).run();

/** Candidates that get a full race when the one before them turned out to gain nothing. */
const MOST_RACES = 2;
/** Speeds this close are the same; then accuracy decides. */
const SAME_SPEED = 0.03;

interface Judged {
  readonly candidate: Candidate;
  readonly latency: LatencyMeasure | null;
  readonly ruling: Ruling;
}

class OptimizeRun {
  readonly record: RunRecord;
  readonly target: IntegerTarget;
  readonly #accuracies = new Map<Candidate, AccuracyMeasure>();
  #baselineScores: Float64Array | undefined;
  #tried: Candidate[] = [];
  #tapCount = 0;

  constructor(
    readonly command: "quantize" | "optimize",
    readonly config: OptimizeConfig,
    readonly context: RunContext,
  ) {
    this.record = new RunRecord(command, context);
    this.target = integerTarget(config.runtime.provider, process.arch, context.environment.flags);
  }

  async run(): Promise<RunResult> {
    const { config, record } = this;
    const { mode, ranges } = config.quantize;
    if (mode === "static") requireCalibration(config.data.calibration !== null || ranges !== null);
    const intake = await record.stage("load", () => takeIn(config, record));
    const original = loadModel(config.model);
    const already = alreadyQuantized(original);
    if (already && this.command === "quantize") return this.#nothingToDo(intake, null, already);

    const prepared = await record.stage("fuse", () =>
      prepareModel(
        {
          model: config.model,
          recipe: "fuse",
          signature: intake.signature,
          data: fewOf(intake.trial, 2),
          graph: config.graph,
          runtime: config.runtime,
          minOpset: mode === "weights" ? weightOnlyOpset(config.quantize.bits) : 13,
        },
        this.context,
      ),
    );
    record.warn(...prepared.warnings);
    const taps = await this.#statistics(intake, prepared);
    this.#tapCount = taps?.size ?? 0;
    const workshop = new Workshop(
      {
        original: config.model,
        prepared: prepared.path,
        target: this.target,
        taps,
        trial: intake.trial,
        excluded: leftOut(prepared.model, config.quantize.selection),
        runtime: config.runtime,
      },
      this.context,
    );

    const candidates = await record.stage("quantize", () => this.#makeCandidates(workshop, prepared, already !== null));
    this.#tried = [...candidates];
    if (candidates.length === 0) return this.#nothingToDo(intake, prepared, "no node of the model can be quantized");
    const judged = await this.#choose(workshop, candidates, intake);
    return this.#finish(judged, original, intake, prepared);
  }

  async #statistics(intake: Intake, prepared: Prepared): Promise<ReadonlyMap<string, TapStatistics> | null> {
    const { config, record, target, context } = this;
    const { ranges, mode } = config.quantize;
    if (mode === "dynamic" || mode === "weights") return null;
    if (ranges !== null) return loadRanges(ranges, intake.facts.sha256, context.toolVersion);
    const { fit } = intake;
    if (!fit) return null;
    return record.stage(
      "calibrate",
      () =>
        observeActivations(
          { prepared: prepared.path, target, data: fit.ref, runtime: config.runtime, onProgress: record.progress },
          context,
        ),
      `${fit.count} samples`,
    );
  }

  /** One candidate per way of quantizing that the graph, the data and the mode admit, each with its error measured. */
  async #makeCandidates(workshop: Workshop, prepared: Prepared, isQuantized: boolean): Promise<Candidate[]> {
    const { mode, bits, goal } = this.config.quantize;
    const variants: Variant[] = [];
    if (this.command === "optimize") {
      variants.push({ kind: "fused" });
      if (this.config.runtime.provider !== "cpu" || goal === "size") variants.push({ kind: "fp16" });
    }
    if (!isQuantized) {
      if (mode === "auto" || mode === "static") variants.push(...(await this.#staticVariants(workshop, prepared.model)));
      if ((mode === "auto" || mode === "dynamic") && dynamicCandidates(prepared.model).length > 0) {
        variants.push({ kind: "dynamic" });
      }
      if (mode === "weights" || (mode === "auto" && goal === "size")) variants.push({ kind: "weights", bits });
    }
    const made = variants.map((variant) => workshop.make(variant));
    const useful = made.filter(({ variant, built }) => built.quantized.length > 0 || variant.kind === "fused" || variant.kind === "fp16");
    await workshop.measureError(useful);
    return useful;
  }

  /** Placements worth comparing, with the range method whose outputs stay closest to the float model's. */
  async #staticVariants(workshop: Workshop, model: Model): Promise<Variant[]> {
    if (!workshop.options.taps) return [];
    const count = (placement: { neighbours: boolean; depthwise: boolean }): number =>
      planStatic(model, this.target, { ...placement, keepFloat: workshop.options.excluded }).nodes.length;
    const widest = count(widestPlacement);
    if (widest === 0) return [];
    const method = this.config.quantize.method ?? (await this.#bestMethod(workshop));
    const placements = [widestPlacement, { neighbours: false, depthwise: true }, { neighbours: true, depthwise: false }];
    const distinct = placements.filter((placement, i) => {
      const nodes = count(placement);
      return i === 0 || (nodes > 0 && nodes < widest);
    });
    return distinct.map((placement) => ({ kind: "static", placement, method }));
  }

  async #bestMethod(workshop: Workshop) {
    const methods = ["mse", "percentile", "entropy", "minmax"] as const;
    const candidates = methods.map((method) => workshop.make({ kind: "static", placement: widestPlacement, method }));
    await workshop.measureError(candidates);
    const best = candidates.reduce((a, b) => (b.sqnrDb! > a.sqnrDb! ? b : a));
    for (const candidate of candidates) workshop.discard(candidate);
    return best.variant.kind === "static" ? best.variant.method : methods[0];
  }

  /** The fastest candidate that meets the limits, or the one that comes closest. */
  async #choose(workshop: Workshop, candidates: readonly Candidate[], intake: Intake): Promise<Judged> {
    const { record, config } = this;
    await record.stage("bench", () => workshop.measureSpeed(candidates, config.runtime.benchMs / 2), "candidates");
    const ranked = this.#rank(candidates);
    const meets = (candidate: Candidate): Promise<boolean> => this.#meetsAccuracy(candidate, intake);
    const deadline = this.context.now() + config.quantize.searchMs;

    let best: Judged | null = null;
    for (const candidate of ranked.slice(0, MOST_RACES + 1)) {
      const accurate = await record.stage("verify", () => this.#accurateVersion(candidate, workshop, meets, deadline), candidate.name);
      if (!accurate) {
        best ??= { candidate, latency: null, ruling: this.#judge(candidate, null, intake) };
        continue;
      }
      const judged = await this.#race(accurate, intake);
      if (judged.ruling.verdict.outcome === "met") return judged;
      if (!best || best.ruling.verdict.outcome === "accuracy") best = judged;
      if (judged.ruling.verdict.outcome === "inconclusive") break;
    }
    if (best!.latency === null) return this.#race(best!.candidate, intake);
    return best!;
  }

  /** Faster first (smaller first when size is the goal); among equals the more accurate. Without gain comes last. */
  #rank(candidates: readonly Candidate[]): Candidate[] {
    if (this.config.quantize.goal === "size") return [...candidates].sort((a, b) => a.built.bytes - b.built.bytes);
    const fastest = Math.max(...candidates.map(({ speedup }) => speedup!));
    const score = (c: Candidate): number => (c.speedup! >= fastest * (1 - SAME_SPEED) ? fastest : c.speedup!);
    return [...candidates].sort((a, b) => score(b) - score(a) || b.sqnrDb! - a.sqnrDb!);
  }

  /** The candidate itself, or a version of it with some nodes in float, that meets the accuracy limit; null if none does. */
  async #accurateVersion(
    candidate: Candidate,
    workshop: Workshop,
    meetsLimit: (candidate: Candidate) => Promise<boolean>,
    deadline: number,
  ): Promise<Candidate | null> {
    if (await meetsLimit(candidate)) return candidate;
    const { kind } = candidate.variant;
    const hasGain = this.config.quantize.goal === "size" || candidate.speedup! >= leastGain;
    if (kind === "fused" || kind === "fp16" || !hasGain) return null;
    const { found, tried } = await keepWorstFloat({ candidate, workshop, context: this.context, deadline, meetsLimit });
    this.#tried.push(...tried);
    return found;
  }

  async #meetsAccuracy(candidate: Candidate, intake: Intake): Promise<boolean> {
    if (!this.#accuracies.has(candidate)) await this.#measureAccuracy(candidate, intake);
    const { outcome } = this.#judge(candidate, null, intake).verdict;
    return outcome === "met";
  }

  async #measureAccuracy(candidate: Candidate, { evaluation, metric }: Intake): Promise<void> {
    const { config, record } = this;
    const { candidates, baselineScores } = await scoreModels(this.context, {
      models: [config.model, candidate.built.path],
      data: evaluation.ref,
      metric,
      session: asDelivered(config.runtime),
      seed: config.runtime.seed,
      confidence: config.limits.confidence,
      ...(this.#baselineScores && { baselineScores: this.#baselineScores }),
      onProgress: record.progress,
    });
    this.#baselineScores = baselineScores;
    const measure = candidates[0]!;
    this.#accuracies.set(candidate, measure);
    candidate.accuracy = measure.facts;
    const { name, speedup } = candidate;
    this.context.observer({ type: "candidate", candidate: name, speedup, accuracy: measure.facts.candidate });
  }

  /** With `latency` null only accuracy and size are judged. */
  #judge(candidate: Candidate, latency: LatencyMeasure | null, { facts }: Intake): Ruling {
    const { limits, quantize } = this.config;
    const judgedNow = latency ? limits : { ...limits, minSpeedup: null, slo: [] };
    return judge(
      judgedNow,
      {
        accuracy: this.#accuracies.get(candidate) ?? null,
        latency,
        bytes: { baseline: facts.bytes, candidate: candidate.built.bytes },
      },
      { gainRequired: latency !== null, goal: quantize.goal },
    );
  }

  async #race(candidate: Candidate, intake: Intake): Promise<Judged> {
    const { config, record } = this;
    if (!this.#accuracies.has(candidate)) {
      await record.stage("verify", () => this.#measureAccuracy(candidate, intake), candidate.name);
    }
    const latencies = await record.stage(
      "bench",
      () =>
        measureLatency(this.context, {
          baseline: config.model,
          candidates: [candidate.built.path],
          data: intake.trial,
          runtime: config.runtime,
          minSpeedup: config.limits.minSpeedup,
          slo: config.limits.slo,
          onProgress: record.progress,
        }),
      candidate.name,
    );
    record.warn(...latencies.warnings);
    const latency = latencies.candidates[0]!;
    candidate.speedup = latency.facts.speedup;
    return { candidate, latency, ruling: this.#judge(candidate, latency, intake) };
  }

  async #finish({ candidate, latency, ruling }: Judged, original: Model, intake: Intake, prepared: Prepared): Promise<RunResult> {
    const { record, config, context } = this;
    record.warn(...ruling.warnings);
    const differences = await record.stage("verify", () =>
      context.runtime.compare({
        baseline: config.model,
        candidate: candidate.built.path,
        data: fewOf(intake.trial, 8),
        session: asDelivered(config.runtime),
      }),
    );
    record.warn(...differenceWarnings(differences));
    const isPassed = ruling.verdict.outcome === "met";
    const output = await record.stage("write", () =>
      isPassed
        ? writeOutput(candidate.built.path, original, config.out)
        : writeRejected(candidate.built.path, original, config.out),
    );
    candidate.note ||= isPassed ? "chosen" : "";
    return record.result({
      model: intake.facts,
      output,
      passes: prepared.passes,
      quantization: this.#quantizationFacts(candidate, intake),
      accuracy: candidate.accuracy,
      latency: latency?.facts ?? null,
      verdict: ruling.verdict,
      candidates: this.#tried.map((each) => candidateFacts(each, candidate)),
      difference: differenceFacts(differences),
    });
  }

  #quantizationFacts(candidate: Candidate, { fit }: Intake): QuantizationFacts | null {
    const { variant, built } = candidate;
    if (variant.kind === "fused" || variant.kind === "fp16") return null;
    const others = this.#tried.filter((other) => other !== candidate && other.speedup !== null);
    const isStatic = variant.kind === "static";
    return {
      mode: variant.kind,
      method: isStatic ? variant.method : null,
      nodes: built.quantized.length,
      float: built.float,
      why: whyChosen(candidate, others),
      notes: built.notes,
      calibration: isStatic && fit ? { samples: fit.count, tensors: this.#tapCount, data: fit.digest } : null,
    };
  }

  #nothingToDo(intake: Intake, prepared: Prepared | null, why: string): RunResult {
    const verdict: Verdict = { status: "fail", outcome: "no-gain", reasons: [], summary: `nothing to do: ${why}` };
    return this.record.result({ model: intake.facts, passes: prepared?.passes ?? [], verdict });
  }
}

function whyChosen(candidate: Candidate, others: readonly Candidate[]): string {
  const text = ({ name, speedup, sqnrDb }: Candidate): string =>
    `${name} ${speedup === null ? "untimed" : `${speedup.toFixed(2)}x`}${sqnrDb === null ? "" : ` at ${sqnrDb.toFixed(1)} dB`}`;
  if (others.length === 0) return `${candidate.name} was the only way to quantize this model`;
  return `measured here: ${text(candidate)}; against ${others.map(text).join(", ")}`;
}

const integerOps = /^(QuantizeLinear|DequantizeLinear|DynamicQuantizeLinear|QLinear\w+|MatMulInteger|ConvInteger|MatMulNBits|QAttention|QGemm)$/;

/** Says so when the model already computes with integers: quantizing it again would only lose accuracy. */
function alreadyQuantized(model: Model): string | null {
  for (const node of nodesWithin(model.graph)) {
    if (integerOps.test(node.op)) return `the model is quantized already (${node.opName} at ${node.displayName})`;
  }
  return null;
}

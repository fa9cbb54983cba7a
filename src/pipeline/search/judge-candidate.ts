/** Measures candidates on the evaluation data and against the clock, and holds them to the limits. */
import { collectGarbage } from "../../base/collect-garbage.js";
import { spread } from "../../base/spread.js";
import { isInDoubt, type ProcessSeries } from "../../bench/index.js";
import type { DatasetRef } from "../../dataset/index.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { Candidate } from "../candidates/candidate.js";
import { isSearched, type OptimizeConfig } from "../config.js";
import { floatOutputs } from "../evaluation-data.js";
import { fewOf, type Intake } from "../intake.js";
import type { Journal } from "../journal.js";
import { type Latencies, measureLatency } from "../measure/latency.js";
import { linkedTwin, samplesFile, untimed } from "../model-runs.js";
import type { ModelFacts, VerdictReason } from "../result.js";
import type { BestSoFar } from "../resume/best-so-far.js";
import type { RunRecord } from "../run-record.js";
import { samplesWithin } from "../sample-counts.js";
import type { SearchEnd } from "../verdict/search-end.js";
import { type AccuracyMeasure, judge, type LatencyMeasure, leastGain, type Ruling } from "../verdict/verdict.js";
import { scoreModels } from "../verify/accuracy.js";
import { judgeSense } from "../verify/nonsense.js";

/** A race that decides anything takes this long, whatever is left of the time. */
const LEAST_RACE_MS = 1000;
/** Of the usual time, what one gets that stands beside an answer: where that leaves it undecided, the answer stays. */
const BRIEF_SHARE = 0.25;
/** Samples that tell about accuracy where it decides nothing: as many as fit this time, within bounds. */
const [LEAST_GLANCED, MOST_GLANCED] = [12, 32];
const GLANCE_MS = 130;
/** A part is worth a warning where all would take so many times as long. */
const WORTH_SPARING = 1.5;
/** Samples on which outputs are compared one by one. */
const COMPARED = 8;

export interface Judged {
  readonly candidate: Candidate;
  readonly latency: LatencyMeasure | null;
  readonly ruling: Ruling;
  /** Of the search that found nothing more accurate; absent where there was none. */
  readonly search?: SearchEnd | null;
}

/** As the journal has it; those of earlier versions are without the time that measuring took. */
interface AccuracyEntry extends AccuracyMeasure {
  readonly tookMs?: number;
}

export class Judge {
  readonly #accuracies = new Map<Candidate, AccuracyEntry>();
  readonly #differences = new Map<Candidate, readonly OutputDifference[]>();
  /** Why outputs are no answer, of candidates that were compared with the original. */
  readonly #nonsense = new Map<Candidate, VerdictReason>();
  #baselineScores: Float64Array | undefined;
  /** Where the original's answers to the data that judges are kept, or are about to be; null where they are not. */
  #answers: Promise<string | null> = Promise.resolve(null);

  constructor(
    readonly config: OptimizeConfig,
    readonly intake: Intake,
    readonly record: RunRecord,
    /** What outlives the run when it is cut short; absent where nothing is to be kept. */
    readonly kept: { readonly journal: Journal; readonly best: BestSoFar } | null = null,
    /** What else is to be known of one that is raced, found out while a process is there that runs models. */
    readonly beforeRace: (candidate: Candidate) => Promise<unknown> = async () => undefined,
    /** Of all activations of one sample; 0 where that is not known. */
    readonly elements = 0,
    /** The model that limits are about. */
    readonly against: Pick<ModelFacts, "path" | "bytes"> = intake.facts,
  ) {}

  /** Has the original answer while this process makes a candidate: for the one look that there is without a limit to search for. */
  begin(): void {
    const { config, intake, record, against } = this;
    const data = this.#judgingData();
    if (isSearched(config) || data.random) return;
    const path = samplesFile(record.context);
    const outputs = intake.signature.outputs.flatMap(({ name, dtype }) => (dtype === null ? [] : [name]));
    const session = untimed(config.runtime);
    const model = linkedTwin(against.path, record.context);
    // Where it fails it is asked again when a candidate is judged, and then it is told.
    this.#answers = record.context.runtime.answer({ model, data, outputs, path, session }).then(
      () => path,
      () => null,
    );
  }

  /** Whether a candidate meets the limits on accuracy and size; measures it once. */
  async isAccurate(candidate: Candidate): Promise<boolean> {
    await this.#measureAccuracy(candidate);
    // Where a limit is, the metric tells soon enough.
    if (!isSearched(this.config)) await this.differencesOf(candidate);
    const isMet = this.rule(candidate, null).verdict.outcome === "met";
    const isGain = this.config.quantize.goal === "size" || (candidate.speedup ?? 0) >= leastGain;
    if (isMet && isGain) this.kept?.best.offer(candidate);
    return isMet;
  }

  /** Whether a candidate was measured and falls short in accuracy, so that more float nodes may help. */
  missesAccuracy(candidate: Candidate): boolean {
    return this.#accuracies.has(candidate) && this.rule(candidate, null).verdict.outcome === "accuracy";
  }

  /** How many others were measured before a candidate and fell short. */
  missedBefore(candidate: Candidate): number {
    const measured = [...this.#accuracies.keys()];
    return measured.slice(0, measured.indexOf(candidate)).filter((other) => this.missesAccuracy(other)).length;
  }

  /** Milliseconds that measuring its accuracy took, in this run or in the one that it goes on with; 0 where that is not known. */
  measuringMs(candidate: Candidate): number {
    return this.#accuracies.get(candidate)?.tookMs ?? 0;
  }

  /** By how much the metric got worse; measured before. */
  dropOf(candidate: Candidate): number {
    const { facts } = this.#accuracies.get(candidate)!;
    return facts.higherIsBetter ? -facts.delta : facts.delta;
  }

  /** The same in limits: more than 1 misses; null where it was not measured, or is no number. */
  dropInLimits(candidate: Candidate): number | null {
    const reason = this.rule(candidate, null).verdict.reasons.find(({ limit }) => limit === "max-drop");
    if (reason?.got == null) return null;
    // With a confidence, the far end of the interval decides.
    const drop = this.config.limits.confidence === null ? reason.got : (reason.interval?.[1] ?? reason.got);
    return drop / reason.wanted;
  }

  /**
   * With `latency` null only accuracy and size are judged.
   *
   * @param search how the search ended that found nothing within the limit on accuracy; null where there was none
   */
  rule(candidate: Candidate, latency: LatencyMeasure | null, search: SearchEnd | null = null): Ruling {
    const { limits, quantize } = this.config;
    return judge(
      latency ? limits : { ...limits, minSpeedup: null, slo: [] },
      {
        accuracy: this.#accuracies.get(candidate) ?? null,
        nonsense: this.#nonsense.get(candidate) ?? null,
        search,
        latency,
        bytes: { baseline: this.against.bytes, candidate: candidate.built.bytes },
      },
      { gainRequired: latency !== null, goal: quantize.goal },
    );
  }

  /** Its outputs beside the original's, on a few samples; compared once. */
  async differencesOf(candidate: Candidate): Promise<readonly OutputDifference[]> {
    const known = this.#differences.get(candidate);
    if (known) return known;
    const { config, intake, record } = this;
    const differences = await record.stage(
      "verify",
      () =>
        record.context.runtime.compare({
          baseline: this.against.path,
          candidate: candidate.built.path,
          data: fewOf(intake.trial, COMPARED),
          session: untimed(config.runtime),
        }),
      candidate.name,
    );
    this.#tellSense(candidate, differences);
    return differences;
  }

  #tellSense(candidate: Candidate, differences: readonly OutputDifference[]): void {
    this.#differences.set(candidate, differences);
    const nonsense = judgeSense(differences, floatOutputs(this.intake.signature));
    if (nonsense) {
      this.#nonsense.set(candidate, nonsense);
      candidate.note ||= nonsense.text;
      this.record.warn(`${candidate.name} is no answer: ${nonsense.text}`);
    }
  }

  /**
   * Times a candidate against the original for as long as the limits take, and judges all of them.
   *
   * @param isBrief whether there is an answer already, which this one may replace
   */
  async race(candidate: Candidate, isBrief = false): Promise<Judged> {
    const { config, record } = this;
    await this.#measureAccuracy(candidate);
    await this.differencesOf(candidate);
    if (this.#nonsense.has(candidate)) return { candidate, latency: null, ruling: this.rule(candidate, null) };
    await this.beforeRace(candidate);
    // Percentiles that a limit is for take all the runs that there are.
    const isShort = isBrief && config.limits.slo.length === 0;
    const usualMs = config.runtime.benchMs * (isShort ? BRIEF_SHARE : 1);
    const first = await this.#time(candidate, usualMs);
    // The next candidate would win without a word on which of the two is better.
    const isLeft = !isShort && this.#isUndecided(first.candidates[0]!) && this.#leftMs > usualMs;
    const latencies = isLeft ? await this.#time(candidate, usualMs, first.comparison.series) : first;
    record.warn(...latencies.warnings);
    const latency = latencies.candidates[0]!;
    if (candidate.estimate === undefined) candidate.estimate = candidate.speedup;
    candidate.speedup = latency.facts.speedup;
    candidate.interval = latency.facts.speedupInterval;
    this.#tell(candidate);
    return { candidate, latency, ruling: this.rule(candidate, latency) };
  }

  /** @param earlier times of a race that decided nothing */
  #time(candidate: Candidate, usualMs: number, earlier?: readonly ProcessSeries[]): Promise<Latencies> {
    const { config, intake, record } = this;
    const benchMs = Math.max(LEAST_RACE_MS, Math.min(usualMs, this.#leftMs));
    return record.stage(
      "bench",
      () => {
        // Two more processes hold a model each now.
        collectGarbage();
        return measureLatency(record.context, {
          // The same graph and weights, in the form that takes the least memory to load: runs are what is timed.
          baseline: linkedTwin(this.against.path, record.context),
          candidates: [candidate.built.path],
          data: intake.trial,
          runtime: { ...config.runtime, benchMs },
          minSpeedup: config.limits.minSpeedup,
          slo: config.limits.slo,
          isQuick: !isSearched(config) && !earlier,
          ...(earlier && { earlier }),
          onProgress: record.progress,
        });
      },
      candidate.name,
    );
  }

  /** Whether it looks fast enough, and may not be. */
  #isUndecided({ facts }: LatencyMeasure): boolean {
    const { limits, quantize } = this.config;
    return isInDoubt(facts, Math.max(limits.minSpeedup ?? 0, quantize.goal === "speed" ? leastGain : 0));
  }

  /** Of the time for the whole run, where one was given. */
  get #leftMs(): number {
    const { budgetMs } = this.config.quantize;
    return budgetMs == null ? Number.POSITIVE_INFINITY : budgetMs - this.record.elapsedMs;
  }

  async #measureAccuracy(candidate: Candidate): Promise<void> {
    if (this.#accuracies.has(candidate)) return;
    const { config, intake, record } = this;
    const known = this.kept?.journal.recall<AccuracyEntry>(candidate, "accuracy");
    if (known) {
      this.#accuracies.set(candidate, known);
      candidate.accuracy = known.facts;
      return;
    }
    const data = this.#judgingData();
    this.#tellShare(data);
    const from = record.context.now();
    const scores = await record.stage(
      "verify",
      async () => {
        const answers = await this.#answers;
        // The first of many: the others need not run the original.
        const keepAnswers = isSearched(config) && answers === null ? samplesFile(record.context) : null;
        const measured = await scoreModels(record.context, {
          models: [this.against.path, candidate.built.path],
          data,
          ...(answers !== null && { answers }),
          ...(keepAnswers !== null && { keepAnswers }),
          metric: intake.metric,
          session: untimed(config.runtime),
          seed: config.runtime.seed,
          confidence: config.limits.confidence,
          ...(this.#baselineScores && { baselineScores: this.#baselineScores }),
          // Both models are loaded and run: the outputs of the first samples are at hand.
          ...(!isSearched(config) && { compared: COMPARED }),
          onProgress: record.progress,
        });
        if (keepAnswers !== null) this.#answers = Promise.resolve(keepAnswers);
        return measured;
      },
      candidate.name,
    );
    this.#baselineScores = scores.baselineScores;
    if (scores.differences) this.#tellSense(candidate, scores.differences[0]!);
    const measure = { ...scores.candidates[0]!, tookMs: record.context.now() - from };
    this.#accuracies.set(candidate, measure);
    this.kept?.journal.record(candidate, "accuracy", measure satisfies AccuracyEntry);
    candidate.accuracy = measure.facts;
    this.#tell(candidate);
  }

  /** All of the evaluation data; a part of it, spread, where no limit on accuracy was declared. */
  #judgingData(): DatasetRef {
    const { ref, count } = this.intake.evaluation;
    const most = samplesWithin(GLANCE_MS, this.elements, LEAST_GLANCED, MOST_GLANCED);
    if (this.config.limits.maxDrop !== "none" || ref.random || count < WORTH_SPARING * most) return ref;
    return { ...ref, indices: spread(ref.indices ?? count, most) };
  }

  #tellShare({ indices }: DatasetRef): void {
    const { count } = this.intake.evaluation;
    if (this.config.limits.maxDrop !== "none" || !indices || indices.length >= count) return;
    this.record.warn(
      `accuracy was looked at on ${indices.length} of ${count} evaluation samples, since no limit asks for it: \`verify\` measures it on all`,
    );
  }

  #tell({ name, speedup, estimate, accuracy: facts }: Candidate): void {
    const { observer } = this.record.context;
    const [isTimed, accuracy] = [estimate !== undefined, facts?.candidate ?? null];
    observer({ type: "candidate", candidate: name, speedup, isTimed, accuracy });
  }
}

/** Pruned nets on the evaluation data and against the clock, each beside the original. */
import { collectGarbage } from "../../base/collect-garbage.js";
import { isInDoubt, type ProcessSeries } from "../../bench/index.js";
import { isFloat } from "../../ir/index.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { PruneConfig } from "../config.js";
import { fewOf, type Intake } from "../intake.js";
import { measureLatency } from "../measure/latency.js";
import { asDelivered } from "../model-runs.js";
import type { AccuracyFacts, VerdictReason } from "../result.js";
import type { RunRecord } from "../run-record.js";
import { type AccuracyMeasure, type Evidence, judge, type LatencyMeasure, type Ruling } from "../verdict/verdict.js";
import { scoreModels } from "../verify/accuracy.js";
import { judgeSense } from "../verify/nonsense.js";
import type { PrunedFile } from "./pruned-file.js";

/** Samples on which outputs are compared one by one. */
const COMPARED = 8;
/** A race that decides anything takes this long, whatever is left of the time. */
const LEAST_RACE_MS = 1000;
/** Where a net reaches what was asked for and its interval does not, the race goes on until it took so many times as long. */
const LONGER = 3;

/** What was measured of a net; what is null was not. */
export interface Measured {
  readonly accuracy: AccuracyMeasure;
  /** null until they are asked for. */
  differences: readonly OutputDifference[] | null;
  readonly nonsense: VerdictReason | null;
  latency: LatencyMeasure | null;
}

/** What a race has told, and all of its times. */
export interface PrunedRace {
  readonly latency: LatencyMeasure;
  readonly series: readonly ProcessSeries[];
}

export class PrunedJudge {
  #baselineScores: Float64Array | undefined;

  constructor(
    readonly config: PruneConfig,
    readonly intake: Intake,
    readonly record: RunRecord,
  ) {}

  async measureAccuracy(file: PrunedFile, name: string): Promise<Measured> {
    const { config, intake, record } = this;
    const session = asDelivered(config.runtime);
    return record.stage(
      "verify",
      async () => {
        const scores = await scoreModels(record.context, {
          models: [config.model, file.path],
          data: intake.evaluation.ref,
          metric: intake.metric,
          session,
          seed: config.runtime.seed,
          confidence: config.limits.confidence,
          ...(this.#baselineScores && { baselineScores: this.#baselineScores }),
          onProgress: record.progress,
        });
        this.#baselineScores = scores.baselineScores;
        const differences = await this.#differences(file);
        const dtypes = new Map(intake.signature.outputs.map(({ name: output, dtype }) => [output, dtype]));
        const nonsense = judgeSense(differences, (output) => isFloat(dtypes.get(output) ?? "f32"));
        return { accuracy: scores.candidates[0]!, differences, nonsense, latency: null };
      },
      name,
    );
  }

  async compare(file: PrunedFile, name: string): Promise<readonly OutputDifference[]> {
    return this.record.stage("verify", () => this.#differences(file), name);
  }

  #differences({ path }: PrunedFile): Promise<readonly OutputDifference[]> {
    const { config, intake, record } = this;
    const data = fewOf(intake.trial, COMPARED);
    return record.context.runtime.compare({
      ...{ baseline: config.model, candidate: path, data },
      session: asDelivered(config.runtime),
    });
  }

  /**
   * @param aim to know about how fast it is, and whether that is more than this; null for as long as the limits take
   * @param earlier times of a net of the same graph
   */
  async race(
    file: PrunedFile,
    name: string,
    aim: number | null,
    earlier?: readonly ProcessSeries[],
  ): Promise<PrunedRace> {
    const { benchMs } = this.config.runtime;
    if (aim !== null) return this.#raceFor(benchMs / 4, file, name, aim);
    const first = await this.#raceFor(benchMs, file, name, null, earlier);
    const hasTime = (this.leftMs ?? Number.POSITIVE_INFINITY) > benchMs;
    if (!hasTime || !this.#isUndecided(first.latency)) return first;
    return this.#raceFor((LONGER - 1) * benchMs, file, name, null, first.series);
  }

  async #raceFor(
    wantedMs: number,
    file: PrunedFile,
    name: string,
    aim: number | null,
    earlier?: readonly ProcessSeries[],
  ): Promise<PrunedRace> {
    const { config, intake, record } = this;
    const benchMs = Math.max(LEAST_RACE_MS, Math.min(wantedMs, this.leftMs ?? Number.POSITIVE_INFINITY));
    const latencies = await record.stage(
      "bench",
      () => {
        // Two more processes hold a model each now.
        collectGarbage();
        return measureLatency(record.context, {
          baseline: config.model,
          candidates: [file.path],
          data: intake.trial,
          runtime: { ...config.runtime, benchMs },
          minSpeedup: aim ?? this.#leastSpeedup(),
          slo: aim === null ? config.limits.slo : [],
          ...(earlier && { earlier }),
          onProgress: record.progress,
        });
      },
      name,
    );
    record.warn(...latencies.warnings);
    return { latency: latencies.candidates[0]!, series: latencies.comparison.series };
  }

  #isUndecided({ facts }: LatencyMeasure): boolean {
    const least = this.#leastSpeedup();
    return least !== null && isInDoubt(facts, least);
  }

  /** @param file what its files are when they are compressed, where that is what was wanted of it */
  rule(
    file: Pick<PrunedFile, "bytes"> & Pick<Evidence, "compressed">,
    { accuracy, latency, nonsense }: Measured,
  ): Ruling {
    const { limits, prune } = this.config;
    const { bytes, compressed } = file;
    return judge(
      latency ? { ...limits, minSpeedup: this.#leastSpeedup() } : { ...limits, minSpeedup: null, slo: [] },
      {
        ...{ accuracy, nonsense, latency },
        bytes: { baseline: this.intake.facts.bytes, candidate: bytes },
        ...(compressed && { compressed }),
      },
      { gainRequired: latency !== null, goal: prune.goal, mayBeSlower: false },
    );
  }

  /** Whether accuracy and size are within their limits. */
  isAccurate(file: PrunedFile, measured: Measured): boolean {
    return this.rule(file, { ...measured, latency: null }).verdict.outcome === "met";
  }

  /** @param speedup as timed; null where it was not */
  tell(name: string, speedup: number | null, { candidate: accuracy }: AccuracyFacts): void {
    const { observer } = this.record.context;
    observer({ type: "candidate", candidate: name, speedup, isTimed: speedup !== null, accuracy });
  }

  /** A target is a limit too. */
  #leastSpeedup(): number | null {
    const { limits, prune } = this.config;
    const asked = [limits.minSpeedup, prune.targetSpeedup].filter((each) => each !== null);
    return asked.length === 0 ? null : Math.max(...asked);
  }

  /** Of the time that was given; null where there is as much as it takes. */
  get leftMs(): number | null {
    const { budgetMs } = this.config.prune;
    return budgetMs === null ? null : budgetMs - this.record.elapsedMs;
  }
}

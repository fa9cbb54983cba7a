/** Scores candidates against the original on one dataset, with the interval of each difference. */
import { pairedDifferenceInterval } from "../../base/bootstrap.js";
import { mean } from "../../base/statistics.js";
import type { DatasetRef } from "../../dataset/index.js";
import { type BuiltinMetric, isRate, type MetricRef } from "../../metric/index.js";
import type { OutputDifference, ScoreResult, SessionOptions } from "../../runtime/port.js";
import type { RunContext } from "../context.js";
import type { AccuracyFacts, AnswerFacts } from "../result.js";
import type { AccuracyMeasure } from "../verdict/accuracy-limit.js";

export interface ScoreRequest {
  /** The first is the original. */
  readonly models: readonly string[];
  readonly data: DatasetRef;
  readonly metric: MetricRef;
  readonly session: SessionOptions;
  /** Agreement is with the outputs that came with the data, not with the original's. */
  readonly withReferences?: boolean;
  /** Of the intervals' resampling. */
  readonly seed: number;
  /** Of the intervals; 0.95 when null. */
  readonly confidence: number | null;
  /** Also compare outputs on so many samples. */
  readonly compared?: number;
  /** Scores of the original on the same data, from an earlier call. */
  readonly baselineScores?: Float64Array;
  /** Where answers of the original were kept. */
  readonly answers?: string;
  /** Where to keep them, if the metric looks at them. */
  readonly keepAnswers?: string;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ScoredCandidates {
  /** One for each model after the first. */
  readonly candidates: readonly AccuracyMeasure[];
  /** Of the original, sample by sample: give them to the next call on the same data. */
  readonly baselineScores: Float64Array;
  /** Of each candidate, where `compared` asked for them. */
  readonly differences?: readonly (readonly OutputDifference[])[];
}

const DEFAULT_CONFIDENCE = 0.95;
/** Metrics of which no score says right or wrong. */
const distances: ReadonlySet<BuiltinMetric> = new Set(["cosine", "mse", "sqnr"]);

/** Rejects with whatever running the models, reading the data or scoring rejects with. */
export async function scoreModels({ runtime }: RunContext, request: ScoreRequest): Promise<ScoredCandidates> {
  const { models, data, metric, session, baselineScores, compared, answers, keepAnswers, onProgress } = request;
  const result = await runtime.score({
    models,
    data,
    metric,
    session,
    ...(request.withReferences && { withReferences: true }),
    ...(baselineScores && { baselineScores }),
    ...(compared && { compared }),
    ...(answers !== undefined && { answers }),
    ...(keepAnswers !== undefined && { keepAnswers }),
    ...(onProgress && { onProgress }),
  });
  const baseline = result.scores[0]!;
  const rate = isRate(metric, result.scores);
  const kind = kindOf(request, result);
  const candidates = result.scores.slice(1).map((candidate): AccuracyMeasure => {
    return { isRate: rate, facts: factsOf(baseline, candidate, kind, result, request) };
  });
  return { candidates, baselineScores: baseline, ...(result.differences && { differences: result.differences }) };
}

function factsOf(
  baseline: Float64Array,
  candidate: Float64Array,
  kind: AccuracyFacts["kind"],
  { metric: { name, higherIsBetter } }: ScoreResult,
  request: ScoreRequest,
): AccuracyFacts {
  const confidence = request.confidence ?? DEFAULT_CONFIDENCE;
  // What a module scores may be counts, of which 0 and 1 are as good as answers; a distance that happens to be one is none.
  const isMeasure = request.metric.kind === "builtin" && distances.has(request.metric.name);
  const { low, high } = pairedDifferenceInterval(baseline, candidate, { seed: request.seed, confidence, isMeasure });
  const before = mean(baseline);
  const after = mean(candidate);
  return {
    metric: name,
    kind,
    higherIsBetter,
    samples: candidate.length,
    baseline: before,
    candidate: after,
    delta: after - before,
    // Nothing agrees more with answers than these do with themselves.
    deltaInterval: isOwnAnswers(request, kind) ? [Math.min(0, low), Math.min(0, high)] : [low, high],
    confidence,
    ...(!isMeasure && answersOf(baseline, candidate)),
    worst: worstSamples(baseline, candidate, higherIsBetter),
  };
}

/** Whether no candidate can score more than the baseline does, whatever the samples. */
const isOwnAnswers = ({ metric }: ScoreRequest, kind: AccuracyFacts["kind"]): boolean =>
  (kind === "agreement" || kind === "smoke") && metric.kind === "builtin" && metric.name === "agreement";

/** Who answered right, of scores that are 0 or 1. */
function answersOf(baseline: Float64Array, candidate: Float64Array): { readonly answers?: AnswerFacts } {
  const isAnswer = (score: number): boolean => score === 0 || score === 1;
  if (!baseline.every(isAnswer) || !candidate.every(isAnswer)) return {};
  const answers = { both: 0, onlyBefore: 0, onlyAfter: 0, neither: 0 };
  for (const [i, after] of candidate.entries()) {
    if (baseline[i] === 1) answers[after === 1 ? "both" : "onlyBefore"]++;
    else answers[after === 1 ? "onlyAfter" : "neither"]++;
  }
  return { answers };
}

const MOST_WORST = 10;

function worstSamples(
  baseline: Float64Array,
  candidate: Float64Array,
  higherIsBetter: boolean,
): NonNullable<AccuracyFacts["worst"]> {
  const sign = higherIsBetter ? 1 : -1;
  return Array.from(candidate, (score, sample) => ({ sample, baseline: baseline[sample]!, candidate: score }))
    .filter((each) => sign * (each.baseline - each.candidate) > 0)
    .sort((a, b) => sign * (b.baseline - b.candidate - (a.baseline - a.candidate)) || a.sample - b.sample)
    .slice(0, MOST_WORST);
}

/** A metric that looked at other answers measures agreement with them; any other one measures the task itself. */
function kindOf({ data, metric, withReferences }: ScoreRequest, { usedReference }: ScoreResult): AccuracyFacts["kind"] {
  if (data.random) return "smoke";
  const isAgreement = metric.kind === "builtin" ? metric.name !== "top1" && metric.name !== "top5" : usedReference;
  if (!isAgreement) return "labels";
  return withReferences ? "reference" : "agreement";
}

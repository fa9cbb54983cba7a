/**
 * How far a metric fell, in the unit of its limit, and whether that is too far.
 *
 * A drop is what got worse: the decrease of a metric of which more is better, the
 * increase of one of which less is (mse). A limit in percent means percentage points
 * of a rate and change relative to the baseline of anything else.
 */
import { changedShareInterval } from "../../base/bootstrap.js";
import type { Interval } from "../../base/statistics.js";
import type { DropLimit } from "../config.js";
import type { AccuracyFacts, AnswerFacts, VerdictReason } from "../result.js";

/** Accuracy of one candidate with what a judge needs besides. */
export interface AccuracyMeasure {
  readonly facts: AccuracyFacts;
  /** Whether the metric lives in 0..1, so that a percentage means points. */
  readonly isRate: boolean;
}

const units = { points: "points", "%": "percent", "": "metric" } as const;

export interface AccuracyRuling {
  readonly reason: VerdictReason;
  readonly warnings: readonly string[];
}

/** What holds when no limit is declared. */
export const defaultMaxDrop: Exclude<DropLimit, "none"> = { percent: 1 };

/** Two drops closer than this, relative to the limit, are the same: 0.91 - 0.90 is not above 0.01. */
const SAME = 1e-9;
/** Beyond this nobody collects samples. */
const MOST_SAMPLES = 10_000_000;

interface Drop {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly wanted: number;
  readonly unit: "points" | "%" | "";
  /** Of a difference of the metric in this unit. */
  readonly scale: number;
}

/**
 * @param confidence null: the measured value decides, and an interval across the limit is a warning;
 *   else the interval of the facts decides
 */
export function judgeAccuracy(
  { facts, isRate }: AccuracyMeasure,
  limit: Exclude<DropLimit, "none">,
  confidence: number | null,
): AccuracyRuling {
  const drop = dropOf(facts, isRate, limit);
  if (!drop) return noBaseline(facts, limit);
  const ruling = (status: VerdictReason["status"], remark: string | null, warnings: string[] = []): AccuracyRuling => ({
    reason: {
      limit: "max-drop",
      wanted: drop.wanted,
      got: drop.value,
      status,
      text: describe(facts, drop) + (remark ? `; ${remark}` : ""),
      unit: units[drop.unit],
      interval: [drop.low, drop.high],
    },
    warnings,
  });

  if (facts.kind === "smoke") {
    return ruling("inconclusive", "made-up inputs say nothing about accuracy: give --eval or --calibration");
  }
  const atMost = (value: number): boolean => isAtMost(value, drop);
  const straddles = isAcross(drop, drop);
  const hopeless = [
    ...(isHopeless(facts, isRate) ? [nothingToLose(facts)] : []),
    ...(isRate && drop.wanted >= (drop.unit === "points" ? 100 : 1) ? [nothingIsTooMuch(facts)] : []),
    ...(isRate && drop.unit !== "points" && drop.wanted >= MANY_POINTS && drop.wanted < 1 ? [isMany(facts, drop)] : []),
  ];
  const needed = straddles ? samplesToDecide(facts, drop) : null;
  if (confidence === null) {
    const stricter = `, and with --confidence ${shown(100 * facts.confidence)}% it would not pass`;
    const warnings = straddles
      ? [
          `${facts.samples} samples are too few to be sure of the accuracy limit: the drop of ${facts.metric} lies between ` +
            `${span(drop, "and")}; ${advice(needed)}${atMost(drop.value) ? stricter : ""}`,
        ]
      : [];
    return ruling(atMost(drop.value) ? "met" : "missed", null, [...warnings, ...hopeless]);
  }
  const least = facts.answers ? 0 : Math.max(LEAST_SCORES, isRate ? samplesToSee(drop, confidence) : 0);
  if (straddles) return ruling("inconclusive", advice(needed && Math.max(needed, least)), hopeless);
  if (!atMost(drop.high)) return ruling("missed", null, hopeless);
  if (facts.samples >= least) return ruling("met", null, hopeless);
  return ruling("inconclusive", `${unseen(drop, least)}; ${advice(least)}`, hopeless);
}

/**
 * Scores that are no right or wrong may have rare ones that are far worse than all others, and few samples hold none of them.
 * Chosen by simulation (bench/trust/accuracy-limit.mjs): of 32 samples whose losses spread as much as a lognormal of sigma 2, an interval
 * says too little in 49 of 1,000.
 */
const LEAST_SCORES = 100;

/** Of a limit as it was said, which may be no number of base 2. */
export const isAtMost = (value: number, { wanted }: { readonly wanted: number }): boolean =>
  value <= wanted + SAME * Math.abs(wanted);

/** Whether an interval of the drop holds the limit. */
const isAcross = ({ low, high }: Interval, drop: Drop): boolean => isAtMost(low, drop) && !isAtMost(high, drop);

const unseen = (drop: Drop, least: number): string =>
  least === LEAST_SCORES
    ? "so few scores may hold none of the rare ones that are far worse"
    : `a failure of as few as one sample in ${Math.round(1 / (2 * shareOf(drop)))} may be among none of them`;

/** A limit in points, or of a metric in 0..1, as a share of what could be lost. */
const shareOf = ({ wanted, unit }: Drop): number => (unit === "points" ? wanted / 100 : wanted);

/**
 * Samples of which one at least fails, at this confidence, where so many fail altogether that twice the limit is lost. An interval is
 * made of what was seen, and knows nothing of rare failures that were not. Shares of right answers need no such rule: their
 * interval allows for what was not seen.
 */
function samplesToSee(drop: Drop, confidence: number): number {
  const share = 2 * shareOf(drop);
  return share > 0 && share < 1 ? Math.ceil(Math.log((1 - confidence) / 2) / Math.log1p(-share)) : 0;
}

/** A rate of 0 cannot fall: labels that are off by one, outputs that are all NaN, references of another model. */
const isHopeless = ({ baseline, higherIsBetter }: AccuracyFacts, isRate: boolean): boolean =>
  isRate && higherIsBetter && baseline === 0;

/** In a metric's own unit: whoever wants so many points of a rate says so as a percentage as a rule, and may have forgotten the sign. */
const MANY_POINTS = 0.1;

const isMany = ({ metric }: AccuracyFacts, { wanted }: Drop): string =>
  `--max-drop ${wanted} is ${Number((100 * wanted).toPrecision(6))} points of ${metric}, which lies between 0 and 1: ${wanted}% would be ${wanted} of a point`;

const nothingIsTooMuch = ({ metric }: AccuracyFacts): string =>
  `the limit lets ${metric} fall from 1 to 0, so that every candidate meets it: one point is written 1%, or 0.01`;

const nothingToLose = ({ metric, kind }: AccuracyFacts): string =>
  `${metric} of the baseline${AGAINST[kind]} is 0 on every sample, so that no candidate can be worse: check the model and what it is compared with`;

/** null when a percentage has nothing to be a percentage of. */
function dropOf(facts: AccuracyFacts, isRate: boolean, limit: Exclude<DropLimit, "none">): Drop | null {
  const isPercent = "percent" in limit;
  const isRelative = isPercent && !isRate;
  if (isRelative && facts.baseline === 0) return null;
  const scale =
    (facts.higherIsBetter ? -1 : 1) * (isPercent ? 100 : 1) * (isRelative ? 1 / Math.abs(facts.baseline) : 1);
  return {
    value: facts.delta * scale + 0,
    ...scaled(facts.deltaInterval, scale),
    scale,
    wanted: isPercent ? limit.percent : limit.absolute,
    unit: isPercent ? (isRate ? "points" : "%") : "",
  };
}

function scaled(ends: readonly number[], scale: number): Interval {
  // + 0 keeps a drop of nothing from becoming -0.
  const all = ends.map((end) => end * scale + 0);
  return { low: Math.min(...all), high: Math.max(...all) };
}

/** The mse of a model against itself is 0, and so may a metric of the user's be. */
function noBaseline(facts: AccuracyFacts, limit: Exclude<DropLimit, "none">): AccuracyRuling {
  const text =
    `${facts.metric} of the baseline is 0, of which there is no percentage (the candidate has ${shown(facts.candidate)}): ` +
    "give --max-drop as a plain number";
  const isEqual = facts.delta === 0 && facts.kind !== "smoke";
  return {
    reason: {
      limit: "max-drop",
      wanted: "percent" in limit ? limit.percent : limit.absolute,
      got: isEqual ? 0 : null,
      status: isEqual ? "met" : "inconclusive",
      text: isEqual ? `${facts.metric} is 0 before and after` : text,
      unit: "percent" in limit ? "percent" : "metric",
    },
    warnings: [],
  };
}

/**
 * Samples with which the interval would end at the limit if the drop stays what it is. Of answers by the formula of their
 * interval; other half-widths shrink with the square root of the number. null when the drop is the limit, or as good as.
 */
function samplesToDecide({ samples, answers, confidence }: AccuracyFacts, drop: Drop): number | null {
  const { value, low, high, wanted } = drop;
  if (answers) return answersToDecide(samples, answers, confidence, drop);
  const half = wanted >= value ? high - value : value - low;
  const needed = Math.ceil(samples * (half / Math.abs(wanted - value)) ** 2);
  return needed <= MOST_SAMPLES ? Math.max(needed, samples + 1) : null;
}

function answersToDecide(
  samples: number,
  { onlyAfter, onlyBefore }: AnswerFacts,
  confidence: number,
  drop: Drop,
): number | null {
  const isOpen = (count: number): boolean => {
    const changed = { better: (onlyAfter * count) / samples, worse: (onlyBefore * count) / samples };
    const { low, high } = changedShareInterval(count, changed, confidence);
    return isAcross(scaled([low, high], drop.scale), drop);
  };
  let open = samples;
  let decided = 2 * samples;
  while (isOpen(decided)) {
    if (decided > MOST_SAMPLES) return null;
    [open, decided] = [decided, 2 * decided];
  }
  while (decided - open > 1) {
    const between = (open + decided) >> 1;
    if (isOpen(between)) open = between;
    else decided = between;
  }
  return decided;
}

const advice = (needed: number | null): string =>
  needed === null
    ? "the drop is so close to the limit that no number of samples would decide it"
    : `about ${needed} samples would decide it`;

const AGAINST: Readonly<Record<AccuracyFacts["kind"], string>> = {
  labels: "",
  agreement: " against the original model's answers",
  reference: " against the reference outputs",
  smoke: " against the original model's answers",
};

function describe(facts: AccuracyFacts, drop: Drop): string {
  const moved =
    drop.value > 0
      ? `got worse by ${amount(drop.value, drop)}`
      : drop.value < 0
        ? `got better by ${amount(-drop.value, drop)}`
        : "did not change";
  const against = AGAINST[facts.kind];
  return (
    `${facts.metric}${against} ${moved} (${shown(facts.baseline)} to ${shown(facts.candidate)} on ${facts.samples} samples; ` +
    `${shown(100 * facts.confidence)} % interval ${span(drop, "to")}), ` +
    `${amount(drop.wanted, drop)} allowed`
  );
}

function amount(value: number, { unit }: Drop): string {
  if (unit === "") return shown(value);
  return `${shown(value)} ${unit === "points" && value === 1 ? "point" : unit}`;
}

/** Both ends of the interval, the unit once. Three digits: an end is never known better. */
function span({ low, high, unit }: Drop, between: "and" | "to"): string {
  const [from, to] = [low, high].map((end) => Number(end.toPrecision(3)));
  return `${from} ${between} ${to}${unit === "" ? "" : ` ${unit}`}`;
}

/** At most four digits that matter. */
const shown = (value: number): string => String(Number(value.toPrecision(4)));

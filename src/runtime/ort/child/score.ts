/**
 * Scores models on samples by a metric. All models see a sample before the next one is
 * read, so the baseline's outputs live for one sample and memory does not grow with
 * their number.
 */
import { referencesOf, type Sample } from "../../../dataset/index.js";
import { loadMetric, type Metric, type NamedTensors } from "../../../metric/index.js";
import type { OutputDifference, Tensors } from "../../port.js";
import { modelBytes } from "../model-bytes.js";
import type { JobContext, JobHandler, Jobs } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { Comparison } from "./compare.js";
import { openPart, type PartOfDataset } from "./samples.js";
import { scoreInTurn } from "./score-in-turn.js";
import { forMetric, named, tensorsOf } from "./scored-sample.js";
import { type OpenModel, openModel } from "./session.js";
import { signatureOfFile } from "./signature.js";

/** Candidates are loaded together as long as they weigh less than this on disk, else one group after the other. */
const GROUP_BYTES = 2 ** 30;

type Args = Jobs["score"]["args"];

export const score: JobHandler<"score"> = async (args, context) => {
  const metric = await loadMetric(args.metric);
  if (args.isInTurn) return scoreInTurn(args, metric, context);
  const groups = groupBySize(args.models.slice(1));
  const rows = new Map<number, Float64Array>();
  const differences: (readonly OutputDifference[])[] = [];
  let usedReference = false;
  for (const [index, group] of groups.entries()) {
    const known = rows.get(0) ?? null;
    const told = overGroups(context, index, groups.length);
    const result = await scoreGroup(args, group, known, metric, told);
    rows.set(0, result.baseline);
    for (const [i, candidate] of group.entries()) rows.set(candidate, result.candidates[i]!);
    differences.push(...result.differences);
    usedReference ||= result.usedReference;
  }
  return {
    metric: { name: metric.name, higherIsBetter: metric.higherIsBetter },
    scores: args.models.map((_, model) => rows.get(model)!),
    usedReference,
    ...(args.compared && { differences }),
  };
};

/** Positions in `models`, from 1 on; one empty group when there is only the baseline. */
function groupBySize(candidates: readonly string[]): number[][] {
  const groups: number[][] = [[]];
  let bytes = 0;
  for (const [i, path] of candidates.entries()) {
    const size = candidates.length === 1 ? 0 : modelBytes(path);
    if (bytes + size > GROUP_BYTES && groups.at(-1)!.length > 0) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(i + 1);
    bytes += size;
  }
  return groups;
}

interface GroupScores {
  readonly baseline: Float64Array;
  readonly candidates: readonly Float64Array[];
  /** Of each candidate; empty where nothing was to be compared. */
  readonly differences: readonly (readonly OutputDifference[])[];
  readonly usedReference: boolean;
}

/** `known` are scores of the baseline on this very part; the job's own cover the whole dataset. */
async function scoreGroup(
  args: Args,
  group: readonly number[],
  known: Float64Array | null,
  metric: Metric,
  context: JobContext,
): Promise<GroupScores> {
  const opened: OpenModel[] = [];
  const open = async (path: string): Promise<OpenModel> => {
    const model = await openModel(path, args.session, context);
    opened.push(model);
    return model;
  };
  try {
    const candidates: OpenModel[] = [];
    for (const index of group) candidates.push(await open(args.models[index]!));
    let baseline: OpenModel | null = null;
    const openBaseline = async (): Promise<OpenModel> => (baseline ??= await open(args.models[0]!));

    // Data is read as the baseline wants it, which need not be loaded for that.
    const { inputs, outputs } = signatureOfFile(args.models[0]!);
    const part = await openPart(args.data, inputs, args.part);
    const given = known ?? args.baselineScores?.subarray(part.from, part.from + part.count) ?? null;
    const compared = Math.min(args.compared ?? 0, part.count);
    const truth = args.withReferences ? (sample: Sample) => named(referencesOf(sample, outputs)) : null;
    return await scoreSamples({ part, metric, candidates, given, truth, openBaseline, compared }, context);
  } finally {
    for (const model of opened) await model.release();
  }
}

interface Scoring {
  readonly part: PartOfDataset;
  readonly metric: Metric;
  readonly candidates: readonly OpenModel[];
  /** Scores of the baseline when they are known already. */
  readonly given: Float64Array | null;
  /** The reference of a sample, where it came with the data. */
  readonly truth: ((sample: Sample) => NamedTensors) | null;
  /** Samples on which outputs are compared: the first. */
  readonly compared: number;
  openBaseline(): Promise<OpenModel>;
}

async function scoreSamples(scoring: Scoring, context: JobContext): Promise<GroupScores> {
  const { part, metric, candidates, given, truth, compared, openBaseline } = scoring;
  const baselineRow = new Float64Array(part.count);
  const rows = candidates.map(() => new Float64Array(part.count));
  // A metric of our own says whether it wants the reference; of a module we find out.
  let usedReference = metric.needsReference ?? false;
  const watched = (reference: NamedTensors): NamedTensors =>
    metric.needsReference === null
      ? tellingWhenRead(reference, () => {
          usedReference = true;
        })
      : reference;

  const comparisons = compared > 0 ? await comparisonsWith(openBaseline, candidates.length) : [];
  const runBaseline = async (sample: Sample): Promise<Tensors> => tensorsOf(await openBaseline(), sample);
  const collect = betweenSamples();
  let i = 0;
  context.progress(0, part.count);
  for await (const sample of part.samples()) {
    const { labels, facts } = forMetric(sample);
    const original = given === null || usedReference || i < compared ? await runBaseline(sample) : null;
    const answer = original && named(original);
    let reference = truth ? truth(sample) : answer;
    baselineRow[i] = given?.[i] ?? (await metric.score(answer!, labels, facts, watched(reference!)));

    for (const [c, candidate] of candidates.entries()) {
      const tensors = await tensorsOf(candidate, sample);
      if (original && i < compared) comparisons[c]!.addOutputs(candidate, original, tensors, sample.id);
      const outputs = named(tensors);
      if (reference === null) {
        const value = await scoreWithout(
          () => metric.score(outputs, labels, facts, watched({})),
          () => usedReference,
        );
        if (value !== null) {
          rows[c]![i] = value;
          continue;
        }
        reference = named(await runBaseline(sample));
      }
      rows[c]![i] = await metric.score(outputs, labels, facts, watched(reference));
    }
    collect();
    context.progress(++i, part.count);
  }
  const differences = comparisons.map((comparison) => comparison.results());
  return { baseline: baselineRow, candidates: rows, differences, usedReference };
}

async function comparisonsWith(openBaseline: () => Promise<OpenModel>, count: number): Promise<readonly Comparison[]> {
  const baseline = await openBaseline();
  return Array.from({ length: count }, () => new Comparison(baseline));
}

/** A score made without a reference; null when the metric turned out to want one. */
async function scoreWithout(score: () => Promise<number>, wantsReference: () => boolean): Promise<number | null> {
  try {
    const value = await score();
    return wantsReference() ? null : value;
  } catch (error) {
    if (wantsReference()) return null;
    throw error;
  }
}

function tellingWhenRead(reference: NamedTensors, tell: () => void): NamedTensors {
  return new Proxy(reference, {
    get(target, key, receiver) {
      tell();
      return Reflect.get(target, key, receiver);
    },
    has(target, key) {
      tell();
      return Reflect.has(target, key);
    },
    ownKeys(target) {
      tell();
      return Reflect.ownKeys(target);
    },
  });
}

/** Progress of one group as progress of the whole job. */
const overGroups = (context: JobContext, index: number, groups: number): JobContext => ({
  ...context,
  progress: (done, total) => context.progress(index * total + done, groups * total),
});

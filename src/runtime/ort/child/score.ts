/**
 * Scores models on samples by a metric. All models see a sample before the next one is
 * read, so the baseline's outputs live for one sample and memory does not grow with
 * their number. Models that are too large to lie side by side take turns over many samples.
 */
import { referencesOf, type Sample } from "../../../dataset/index.js";
import { loadMetric, type Metric, type NamedTensors } from "../../../metric/index.js";
import type { ModelSignature, OutputDifference, Tensors } from "../../port.js";
import { modelBytes } from "../model-bytes.js";
import type { JobContext, JobHandler, Jobs } from "../protocol.js";
import type { Ports } from "./baseline-memory.js";
import { betweenSamples } from "./collect-garbage.js";
import { Comparison } from "./compare.js";
import { AnswerKeeper, keptAnswers } from "./kept-samples.js";
import { openPart, type PartOfDataset } from "./samples.js";
import { scoreInTurn } from "./score-in-turn.js";
import { forMetric, named, tensorsOf } from "./scored-sample.js";
import { type OpenModel, openModel } from "./session.js";
import { signatureOfFile } from "./signature.js";
import { crosses } from "./tensors.js";

/** Candidates are loaded together as long as they weigh less than this on disk, else one group after the other; where nobody says. */
const TOGETHER_BYTES = 2 ** 30;
/** Samples, and what the baseline made of them, that wait where a group weighs more than that and its models take turns. */
const HELD_BYTES = 256 * 2 ** 20;

type Args = Jobs["score"]["args"];

export const score: JobHandler<"score"> = async (args, context) => {
  const metric = await loadMetric(args.metric);
  if (args.isInTurn) return scoreInTurn(args, metric, context);
  const groups = groupBySize(args.models.slice(1), args.togetherBytes ?? TOGETHER_BYTES);
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
function groupBySize(candidates: readonly string[], most: number): number[][] {
  const groups: number[][] = [[]];
  let bytes = 0;
  for (const [i, path] of candidates.entries()) {
    const size = candidates.length === 1 ? 0 : modelBytes(path);
    if (bytes + size > most && groups.at(-1)!.length > 0) {
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
  const paths = group.map((index) => args.models[index]!);
  const bytes = modelBytes(args.models[0]!) + sumOf(paths.map(modelBytes));
  const takeTurns = group.length > 0 && bytes > (args.togetherBytes ?? TOGETHER_BYTES);
  const models = new OpenModels(args, context, takeTurns);
  try {
    if (!takeTurns) for (const path of paths) await models.open(path);

    // Data is read as the baseline wants it, which need not be loaded for that.
    const signature = signatureOfFile(args.models[0]!);
    const { inputs, outputs } = signature;
    const part = await openPart(args.data, inputs, args.part);
    const given = known ?? args.baselineScores?.subarray(part.from, part.from + part.count) ?? null;
    const compared = Math.min(args.compared ?? 0, part.count);
    const truth = args.withReferences ? (sample: Sample) => named(referencesOf(sample, outputs)) : null;
    const openBaseline = (): Promise<OpenModel> => models.open(args.models[0]!);
    const kept = args.answers === undefined ? null : answersIn(args.answers, signature);
    const baselineOf = async (): Promise<Ports> => kept?.ports ?? openBaseline();
    const answer = async (sample: Sample): Promise<Tensors> =>
      kept?.of(sample.id) ?? tensorsOf(await openBaseline(), sample);
    const candidates = paths.map((path) => () => models.open(path));
    const keeper =
      args.keepAnswers === undefined || given ? null : new AnswerKeeper(args.keepAnswers, args.part?.index ?? 0);
    const scoring = { part, metric, candidates, given, truth, compared, takeTurns, keeper, baselineOf, answer };
    const scores = await scoreSamples(scoring, context);
    keeper?.finish();
    return scores;
  } finally {
    await models.release();
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Models that are loaded when first asked for, and stay until they are released; or until the next one, where they take turns. */
class OpenModels {
  readonly #open = new Map<string, OpenModel>();

  constructor(
    readonly args: Args,
    readonly context: JobContext,
    readonly takeTurns: boolean,
  ) {}

  async open(path: string): Promise<OpenModel> {
    const known = this.#open.get(path);
    if (known) return known;
    if (this.takeTurns) await this.release();
    const model = await openModel(path, this.args.session, this.context);
    this.#open.set(path, model);
    return model;
  }

  async release(): Promise<void> {
    const models = [...this.#open.values()];
    this.#open.clear();
    for (const model of models) await model.release();
  }
}

/** What was kept of the baseline; null where its file does not say what all its outputs are. */
function answersIn(path: string, signature: ModelSignature) {
  const { outputs } = signature;
  if (outputs.some(({ dtype }) => dtype === null)) return null;
  const readable = outputs.filter(({ dtype }) => crosses(dtype)).map(({ name }) => name);
  const kept = keptAnswers(path);
  return { ports: { signature, readable } satisfies Ports, of: (id: string) => kept.of(id, readable) };
}

interface Scoring {
  readonly part: PartOfDataset;
  readonly metric: Metric;
  readonly candidates: readonly (() => Promise<OpenModel>)[];
  /** Scores of the baseline when they are known already. */
  readonly given: Float64Array | null;
  /** The reference of a sample, where it came with the data. */
  readonly truth: ((sample: Sample) => NamedTensors) | null;
  /** Samples on which outputs are compared: the first. */
  readonly compared: number;
  /** Whether opening one model may close another: then many samples go through each in a row. */
  readonly takeTurns: boolean;
  /** Of the baseline's answers, where the metric looks at them; null where nobody needs them again. */
  readonly keeper: AnswerKeeper | null;
  baselineOf(): Promise<Ports>;
  /** Of the baseline. */
  answer(sample: Sample): Promise<Tensors>;
}

/** A sample that the baseline has seen and the candidates have not. */
interface Held {
  readonly at: number;
  readonly sample: Sample;
  readonly original: Tensors | null;
  readonly reference: NamedTensors | null;
}

async function scoreSamples(scoring: Scoring, context: JobContext): Promise<GroupScores> {
  const { part, metric, candidates, given, truth, compared, takeTurns, keeper, baselineOf, answer } = scoring;
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

  const comparisons = compared > 0 ? await comparisonsWith(baselineOf, candidates.length) : [];
  const collect = betweenSamples();
  let done = 0;
  const tell = (): void => context.progress(Math.floor(done / (1 + candidates.length)), part.count);

  const scoreHeld = async (model: OpenModel, c: number, { at, sample, original, reference }: Held): Promise<number> => {
    const { labels, facts } = forMetric(sample);
    const tensors = await tensorsOf(model, sample);
    if (original && at < compared) comparisons[c]!.addOutputs(model, original, tensors, sample.id);
    const outputs = named(tensors);
    if (reference) return metric.score(outputs, labels, facts, watched(reference));
    const value = await scoreWithout(
      () => metric.score(outputs, labels, facts, watched({})),
      () => usedReference,
    );
    return value ?? metric.score(outputs, labels, facts, watched(named(await answer(sample))));
  };
  let held: Held[] = [];
  let heldBytes = 0;
  const scoreCandidates = async (): Promise<void> => {
    for (const [c, open] of candidates.entries()) {
      const model = await open();
      for (const each of held) {
        rows[c]![each.at] = await scoreHeld(model, c, each);
        done++;
        if (takeTurns) tell();
      }
    }
    held = [];
    heldBytes = 0;
    collect();
  };

  let at = 0;
  context.progress(0, part.count);
  for await (const sample of part.samples()) {
    // Where models take turns, there is no going back to the baseline for a metric that turns out to want it.
    const mayBeWanted = usedReference || (takeTurns && metric.needsReference === null);
    const original = given === null || mayBeWanted || at < compared ? await answer(sample) : null;
    // Before a module sees them, which may change what it is given; whether it wants them the first sample tells.
    const isWanted = usedReference || (metric.needsReference === null && at === 0);
    if (original && isWanted) keeper?.add(sample.id, original);
    const own = original && named(original);
    const reference = truth ? truth(sample) : own;
    const { labels, facts } = forMetric(sample);
    baselineRow[at] = given?.[at] ?? (await metric.score(own!, labels, facts, watched(reference!)));
    held.push({ at: at++, sample, original, reference });
    heldBytes += sizeOf(sample.feeds) + (original ? sizeOf(original) : 0);
    done++;
    if (!takeTurns || heldBytes > HELD_BYTES) await scoreCandidates();
    tell();
  }
  if (held.length > 0) await scoreCandidates();
  tell();
  const differences = comparisons.map((comparison) => comparison.results());
  return { baseline: baselineRow, candidates: rows, differences, usedReference };
}

const sizeOf = (tensors: Tensors): number => sumOf(Array.from(tensors.values(), ({ byteLength }) => byteLength));

async function comparisonsWith(baselineOf: () => Promise<Ports>, count: number): Promise<readonly Comparison[]> {
  const baseline = await baselineOf();
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

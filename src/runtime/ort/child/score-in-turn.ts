/**
 * Scores candidates one after the other on the same few samples. What the baseline answers is
 * kept, as far as there is room, so that it runs once for all of them, and for the jobs that
 * ask for the same next: then it is not even loaded.
 */
import { statSync } from "node:fs";
import type { Sample } from "../../../dataset/index.js";
import { elementCount, isFloat } from "../../../ir/index.js";
import { energyOf, type Metric, type NamedTensors } from "../../../metric/index.js";
import type { Scores } from "../../score-job.js";
import type { JobContext, Jobs } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { keptAnswers } from "./kept-samples.js";
import { openPart } from "./samples.js";
import { forMetric, named, outputsOf } from "./scored-sample.js";
import { type OpenModel, openModel } from "./session.js";
import { signatureOfFile } from "./signature.js";

/** Of inputs and outputs together, over all answers that are kept. */
const KEPT_BYTES = 32 << 20;

type Args = Jobs["score"]["args"];

interface Answered {
  readonly sample: Sample;
  readonly reference: NamedTensors;
}

interface Answers {
  readonly all: readonly Answered[];
  readonly bytes: number;
  /** What the baseline scores against itself, for each side of its outputs. */
  readonly own: readonly Baseline[];
}

interface Baseline {
  readonly row: Float64Array;
  /** Of its answers. */
  readonly energies: Float64Array;
}

/** Outputs that are scored together. */
type Side = (outputs: NamedTensors) => NamedTensors;

/** Of baselines, the one that was asked for last at the end; whole parts only. */
const known = new Map<string, Answers>();

export async function scoreInTurn(args: Args, metric: Metric, context: JobContext): Promise<Jobs["score"]["result"]> {
  const [first, ...candidates] = args.models;
  const open = (path: string): Promise<OpenModel> => openModel(path, args.session, context);
  const key = keyOf(first!, args);
  const before = key === null ? undefined : known.get(key);
  if (before) {
    known.delete(key!);
    known.set(key!, before);
    const scored = await scoreAll(candidates, before.all.length, () => before.all, before.own, args, metric, context);
    return resultOf(scored, args, metric);
  }
  let baseline: OpenModel | null = null;
  try {
    // Data is read as the baseline wants it, which need not be loaded for that.
    const { inputs, outputs } = args.answers ? signatureOfFile(first!) : (baseline = await open(first!)).signature;
    const answers = args.answers ? keptAnswers(args.answers) : null;
    const wanted = outputs.filter(({ dtype }) => dtype === null || isFloat(dtype)).map(({ name }) => name);
    const answerOf = async (sample: Sample): Promise<NamedTensors> => {
      const kept = wanted.length > 0 ? answers?.of(sample.id, wanted) : null;
      return kept ? named(kept) : outputsOf((baseline ??= await open(first!)), sample);
    };
    const part = await openPart(args.data, inputs, args.part);
    const kept: Answered[] = [];
    let bytes = 0;
    const collect = betweenSamples();
    async function* answered(): AsyncIterable<Answered> {
      yield* kept;
      // Samples come in the order of the dataset, so those that were kept are the first.
      let i = 0;
      if (kept.length === part.count) return;
      for await (const sample of part.samples()) {
        if (i++ < kept.length) continue;
        const answer = { sample, reference: await answerOf(sample) };
        bytes += sizeOf(answer);
        if (bytes <= KEPT_BYTES) kept.push(answer);
        yield answer;
        collect();
      }
    }
    const scored = await scoreAll(candidates, part.count, answered, null, args, metric, context);
    const own = scored.map(({ scores, energies }): Baseline => ({ row: scores[0]!, energies }));
    if (key !== null && kept.length === part.count) keep(key, { all: kept, bytes, own });
    return resultOf(scored, args, metric);
  } finally {
    await baseline?.release();
  }
}

/** @param scored for each side of the outputs: the answers, and those that are scored apart */
function resultOf(
  scored: readonly Required<Scores>[],
  { withEnergies = false }: Args,
  { name, higherIsBetter }: Metric,
): Jobs["score"]["result"] {
  const [answers, apart] = scored.map(({ scores, energies }) => ({ scores, ...(withEnergies && { energies }) }));
  return { metric: { name, higherIsBetter }, ...answers!, usedReference: true, ...(apart && { apart }) };
}

/** One where all outputs are answers. */
function sidesOf({ apart = [] }: Args): readonly Side[] {
  if (apart.length === 0) return [(outputs) => outputs];
  const part = (isApart: boolean): Side => {
    return (outputs) =>
      Object.fromEntries(Object.entries(outputs).filter(([name]) => apart.includes(name) === isApart));
  };
  return [part(false), part(true)];
}

/** For each side of the outputs, a row for the baseline, unless that is `known`, and one for each candidate. */
async function scoreAll(
  candidates: readonly string[],
  count: number,
  answered: () => AsyncIterable<Answered> | Iterable<Answered>,
  known: readonly Baseline[] | null,
  args: Args,
  metric: Metric,
  context: JobContext,
): Promise<readonly Required<Scores>[]> {
  const sides = sidesOf(args);
  const total = count * (candidates.length + (known ? 0 : 1));
  let done = 0;
  const rows = async (answer: (known: Answered) => NamedTensors | Promise<NamedTensors>): Promise<Float64Array[]> => {
    const scores = sides.map(() => new Float64Array(count));
    let i = 0;
    for await (const each of answered()) {
      const { labels, facts } = forMetric(each.sample);
      const outputs = await answer(each);
      for (const [s, side] of sides.entries()) {
        scores[s]![i] = await metric.score(side(outputs), labels, facts, side(each.reference));
      }
      i++;
      context.progress(++done, total);
    }
    return scores;
  };
  const energies = known?.map((own) => own.energies) ?? sides.map(() => new Float64Array(count));
  let told = 0;
  const own = ({ reference }: Answered): NamedTensors => {
    for (const [s, side] of sides.entries()) energies[s]![told] = energyOf(side(reference));
    told++;
    return reference;
  };
  const models = [known?.map(({ row }) => row) ?? (await rows(own))];
  for (const path of candidates) {
    const candidate: OpenModel = await openModel(path, args.session, context);
    try {
      models.push(await rows(({ sample }) => outputsOf(candidate, sample)));
    } finally {
      await candidate.release();
    }
  }
  return sides.map((_, s) => ({ scores: models.map((each) => each[s]!), energies: energies[s]! }));
}

/** What answers depend on; null for a file that is not there, which is for loading to say. */
function keyOf(path: string, { data, part, session, answers, metric, apart }: Args): string | null {
  const file = statSync(path, { throwIfNoEntry: false });
  return file ? JSON.stringify([path, file.size, file.mtimeMs, data, part, session, answers, metric, apart]) : null;
}

function keep(key: string, answers: Answers): void {
  known.set(key, answers);
  let bytes = [...known.values()].reduce((sum, each) => sum + each.bytes, 0);
  for (const [oldest, each] of known) {
    if (bytes <= KEPT_BYTES) return;
    known.delete(oldest);
    bytes -= each.bytes;
  }
}

/** Elements count as floats do. */
const sizeOf = ({ sample, reference }: Answered): number =>
  4 * [...sample.feeds.values(), ...Object.values(reference)].reduce((sum, { dims }) => sum + elementCount(dims), 0);

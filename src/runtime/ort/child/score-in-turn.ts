/**
 * Scores candidates one after the other on the same few samples. What the baseline answers is
 * kept, as far as there is room, so that it runs once for all of them, and for the jobs that
 * ask for the same next: then it is not even loaded.
 */
import { statSync } from "node:fs";
import type { Sample } from "../../../dataset/index.js";
import { isFloat } from "../../../ir/index.js";
import { energyOf, type Metric, type NamedTensors } from "../../../metric/index.js";
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
  /** What the baseline scores against itself. */
  readonly row: Float64Array;
  /** Of its answers. */
  readonly energies: Float64Array;
}

interface Scored {
  readonly scores: readonly Float64Array[];
  readonly energies: Float64Array;
}

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
    const scored = await scoreAll(candidates, before.all.length, () => before.all, before, args, metric, context);
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
    const { energies, scores } = scored;
    if (key !== null && kept.length === part.count) keep(key, { all: kept, bytes, row: scores[0]!, energies });
    return resultOf(scored, args, metric);
  } finally {
    await baseline?.release();
  }
}

const resultOf = (
  { scores, energies }: Scored,
  { withEnergies = false }: Args,
  { name, higherIsBetter }: Metric,
): Jobs["score"]["result"] => ({
  metric: { name, higherIsBetter },
  scores,
  usedReference: true,
  ...(withEnergies && { energies }),
});

/** A row for the baseline, where it is not `known`, and one for each candidate. */
async function scoreAll(
  candidates: readonly string[],
  count: number,
  answered: () => AsyncIterable<Answered> | Iterable<Answered>,
  known: Pick<Answers, "row" | "energies"> | null,
  { session }: Args,
  metric: Metric,
  context: JobContext,
): Promise<Scored> {
  const total = count * (candidates.length + (known ? 0 : 1));
  let done = 0;
  const row = async (answer: (known: Answered) => NamedTensors | Promise<NamedTensors>): Promise<Float64Array> => {
    const scores = new Float64Array(count);
    let i = 0;
    for await (const each of answered()) {
      const { labels, facts } = forMetric(each.sample);
      scores[i++] = await metric.score(await answer(each), labels, facts, each.reference);
      context.progress(++done, total);
    }
    return scores;
  };
  const energies = known?.energies ?? new Float64Array(count);
  let told = 0;
  const own = ({ reference }: Answered): NamedTensors => {
    energies[told++] = energyOf(reference);
    return reference;
  };
  const scores = [known?.row ?? (await row(own))];
  for (const path of candidates) {
    const candidate: OpenModel = await openModel(path, session, context);
    try {
      scores.push(await row(({ sample }) => outputsOf(candidate, sample)));
    } finally {
      await candidate.release();
    }
  }
  return { scores, energies };
}

/** What answers depend on; null for a file that is not there, which is for loading to say. */
function keyOf(path: string, { data, part, session, answers, metric }: Args): string | null {
  const file = statSync(path, { throwIfNoEntry: false });
  return file ? JSON.stringify([path, file.size, file.mtimeMs, data, part, session, answers, metric]) : null;
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
  4 *
  [...sample.feeds.values(), ...Object.values(reference)].reduce(
    (sum, { dims }) => sum + dims.reduce((product, dim) => product * Number(dim), 1),
    0,
  );

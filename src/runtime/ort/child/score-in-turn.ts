/**
 * Scores candidates one after the other on the same few samples. What the baseline answers is
 * kept from the first candidate on, as far as there is room, so that it runs once for all of them.
 */
import type { Sample } from "../../../dataset/index.js";
import type { Metric, NamedTensors } from "../../../metric/index.js";
import type { JobContext, Jobs } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { openPart } from "./samples.js";
import { forMetric, outputsOf } from "./scored-sample.js";
import { openModel } from "./session.js";

/** Of inputs and outputs together. */
const KEPT_BYTES = 64 << 20;

type Args = Jobs["score"]["args"];

interface Answered {
  readonly sample: Sample;
  readonly reference: NamedTensors;
}

export async function scoreInTurn(args: Args, metric: Metric, context: JobContext): Promise<Jobs["score"]["result"]> {
  const [first, ...candidates] = args.models;
  const baseline = await openModel(first!, args.session, context);
  try {
    const part = await openPart(args.data, baseline.signature.inputs, args.part);
    const kept: Answered[] = [];
    let room = KEPT_BYTES;
    const collect = betweenSamples();
    async function* answered(): AsyncIterable<Answered> {
      yield* kept;
      // Samples come in the order of the dataset, so those that were kept are the first.
      let i = 0;
      if (kept.length === part.count) return;
      for await (const sample of part.samples()) {
        if (i++ < kept.length) continue;
        const answer = { sample, reference: await outputsOf(baseline, sample) };
        room -= sizeOf(answer);
        if (room >= 0) kept.push(answer);
        yield answer;
        collect();
      }
    }
    const total = part.count * (candidates.length + 1);
    let done = 0;
    const row = async (answer: (known: Answered) => Promise<NamedTensors>): Promise<Float64Array> => {
      const scores = new Float64Array(part.count);
      let i = 0;
      for await (const known of answered()) {
        const { labels, facts } = forMetric(known.sample);
        scores[i++] = await metric.score(await answer(known), labels, facts, known.reference);
        context.progress(++done, total);
      }
      return scores;
    };
    const scores = [await row(async ({ reference }) => reference)];
    for (const path of candidates) {
      const candidate = await openModel(path, args.session, context);
      try {
        scores.push(await row(({ sample }) => outputsOf(candidate, sample)));
      } finally {
        await candidate.release();
      }
    }
    return { metric: { name: metric.name, higherIsBetter: metric.higherIsBetter }, scores, usedReference: true };
  } finally {
    await baseline.release();
  }
}

/** Elements count as floats do. */
const sizeOf = ({ sample, reference }: Answered): number =>
  4 *
  [...sample.feeds.values(), ...Object.values(reference)].reduce(
    (sum, { dims }) => sum + dims.reduce((product, dim) => product * Number(dim), 1),
    0,
  );

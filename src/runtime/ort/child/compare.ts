/** Runs two models on the same samples and adds up how their outputs differ. */
import { referencesOf, type Sample } from "../../../dataset/index.js";
import type { Tensors } from "../../port.js";
import { modelBytes } from "../model-bytes.js";
import type { JobContext, JobHandler, Jobs } from "../protocol.js";
import { BaselineMemory, type Ports } from "./baseline-memory.js";
import { betweenSamples } from "./collect-garbage.js";
import { DifferenceSum } from "./output-difference.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel, toTensors } from "./session.js";
import { signatureOfFile } from "./signature.js";

/** Two models that weigh more than this together are not loaded at the same time. */
const BOTH_BYTES = 32 * 2 ** 20;
/** Baseline outputs held while models take turns, where nobody says. */
const HELD_BYTES = 256 * 2 ** 20;

type Args = Jobs["compare"]["args"];

export const compare: JobHandler<"compare"> = async (args, context) => {
  const takeTurns = modelBytes(args.baseline) + modelBytes(args.candidate) > BOTH_BYTES;
  const isLean = takeTurns || isSoonDone(args);
  const baseline = new Turn(args.baseline, args, context, isLean);
  const candidateArgs = { ...args, session: args.candidateSession ?? args.session };
  const candidate = new Turn(args.candidate, candidateArgs, context, isLean);
  const memory = BaselineMemory.of(args);
  baseline.slowestMs = memory?.slowestMs ?? 0;
  try {
    const first: Ports = args.withReferences
      ? declaredPorts(args.baseline)
      : (memory?.ports ?? (await baseline.timed(() => baseline.open())));
    if (memory) memory.ports = { signature: first.signature, readable: first.readable };
    const part = await openPart(args.data, first.signature.inputs);
    const reader = new Comparison(first, args);
    const collect = betweenSamples();
    let held: { sample: Sample; outputs: Tensors }[] = [];
    let heldBytes = 0;
    let done = 0;
    const { patience } = args;
    const hurry = (): void => {
      if (patience) context.due(patience.leastMs + patience.factor * baseline.slowestMs);
    };
    const compareHeld = async (): Promise<void> => {
      if (takeTurns) await baseline.release();
      hurry();
      const second = await candidate.open();
      for (const { sample, outputs } of held) {
        hurry();
        await reader.add(second, sample, outputs);
        context.progress(++done, part.count);
      }
      if (takeTurns) await candidate.release();
      held = [];
      heldBytes = 0;
      collect();
    };

    context.progress(0, part.count);
    let at = -1;
    for await (const sample of part.samples()) {
      const run = () => baseline.timed(async () => outputsOf(await baseline.open(), sample, reader.wanted));
      const outputs = args.withReferences
        ? referencesOf(sample, first.signature.outputs)
        : (memory?.outputs(++at) ?? (await run()));
      memory?.keep(at, outputs);
      held.push({ sample, outputs });
      for (const tensor of outputs.values()) heldBytes += tensor.byteLength;
      if (!takeTurns || heldBytes > (args.heldBytes ?? HELD_BYTES)) await compareHeld();
      else context.progress(done, part.count);
    }
    if (memory) memory.slowestMs = baseline.slowestMs;
    if (held.length > 0) await compareHeld();
    return reader.results();
  } finally {
    await baseline.release();
    await candidate.release();
  }
};

/** Of a model that is not loaded. */
function declaredPorts(path: string): Ports {
  const signature = signatureOfFile(path);
  return { signature, readable: signature.outputs.map(({ name }) => name) };
}

/** Weights that are not packed save time for so many samples; from then on each run costs more, of integers many times as much. */
const FEW_SAMPLES = 12;

const isSoonDone = ({ data: { random, indices } }: Args): boolean =>
  random !== undefined || (indices !== undefined && indices.length <= FEW_SAMPLES);

/** A model that is loaded when needed and may be released in between. */
class Turn {
  #model: OpenModel | null = null;
  /** The longest that opening it, or one run, has taken. */
  slowestMs = 0;

  constructor(
    readonly path: string,
    readonly args: Args,
    readonly context: JobContext,
    readonly isLean: boolean,
  ) {}

  async open(): Promise<OpenModel> {
    return (this.#model ??= await openModel(this.path, this.args.session, this.context, { isLean: this.isLean }));
  }

  async timed<T>(work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await work();
    this.slowestMs = Math.max(this.slowestMs, performance.now() - start);
    return result;
  }

  async release(): Promise<void> {
    const model = this.#model;
    this.#model = null;
    await model?.release();
  }
}

/** How the outputs of two models differ, over samples. */
export class Comparison {
  readonly #pairs: readonly { readonly old: string; readonly now: string; readonly sum: DifferenceSum }[];
  /** Outputs of the baseline that are compared and can be read. */
  readonly wanted: readonly string[];

  constructor(baseline: Ports, { pairs, isDetailed }: Pick<Args, "pairs" | "isDetailed"> = {}) {
    const asked = pairs ?? baseline.signature.outputs.map(({ name }) => [name, name] as const);
    this.#pairs = asked.map(([old, now]) => ({ old, now, sum: new DifferenceSum(old, isDetailed) }));
    for (const { old, sum } of this.#pairs) refuseUnreadable(sum, baseline, old, "baseline");
    this.wanted = baseline.readable.filter((name) => this.#pairs.some(({ old }) => old === name));
  }

  async add(candidate: OpenModel, sample: Sample, outputs: Tensors): Promise<void> {
    const wanted = candidate.readable.filter((name) => this.#pairs.some(({ now }) => now === name));
    this.addOutputs(candidate, outputs, await outputsOf(candidate, sample, wanted), sample.id);
  }

  /** `where` is the sample's id. */
  addOutputs(candidate: Ports, outputs: Tensors, changed: Tensors, where: string): void {
    for (const { old, now, sum } of this.#pairs) {
      refuseUnreadable(sum, candidate, now, "candidate");
      const before = outputs.get(old);
      const after = changed.get(now);
      if (before && after) sum.add(before, after, where);
    }
  }

  results() {
    return this.#pairs.map(({ sum }) => sum.result());
  }
}

function refuseUnreadable(sum: DifferenceSum, model: Ports, name: string, who: string): void {
  if (model.readable.includes(name)) return;
  const port = model.signature.outputs.find((output) => output.name === name);
  sum.refuse(port ? `"${name}" of the ${who} is no tensor that can be read` : `the ${who} has no output "${name}"`);
}

async function outputsOf(model: OpenModel, sample: Sample, wanted: readonly string[]): Promise<Tensors> {
  if (wanted.length === 0) return new Map();
  const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
  return toTensors(await model.run(feeds, wanted, sample.id));
}

import { availableParallelism } from "node:os";
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { collectGarbage } from "../../../base/collect-garbage.js";
import { InferOptError } from "../../../base/errors.js";
import { isFloat } from "../../../ir/index.js";
import type { JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { type ObservedTensors, Observer, type ObservingTask, wantedAt } from "./observer.js";
import { ObserverInThread } from "./observer-in-thread.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel, type Results } from "./session.js";

type Feeds = Parameters<OpenModel["run"]>[0];

/** Outputs go to the same memory again, or to another thread: what piles up are inputs. */
const INPUT_BYTES = 4 * 2 ** 20;

/**
 * Less than this is looked at sooner than a thread has started. It holds 25 MB, as much as a process that runs a small model for
 * a few samples has to spare: memory is not to grow with their number, so that more of them are no reason for a thread.
 */
const THREAD_BYTES = 64 * 2 ** 20;
const COUNTED_SAMPLES = 10;

/** @param heldBytes of activations of a sample */
export const isWorthThread = (heldBytes: number, count: number): boolean =>
  heldBytes * Math.min(count, COUNTED_SAMPLES) >= THREAD_BYTES;

/** Statistics of outputs over samples; only they cross, so the size of the data does not matter. */
export const observe: JobHandler<"observe"> = async (args, context) => {
  const { part, taps, keep, heldBytes = 0 } = args;
  const task: ObservingTask = { taps, part: part.index, ...(keep && { keep }) };
  const model = await openModel(args.model, args.session, context, { isWithoutArena: true });
  let observer: ObserverInThread | Observer | null = null;
  let runner: TapRunner | null = null;
  try {
    refuseUnknownTaps(model, taps);
    const { from, count, samples } = await openPart(args.data, model.signature.inputs, part);
    // Parts have a process each, and together all cores there are.
    const isShared = part.of === 1 && availableParallelism() > 1 && isWorthThread(heldBytes, count);
    observer = isShared ? new ObserverInThread(task) : new Observer(task);
    runner = new TapRunner(model, !isShared);
    const wanted = wantedAt(task);
    const collect = betweenSamples(INPUT_BYTES);
    let done = 0;
    context.progress(done, count);
    for await (const sample of samples()) {
      const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
      const position = from + done;
      const tensors = await runner.run(feeds, wanted(position), sample.id);
      await observer.add({ id: sample.id, position, tensors });
      collect();
      context.progress(++done, count);
    }
    return await observer.finish();
  } finally {
    if (observer instanceof ObserverInThread) await observer.close();
    await model.release();
    // What was tapped is as large as all activations, and would be in the way of the next job.
    runner?.drop();
    collectGarbage();
  }
};

/**
 * Runs samples into the same memory as long as their inputs have the same shapes: what comes out is as
 * large as all activations of the model, and taking new pages for it each time costs a tenth of the run.
 */
class TapRunner {
  /** Inputs are at hand; the runtime hands them on, and does not write them to memory that it is given. */
  readonly #inputs: ReadonlySet<string>;
  /** By what is wanted of a sample. */
  readonly #held = new Map<readonly string[], Held>();
  #isReusable: boolean;

  /** `isReusable`: what comes back is gone by the next run, and need not be kept apart for that. */
  constructor(
    readonly model: OpenModel,
    isReusable: boolean,
  ) {
    this.#inputs = new Set(model.signature.inputs.map(({ name }) => name));
    this.#isReusable = isReusable;
  }

  /** All that is wanted: the same list each time that the same is. */
  async run(feeds: Feeds, wanted: readonly string[], where: string): Promise<ObservedTensors> {
    const isInput = (name: string): boolean => this.#inputs.has(name);
    const isComputed = !wanted.every(isInput);
    const computed = isComputed ? await this.#compute(feeds, wanted, where) : new Map<string, OrtTensor>();
    const held = this.#held.get(wanted)?.outputs ?? {};
    const given = wanted.filter(isInput).map((name) => [name, feeds[name]!] as const);
    return new Map(
      [...computed, ...given].map(([name, { type, dims, data }]) => {
        const isLent = !computed.has(name) || held[name]?.data === data;
        return [name, { type, dims, data, isLent }];
      }),
    );
  }

  /** Lets go of the memory that results were written to. */
  drop(): void {
    this.#held.clear();
  }

  async #compute(feeds: Feeds, wanted: readonly string[], where: string): Promise<Results> {
    const shapes = Object.entries(feeds)
      .map(([name, { dims }]) => `${name}[${dims}]`)
      .join();
    const held = this.#held.get(wanted);
    if (held?.shapes === shapes) {
      try {
        // What comes back is a copy.
        return await this.model.run(feeds, held.outputs, where);
      } catch (thrown) {
        if (!(thrown instanceof InferOptError)) throw thrown;
        // An output's shape may depend on values: then there is no memory to keep. What else went wrong shows again.
        this.#isReusable = false;
      }
    }
    this.#held.delete(wanted);
    const names = wanted.filter((name) => !this.#inputs.has(name));
    const results = await this.model.run(feeds, names, where);
    if (this.#isReusable) this.#held.set(wanted, { shapes, outputs: Object.fromEntries(results) });
    return results;
  }
}

/** Memory that outputs are written to, for inputs of these shapes. */
interface Held {
  readonly shapes: string;
  readonly outputs: Readonly<Record<string, OrtTensor>>;
}

function refuseUnknownTaps({ path, signature, readable }: OpenModel, taps: readonly string[]): void {
  for (const tap of taps) {
    const output = signature.outputs.find(({ name }) => name === tap);
    if (output && isFloat(output.dtype) && readable.includes(tap)) continue;
    const what = output ? `is of type ${output.dtype ?? "unknown"}, not a float tensor` : "is no output";
    throw new InferOptError("TAP_INVALID", "input", `"${tap}" of ${path} ${what}`, {
      hint: "Only float tensors that are outputs of the model can be observed.",
      fields: { tap, model: path },
    });
  }
}

import { availableParallelism } from "node:os";
import type { Tensor as OrtTensor } from "onnxruntime-node";
import { collectGarbage } from "../../../base/collect-garbage.js";
import { InferOptError } from "../../../base/errors.js";
import { isFloat } from "../../../ir/index.js";
import type { JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { type ObservedTensors, Observer, type ObservingTask, wantedBy } from "./observer.js";
import { ObserverInThread } from "./observer-in-thread.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel, type Results } from "./session.js";

type Feeds = Parameters<OpenModel["run"]>[0];

/** Outputs go to the same memory again, or to another thread: what piles up are inputs. */
const INPUT_BYTES = 4 * 2 ** 20;

/** Less than this is looked at sooner than a thread has started. */
const THREAD_BYTES = 64 * 2 ** 20;

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
    const isShared = part.of === 1 && availableParallelism() > 1 && heldBytes * count >= THREAD_BYTES;
    observer = isShared ? new ObserverInThread(task) : new Observer(task);
    runner = new TapRunner(model, wantedBy(task), !isShared);
    const collect = betweenSamples(INPUT_BYTES);
    let done = 0;
    context.progress(done, count);
    for await (const sample of samples()) {
      const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
      await observer.add({ id: sample.id, position: from + done, tensors: await runner.run(feeds, sample.id) });
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
  readonly #inputs: readonly string[];
  readonly #names: readonly string[];
  #held: { readonly shapes: string; readonly outputs: Readonly<Record<string, OrtTensor>> } | null = null;
  #isReusable: boolean;

  /** `isReusable`: what comes back is gone by the next run, and need not be kept apart for that. */
  constructor(
    readonly model: OpenModel,
    wanted: readonly string[],
    isReusable: boolean,
  ) {
    this.#isReusable = isReusable;
    const inputs = new Set(model.signature.inputs.map(({ name }) => name));
    this.#inputs = wanted.filter((name) => inputs.has(name));
    this.#names = wanted.filter((name) => !inputs.has(name));
  }

  /** All that is wanted. */
  async run(feeds: Feeds, where: string): Promise<ObservedTensors> {
    const computed = this.#names.length > 0 ? await this.#compute(feeds, where) : new Map<string, OrtTensor>();
    const held = this.#held?.outputs ?? {};
    const results = [...computed, ...this.#inputs.map((name) => [name, feeds[name]!] as const)];
    return new Map(
      results.map(([name, { type, dims, data }]) => {
        const isLent = !computed.has(name) || held[name]?.data === data;
        return [name, { type, dims, data, isLent }];
      }),
    );
  }

  /** Lets go of the memory that results were written to. */
  drop(): void {
    this.#held = null;
  }

  async #compute(feeds: Feeds, where: string): Promise<Results> {
    const shapes = Object.entries(feeds)
      .map(([name, { dims }]) => `${name}[${dims}]`)
      .join();
    if (this.#held?.shapes === shapes) {
      try {
        // What comes back is a copy.
        return await this.model.run(feeds, this.#held.outputs, where);
      } catch (thrown) {
        if (!(thrown instanceof InferOptError)) throw thrown;
        // An output's shape may depend on values: then there is no memory to keep. What else went wrong shows again.
        this.#isReusable = false;
      }
    }
    this.#held = null;
    const results = await this.model.run(feeds, this.#names, where);
    if (this.#isReusable) this.#held = { shapes, outputs: Object.fromEntries(results) };
    return results;
  }
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

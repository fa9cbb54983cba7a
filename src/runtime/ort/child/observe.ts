import type { Tensor as OrtTensor } from "onnxruntime-node";
import { collectGarbage } from "../../../base/collect-garbage.js";
import { InferOptError } from "../../../base/errors.js";
import { isFloat } from "../../../ir/index.js";
import { newTap, observeTensor, type TapStatistics } from "../../../observe/index.js";
import type { JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { SampleKeeper } from "./kept-samples.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel, type Results } from "./session.js";
import { fromOrtTensor } from "./tensors.js";

type Feeds = Parameters<OpenModel["run"]>[0];

/** Outputs go to the same memory again: what piles up are inputs. */
const INPUT_BYTES = 4 * 2 ** 20;

/** Statistics of outputs over samples; only they cross, so the size of the data does not matter. */
export const observe: JobHandler<"observe"> = async (args, context) => {
  const model = await openModel(args.model, args.session, context, { isWithoutArena: true });
  const taps = args.taps.map(newTap);
  const part = args.part;
  const keeper = args.keep ? new SampleKeeper(args.keep, part.index) : null;
  const reader = new TapReader(model, taps, keeper);
  try {
    refuseUnknownTaps(model, args.taps);
    const { from, count, samples } = await openPart(args.data, model.signature.inputs, part);
    const collect = betweenSamples(INPUT_BYTES);
    let done = 0;
    context.progress(done, count);
    for await (const sample of samples()) {
      const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
      await reader.add(feeds, sample.id, from + done);
      collect();
      context.progress(++done, count);
    }
    keeper?.finish();
    return taps;
  } finally {
    await model.release();
    // What was tapped is as large as all activations, and would be in the way of the next job.
    reader.drop();
    collectGarbage();
  }
};

/**
 * Runs samples into the same memory as long as their inputs have the same shapes: what comes out is as
 * large as all activations of the model, and taking new pages for it each time costs a tenth of the run.
 */
class TapReader {
  readonly #names: readonly string[];
  #held: { readonly shapes: string; readonly outputs: Readonly<Record<string, OrtTensor>> } | null = null;
  #isReusable = true;

  constructor(
    readonly model: OpenModel,
    readonly taps: readonly TapStatistics[],
    readonly keeper: SampleKeeper | null,
  ) {
    const inputs = new Set(model.signature.inputs.map(({ name }) => name));
    const wanted = new Set([...taps.map(({ name }) => name), ...(keeper?.outputs ?? [])]);
    this.#names = [...wanted].filter((name) => !inputs.has(name));
  }

  /** Nothing of what was seen outlives the call but memory for the next one. */
  async add(feeds: Feeds, where: string, position: number): Promise<void> {
    const computed = this.#names.length > 0 ? await this.#run(feeds, where) : new Map();
    // Inputs are at hand; the runtime hands them on, and does not write them to memory that it is given.
    const results = new Map([...computed, ...Object.entries(feeds)]);
    for (const tap of this.taps) observeTensor(tap, fromOrtTensor(tap.name, results.get(tap.name)!).toF32()!);
    this.keeper?.add(where, position, results);
  }

  /** Lets go of the memory that results were written to. */
  drop(): void {
    this.#held = null;
  }

  async #run(feeds: Feeds, where: string): Promise<Results> {
    const shapes = Object.entries(feeds)
      .map(([name, { dims }]) => `${name}[${dims}]`)
      .join();
    if (this.#held?.shapes === shapes) {
      try {
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

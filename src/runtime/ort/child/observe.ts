import { InferOptError } from "../../../base/errors.js";
import { isFloat } from "../../../ir/index.js";
import { newTap, observeTensor, type TapStatistics } from "../../../observe/index.js";
import type { JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel } from "./session.js";
import { fromOrtTensor } from "./tensors.js";

/** Statistics of outputs over samples; only they cross, so the size of the data does not matter. */
export const observe: JobHandler<"observe"> = async (args, context) => {
  const model = await openModel(args.model, args.session, context);
  try {
    refuseUnknownTaps(model, args.taps);
    const part = await openPart(args.data, model.signature.inputs, args.part);
    const collect = betweenSamples();
    const taps = args.taps.map(newTap);
    let done = 0;
    context.progress(done, part.count);
    for await (const sample of part.samples()) {
      const feeds = model.feeds(feedsOf(sample, model.signature.inputs));
      await observeSample(model, feeds, taps, sample.id);
      collect();
      context.progress(++done, part.count);
    }
    return taps;
  } finally {
    await model.release();
  }
};

/** A function of its own, so that its results are garbage when it returns. */
async function observeSample(
  model: OpenModel,
  feeds: Parameters<OpenModel["run"]>[0],
  taps: readonly TapStatistics[],
  where: string,
): Promise<void> {
  const names = taps.map(({ name }) => name);
  const results = await model.run(feeds, names, where);
  for (const tap of taps) {
    observeTensor(tap, fromOrtTensor(tap.name, results.get(tap.name)!).toF32()!);
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

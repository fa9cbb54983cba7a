/**
 * Runs a part of a model over all samples: what it reads was kept by the part before, what the next one reads is kept
 * in files, and what the graph has made small is summed. No sample is computed twice from the beginning, and none is
 * held in memory for longer than its turn.
 */
import { InferOptError, invariant } from "../../../base/errors.js";
import { type Dataset, openDatasetRef, openStore, SampleStore } from "../../../dataset/index.js";
import type { Tensor } from "../../../ir/index.js";
import type { Sums } from "../../port.js";
import type { JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { feedsOf } from "./samples.js";
import { openModel } from "./session.js";
import { fromOrtTensor } from "./tensors.js";

export const advance: JobHandler<"advance"> = async (args, context) => {
  const { data, known, kept, sums, heldOut } = args;
  const model = await openModel(args.model, args.session, context);
  const own = model.signature.inputs.filter(({ name }) => !known.has(name));
  const stores = new Map([...kept].map(([name, path]) => [name, new SampleStore(path, Number.POSITIVE_INFINITY)]));
  const earlier = [...known].map(([name, path]) => [name, keptTensors(path)] as const);
  try {
    const dataset = await openDatasetRef(data, own);
    const { count } = dataset;
    const [fitted, others] = [new Map<string, Float64Array>(), new Map<string, Float64Array>()];
    const collect = betweenSamples();
    let done = 0;
    for await (const sample of dataset.samples()) {
      const tensors = new Map(feedsOf(sample, own));
      for (const [name, values] of earlier) tensors.set(name, await nextOf(values, name));
      const results = await model.run(model.feeds(tensors), [...kept.keys(), ...sums], sample.id);
      for (const [name, store] of stores) {
        store.add({ id: sample.id, feeds: new Map([[name, fromOrtTensor(name, results.get(name)!)]]), labels: null });
      }
      const totals = done < count - heldOut ? fitted : others;
      for (const name of sums) addTo(totals, name, fromOrtTensor(name, results.get(name)!).toF32()!);
      collect();
      context.progress(++done, count);
    }
    for (const store of stores.values()) finish(store, done);
    return { fitted, heldOut: others } satisfies Sums;
  } finally {
    for (const [, values] of earlier) await values.return(undefined);
    await model.release();
  }
};

/** The tensors of one value, sample by sample. */
async function* keptTensors(path: string): AsyncGenerator<Tensor, void, undefined> {
  const rest = (): Promise<Dataset> => Promise.reject(new Error(`internal: ${path} holds every sample`));
  for await (const { feeds } of openStore(path, path, rest).samples()) yield feeds.values().next().value!;
}

async function nextOf(values: AsyncGenerator<Tensor, void, undefined>, name: string): Promise<Tensor> {
  const { value } = await values.next();
  invariant(value, `a tensor of ${name} was kept for every sample`);
  return value;
}

function finish(store: SampleStore, count: number): void {
  if (store.size === count) {
    store.finish({ count, hasLabels: false });
    return;
  }
  throw new InferOptError(
    "SCRATCH_FAILED",
    "runtime",
    `no room for the activations of ${count} samples: ${store.path}`,
    {
      hint: "Set INFER_OPT_TMP to a folder on a disk with more room, or give fewer samples.",
      fields: { path: store.path },
    },
  );
}

function addTo(totals: Map<string, Float64Array>, name: string, values: Float32Array): void {
  const total = totals.get(name);
  if (!total) {
    totals.set(name, Float64Array.from(values));
    return;
  }
  invariant(total.length === values.length, `"${name}" keeps its size from sample to sample`);
  for (let i = 0; i < total.length; i++) total[i]! += values[i]!;
}

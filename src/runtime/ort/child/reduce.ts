import { invariant } from "../../../base/errors.js";
import type { Tensor } from "../../../ir/index.js";
import type { Reduction } from "../../port.js";
import type { JobHandler } from "../protocol.js";
import { betweenSamples } from "./collect-garbage.js";
import { keptAnswers } from "./kept-samples.js";
import { feedsOf, openPart } from "./samples.js";
import { type OpenModel, openModel } from "./session.js";
import { fromOrtTensor } from "./tensors.js";

const combine: Readonly<Record<Exclude<Reduction, "sum" | "list">, (a: number, b: number) => number>> = {
  min: Math.min,
  max: Math.max,
};

/** Outputs of all samples combined element by element; the graph has made them small. */
export const reduce: JobHandler<"reduce"> = async (args, context) => {
  const model = await openModel(args.model, args.session, context);
  try {
    const answers = args.answers ? keptAnswers(args.answers.path) : null;
    const known = args.answers?.inputs ?? new Map<string, string>();
    const own = model.signature.inputs.filter(({ name }) => !known.has(name));
    const part = await openPart(args.data, own);
    const collect = betweenSamples();
    const totals = new Map<string, Float64Array>();
    const lists = new Map<string, Float64Array[]>();
    let done = 0;
    for await (const sample of part.samples()) {
      context.progress(++done, part.count);
      const given = answers ? answers.of(sample.id, known.values()) : new Map<string, Tensor>();
      if (!given) continue;
      const tensors = new Map(feedsOf(sample, own));
      for (const [input, name] of known) tensors.set(input, given.get(name)!);
      await addSample(model, model.feeds(tensors), args.outputs, totals, lists, sample.id);
      collect();
    }
    for (const [name, values] of lists) totals.set(name, joined(values));
    return totals;
  } finally {
    await model.release();
  }
};

/** A function of its own, so that its results are garbage when it returns. */
async function addSample(
  model: OpenModel,
  feeds: Parameters<OpenModel["run"]>[0],
  outputs: ReadonlyMap<string, Reduction>,
  totals: Map<string, Float64Array>,
  lists: Map<string, Float64Array[]>,
  where: string,
): Promise<void> {
  const results = await model.run(feeds, [...outputs.keys()], where);
  for (const [name, reduction] of outputs) {
    const values = fromOrtTensor(name, results.get(name)!).toF32()!;
    if (reduction === "list") {
      lists.set(name, [...(lists.get(name) ?? []), Float64Array.from(values)]);
      continue;
    }
    const total = totals.get(name);
    if (!total) {
      totals.set(name, Float64Array.from(values));
      continue;
    }
    invariant(total.length === values.length, `"${name}" of ${model.path} keeps its size from sample to sample`);
    if (reduction === "sum") {
      for (let i = 0; i < total.length; i++) total[i]! += values[i]!;
      continue;
    }
    const step = combine[reduction];
    for (let i = 0; i < total.length; i++) total[i] = step(total[i]!, values[i]!);
  }
}

function joined(lists: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

/** Looks at a few samples' activations channel by channel and row by row, for products that find their scales at run time. */
import { conform, type DatasetRef, neededInputsOf, openDatasetRef } from "../../dataset/index.js";
import type { Model, Node } from "../../ir/index.js";
import { ChannelObserver, type ChannelStatistics } from "../../quantization/channel-observer.js";
import { tunedActivations } from "../../quantization/tune-dynamic.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asWritten, linkedFile, removeLinked, untimed } from "../model-runs.js";
import { groupTaps } from "../tap-groups.js";
import { writeTapModel } from "./write-taps.js";

/** What channels are like shows soon. */
const SAMPLES = 8;

export interface ChannelRequest {
  readonly prepared: string;
  /** The same, loaded. */
  readonly model: Model;
  readonly data: DatasetRef;
  readonly runtime: RuntimeConfig;
  /** Nodes whose activations are of interest. */
  readonly takes: (node: Node) => boolean;
}

/** By value label. Activations that held NaN or infinities are left out. */
export async function observeChannels(
  { prepared, model, data, runtime, takes }: ChannelRequest,
  context: RunContext,
): Promise<ReadonlyMap<string, ChannelStatistics>> {
  const observers = new Map<string, ChannelObserver>();
  for (const [value, channels] of tunedActivations(model, takes)) {
    observers.set(value.label, new ChannelObserver(channels));
  }
  const groups = observers.size === 0 ? [] : await groupTaps(prepared, [...observers.keys()], data, runtime, context);
  const inputs = neededInputsOf(model.graph);
  for (const { labels } of groups) {
    const path = linkedFile(context, "channels");
    const taps = writeTapModel(prepared, labels, path);
    try {
      const dataset = await openDatasetRef(data, inputs);
      const indices = Array.from({ length: Math.min(SAMPLES, dataset.count) }, (_, i) => i);
      for await (const sample of dataset.samples(indices)) {
        const { feeds } = conform(sample, inputs);
        const seen = await context.runtime.run(path, feeds, { ...untimed(runtime, asWritten), provider: "cpu" });
        for (const [label, name] of taps) observers.get(label)!.see(seen.get(name)!);
      }
    } finally {
      removeLinked(path);
    }
  }
  const known = [...observers].map(([label, observer]) => [label, observer.statistics()] as const);
  return new Map(known.flatMap(([label, statistics]) => (statistics ? [[label, statistics]] : [])));
}

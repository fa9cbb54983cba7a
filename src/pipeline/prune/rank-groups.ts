/**
 * Which units of each group matter least, and what is missed without them: from what comes in to those who read them
 * in the original, on the samples that are fitted.
 */
import { setImmediate } from "node:timers/promises";
import { linkModel, type Value } from "../../ir/index.js";
import { type Reader, type Removal, removalOrder } from "../../pruning/choose/removal-order.js";
import { smallestFirst } from "../../pruning/choose/smallest-first.js";
import { trialWeights } from "../../pruning/choose/trial-weights.js";
import type { Widths } from "../../pruning/choose/widths.js";
import type { ChannelGroup, ChannelMap, GroupConsumer } from "../../pruning/groups/channel-group.js";
import { type LinearLayer, linearLayer, readLinear, writeLinear } from "../../pruning/refit/linear-layers.js";
import { momentsOf, tapMoments } from "../../pruning/refit/moment-taps.js";
import { areNumbers, centred, outputVariance } from "../../pruning/refit/moments.js";
import type { Segment } from "../../pruning/refit/segment.js";
import { sliceChannels } from "../../pruning/slice/slice-channels.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { linkedFile } from "../model-runs.js";
import { refuseInterrupted } from "../run-record.js";
import { NetWalk } from "./net-walk.js";
import { paddingMask } from "./padding-mask.js";
import { type FitSamples, MOST_SUM_BYTES, maskFor, sumBytes } from "./refit-net.js";
import { rowStep } from "./row-step.js";
import type { SampleSizes } from "./sample-sizes.js";

export interface RankRequest {
  readonly map: ChannelMap;
  readonly groups: readonly ChannelGroup[];
  readonly samples: FitSamples;
  readonly sizes: SampleSizes;
  readonly runtime: RuntimeConfig;
  /** Widths that are wanted. With null others are looked for, and a net for each group says what the output misses without half of it. */
  readonly given: Widths | null;
  /** Whether so much of the time has gone that what is left has to do for the rest of the run. */
  readonly isOver: () => boolean;
  /** Of layers that read what may be narrowed. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Readers with more inputs are not looked into: their inverse would take minutes. */
const MOST_INPUTS = 2500;

const layersOf = (asked: readonly Asked[]): number => asked.reduce((sum, { readers }) => sum + readers.length, 0);

interface Asked {
  readonly group: ChannelGroup;
  readonly readers: readonly {
    readonly consumer: GroupConsumer;
    readonly layer: LinearLayer;
    readonly label: string;
  }[];
}

export interface Ranked {
  /** In which order its units go, and what its readers miss then. */
  readonly removal: Removal;
  /** Null where none was asked for. */
  readonly trial: Trial | null;
  /** Whether there was time to look at its readers. */
  readonly isLooked: boolean;
}

/** The file of a net in which one group has half of its units and its readers are fitted; nothing else is changed. */
export interface Trial {
  readonly path: string;
  readonly removed: number;
}

/** For each group the order in which its units go: those of least weight first where there was no time to look at who reads them. */
export async function rankGroups(
  request: RankRequest,
  context: RunContext,
): Promise<ReadonlyMap<ChannelGroup, Ranked>> {
  const { map, groups, samples, sizes, runtime, onProgress } = request;
  const mask = paddingMask(map.model);
  const { data, heldOut } = samples;
  const walk = new NetWalk({ like: map.model, twinOf: (value) => value, data, heldOut, runtime }, context);
  const ranked = new Map<ChannelGroup, Ranked>();
  const asked = groups.map((group, i): Asked => ({ group, readers: readersOf(group, i) }));
  try {
    for (let from = 0; from < asked.length; ) {
      refuseInterrupted(context.signal);
      if (request.isOver()) break;
      const to = endOfPart(asked, from);
      const part = asked.slice(from, to);
      const tap = (segment: Segment): readonly string[] =>
        part.flatMap(({ readers }) =>
          readers.flatMap(({ layer, label }) =>
            tapMoments(segment.model, label, {
              layer,
              input: segment.value(layer.input),
              target: segment.value(layer.output),
              keptOutputs: null,
              minus: null,
              mask: maskFor(layer, layer.output, mask, sizes, segment),
              step: rowStep(sizes.get(layer.output.label) ?? null, layer, samples.fitted),
            }),
          ),
        );
      const ahead = asked
        .slice(to)
        .flatMap(({ readers }) => readers.flatMap(({ layer }): Value[] => [layer.input, layer.output]));
      const hasReaders = part.some(({ readers }) => readers.length > 0);
      const sums = hasReaders ? (await walk.step(tap, ahead)).fitted : new Map<string, Float64Array>();
      for (const each of part) {
        await setImmediate(); // word of other things gets through
        const { group } = each;
        const told = each.readers.flatMap(({ consumer, layer, label }) => readerOf(consumer, layer, label, sums) ?? []);
        const most = group.width - Math.max(1, request.given?.get(group) ?? 1);
        const removal = removalOrder(group.width, told, most) ?? smallestFirst(group);
        const trial = request.given === null ? trialOf(map, each, removal, sums, context) : null;
        ranked.set(group, { removal, trial, isLooked: true });
      }
      from = to;
      onProgress?.(layersOf(asked.slice(0, from)), layersOf(asked));
    }
    for (const each of asked) {
      if (ranked.has(each.group)) continue;
      const removal = smallestFirst(each.group);
      const trial = request.given === null ? trialOf(map, { ...each, readers: [] }, removal, new Map(), context) : null;
      ranked.set(each.group, { removal, trial, isLooked: false });
    }
  } finally {
    walk.close();
  }
  return ranked;
}

/** Consumers that mix the units in one sum, and can be looked into. */
function readersOf(group: ChannelGroup, index: number): Asked["readers"] {
  return group.consumers.flatMap((consumer, i) => {
    const layer = consumer.input === 1 ? linearLayer(consumer.node) : { reason: "" };
    if ("reason" in layer || layer.groups > 1 || layer.inputs > MOST_INPUTS) return [];
    const fits = layer.inputs === consumer.units.length * layer.places;
    return fits ? [{ consumer, layer, label: `group ${index} reader ${i}` }] : [];
  });
}

function trialOf(
  map: ChannelMap,
  { group, readers }: Asked,
  { order }: Removal,
  sums: ReadonlyMap<string, Float64Array>,
  context: RunContext,
): Trial {
  const removed = Math.floor(group.width / 2);
  const kept = order.slice(removed).sort((a, b) => a - b);
  const left = new Set(kept);
  const { model, nodeOf } = sliceChannels(map, new Map([[group, kept]]));
  for (const { consumer, layer, label } of readers) {
    const cut = linearLayer(nodeOf.get(consumer.node)!);
    if ("reason" in cut) continue;
    const inputs = Array.from({ length: layer.inputs }, (_, i) => i).filter((i) => {
      const unit = consumer.units[Math.floor(i / layer.places)]!;
      return unit < 0 || left.has(unit);
    });
    const moments = momentsOf(layer, label, sums);
    // A reader whose outputs lose units themselves has other weights by then.
    const fitted =
      cut.outputs === layer.outputs && areNumbers(moments) ? trialWeights(moments, readLinear(layer), inputs) : null;
    if (fitted) writeLinear(model, cut, fitted);
  }
  const path = linkedFile(context, "trial");
  linkModel(model, path);
  return { path, removed };
}

function endOfPart(asked: readonly Asked[], from: number): number {
  let bytes = 0;
  let to = from;
  for (; to < asked.length; to++) {
    bytes += asked[to]!.readers.reduce((sum, { layer }) => sum + sumBytes(layer), 0);
    if (to > from && bytes > MOST_SUM_BYTES) break;
  }
  return to;
}

function readerOf(
  { units }: GroupConsumer,
  layer: LinearLayer,
  label: string,
  sums: ReadonlyMap<string, Float64Array>,
): Reader | null {
  const moments = momentsOf(layer, label, sums);
  if (!areNumbers(moments) || moments.rows < 2) return null;
  const { inputs, outputs, places } = layer;
  const { weights, bias } = readLinear(layer);
  const gram = bias ? centred(moments).gram : moments.gram;
  const unitOf = Int32Array.from({ length: inputs }, (_, i) => units[Math.floor(i / places)]!);
  const variance = bias ? outputVariance(moments) : moments.outputSquares.reduce((sum, square) => sum + square, 0);
  return { inputs, outputs, gram, weights, unitOf, variance };
}

/**
 * Scales channels of a float model so that integers of 8 bits lose less of them, an exact
 * rewrite of constants: the model computes what it did, but for the rounding of float32.
 */
import { DisjointSets } from "../../base/disjoint-sets.js";
import { elementCount, type Model, Tensor, type Value } from "../../ir/index.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { removeUnreadConstants } from "../dead-constants.js";
import { activationsOf } from "../insert-qdq.js";
import type { StaticPlan } from "../plan-static.js";
import { type ChannelMap, mapChannels, readingAxis, type ScaledConstant } from "./channel-map.js";
import { type ChannelRanges, chooseScales, type Reader, type ReadTensor } from "./channel-scales.js";

/** Tensors whose channels are scaled, with the expected change of their rounding errors. */
export interface EqualizedGroup {
  /** Labels of the quantized tensors in it. */
  readonly tensors: readonly string[];
  readonly channels: number;
  /** Of the rounding noise at its readers, dB; positive is better. */
  readonly expectedDb: number;
}

/** Less is not worth touching a weight for. */
const LEAST_GAIN_DB = 0.5;

/** Quantized values with channels that may be scaled, and the axis of those. */
export function scalableValues(model: Model, plan: StaticPlan): ReadonlyMap<Value, number> {
  const map = mapChannels(model.graph);
  const axes = new Map<Value, number>();
  for (const value of activationsOf(plan)) {
    const channels = map.channels.get(value);
    if (channels && value.shape && channels.ids.some((id) => !map.isFixed(id))) axes.set(value, channels.axis);
  }
  return axes;
}

/** Values whose scales depend on each other, with what is known of them before anything has run. */
interface ScaledGroup {
  readonly values: readonly Value[];
  /** Sets of channels; a scale is numbered by its place here. */
  readonly sets: readonly number[];
  /** By value: which scale each of its channels has. */
  readonly scaleOf: ReadonlyMap<Value, readonly number[]>;
  readonly readers: readonly ReaderOf[];
}

/** A reader, with the value that it reads in the place of what is known of that. */
interface ReaderOf extends Omit<Reader, "tensor"> {
  readonly value: Value;
}

/** Chooses scales once channels were observed, and works them into the weights; the weights are looked at before. */
export class Equalizer {
  readonly #model: Model;
  readonly #map: ChannelMap;
  readonly #weightLimit: number;
  readonly #groups: readonly ScaledGroup[];
  readonly #scaleOfSet = new Map<number, number>();

  /** @param observed labels of values: those that `scalableValues` names */
  constructor(model: Model, plan: StaticPlan, observed: ReadonlySet<string>, { weightLimit }: IntegerTarget) {
    const map = mapChannels(model.graph);
    this.#model = model;
    this.#map = map;
    this.#weightLimit = weightLimit;
    this.#groups = connectedValues(map, activationsOf(plan), observed).map((values) => {
      const numbers = new Map<number, number>();
      const scaleOf = new Map(
        values.map((value) => [value, map.channels.get(value)!.ids.map((id) => numbered(numbers, map.setOf(id)))]),
      );
      return { values, sets: [...numbers.keys()], scaleOf, readers: readersOf(map, plan, scaleOf) };
    });
  }

  /** @param ranges by value label */
  choose(ranges: ReadonlyMap<string, ChannelRanges>): readonly EqualizedGroup[] {
    this.#scaleOfSet.clear();
    return this.#groups.flatMap(({ values, sets, scaleOf, readers }) => {
      const tensors = new Map<Value, ReadTensor>(
        values.map((value) => [value, { ...ranges.get(value.label)!, scaleOf: scaleOf.get(value)! }]),
      );
      const { scales, ratio } = chooseScales({
        scales: sets.length,
        isFixed: (scale) => this.#map.isFixed(sets[scale]!),
        tensors: [...tensors.values()],
        readers: readers.map(({ value, ...reader }) => ({ ...reader, tensor: tensors.get(value)! })),
        weightLimit: this.#weightLimit,
      });
      const expectedDb = -10 * Math.log10(ratio);
      if (!(expectedDb >= LEAST_GAIN_DB)) return [];
      sets.forEach((set, i) => void this.#scaleOfSet.set(set, scales[i]!));
      return [{ tensors: values.map(({ label }) => label), channels: sets.length, expectedDb }];
    });
  }

  /** Works what was chosen into the model. */
  apply(): void {
    if (this.#scaleOfSet.size === 0) return;
    const map = this.#map;
    applyScales(this.#model, map, (id) => Math.fround(this.#scaleOfSet.get(map.setOf(id)) ?? 1));
  }
}

function numbered(numbers: Map<number, number>, set: number): number {
  const known = numbers.get(set);
  if (known !== undefined) return known;
  numbers.set(set, numbers.size);
  return numbers.size - 1;
}

/** Values in groups whose scales depend on each other: they share channels, or one tensor's step. */
function connectedValues(
  map: ChannelMap,
  values: readonly Value[],
  observed: ReadonlySet<string>,
): readonly (readonly Value[])[] {
  const known = values.filter((value) => observed.has(value.label) && map.channels.has(value));
  const groups = new DisjointSets();
  groups.add(known.length);
  const firstWith = new Map<number, number>();
  known.forEach((value, i) => {
    for (const id of map.channels.get(value)!.ids) {
      const set = map.setOf(id);
      const other = firstWith.get(set);
      if (other === undefined) firstWith.set(set, i);
      else groups.join(i, other);
    }
  });
  const byRoot = new Map<number, Value[]>();
  known.forEach((value, i) => {
    const root = groups.find(i);
    byRoot.set(root, [...(byRoot.get(root) ?? []), value]);
  });
  return [...byRoot.values()];
}

/** Quantized products that read one of the tensors. */
function readersOf(
  map: ChannelMap,
  plan: StaticPlan,
  scaleOf: ReadonlyMap<Value, readonly number[]>,
): readonly ReaderOf[] {
  const planned = new Set(plan.nodes.map(({ node }) => node));
  return map.readers.flatMap((node) => {
    const value = node.inputs[0]!;
    const channels = scaleOf.get(value)?.length;
    if (channels === undefined || !planned.has(node)) return [];
    const { dims } = node.inputs[1]!.constant!;
    const weights = node.inputs[1]!.constant!.f32();
    const isConv = node.op === "Conv";
    const outputs = dims[isConv || readingAxis(node) === 1 ? 0 : 1]!;
    const places = isConv ? elementCount(dims.slice(2)) : 1;
    const energy = new Float64Array(channels);
    const largest = new Float32Array(outputs * channels);
    forEachWeight(node.int("group", 1), dims, readingAxis(node), places, (at, output, channel) => {
      const weight = weights[at]!;
      energy[channel]! += weight * weight;
      const i = output * channels + channel;
      largest[i] = Math.max(largest[i]!, Math.abs(weight));
    });
    return [{ value, outputs, places, energy, largest }];
  });
}

/** Weights of a product with the output that each makes and the input channel that it reads. */
function forEachWeight(
  group: number,
  dims: readonly number[],
  axis: number,
  places: number,
  visit: (at: number, output: number, channel: number) => void,
): void {
  const [rows, columns] = [dims[0]!, dims[1]!];
  for (let row = 0, at = 0; row < rows; row++) {
    // A grouped Conv: this output's group reads channels from here on.
    const from = axis === 1 ? Math.floor((row * group) / rows) * columns : 0;
    for (let column = 0; column < columns; column++) {
      for (let place = 0; place < places; place++, at++) {
        if (axis === 1) visit(at, row, from + column);
        else visit(at, column, row);
      }
    }
  }
}

function applyScales(model: Model, map: ChannelMap, scaleOf: (id: number) => number): void {
  const { graph } = model;
  const replace = (node: ScaledConstant["node"], input: number, change: (values: Float32Array) => void): void => {
    const old = node.inputs[input]!;
    const values = Float32Array.from(old.constant!.f32());
    change(values);
    graph.setInput(node, input, graph.addConstant(old.label, Tensor.f32(old.constant!.dims, values)));
    if (old.useCount === 0) graph.removeConstant(old);
  };
  for (const { node, input, value, axis } of map.makers) {
    const { dims } = node.inputs[input]!.constant!;
    const scales = map.channels.get(value)!.ids.map(scaleOf);
    if (scales.every((scale) => scale === 1)) continue;
    const inner = elementCount(dims.slice(axis + 1));
    replace(node, input, (values) => {
      for (let at = 0; at < values.length; at++) values[at]! *= scales[Math.floor(at / inner) % scales.length]!;
    });
  }
  for (const node of map.readers) {
    const scales = map.channels.get(node.inputs[0]!)!.ids.map(scaleOf);
    if (scales.every((scale) => scale === 1)) continue;
    const { dims } = node.inputs[1]!.constant!;
    const places = node.op === "Conv" ? elementCount(dims.slice(2)) : 1;
    replace(node, 1, (values) =>
      forEachWeight(
        node.op === "Conv" ? node.int("group", 1) : 1,
        dims,
        readingAxis(node),
        places,
        (at, _, channel) => {
          values[at]! /= scales[channel]!;
        },
      ),
    );
  }
  removeUnreadConstants(graph);
}

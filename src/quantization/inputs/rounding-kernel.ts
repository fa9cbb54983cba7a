/** Rounds weights of four outputs of a product at a time with the engine's vector instructions: see round-in-view.ts. */
import { vectorCode } from "../../base/vector-code.js";
import { roundingKernelBytes } from "./rounding-kernel-bytes.js";

/** Samples that can be looked at: each has a variable of its own. */
export const MOST_SAMPLES = 8;

/** Outputs that are rounded at a time. */
export const SIDE_BY_SIDE = 4;

/** How a product's weights lie in memory. */
export interface WeightLayout {
  readonly outputs: number;
  /** Channels that each output reads, of its own group. */
  readonly inputs: number;
  /** Places of a kernel, side by side. */
  readonly places: number;
  readonly group: number;
  /** From one output to the next, and from one input to the next. */
  readonly outputStride: number;
  readonly inputStride: number;
}

/** The channels that one group of outputs reads. */
export interface Channels {
  /** In which they are rounded. */
  readonly order: Int32Array;
  /** [channels, MOST_SAMPLES]: what rounding has to answer for. */
  readonly away: Float64Array;
  /** By channel: how much of the error that a change of the weight would mend is worth mending. */
  readonly gain: Float64Array;
  /** By channel: what samples have in common. */
  readonly common: Float64Array;
  /** By channel: of the cost of an error, what errors at other places of the kernel add to, and what none does. */
  readonly together: Float64Array;
  readonly alone: Float64Array;
}

/** Whether what another scale costs is less than the best so far, null of the first; by less than this the last bits would decide. */
export const isBetter = (cost: number, best: number | null): boolean => best === null || cost < best * (1 - 1e-6);

export interface RoundingTask {
  readonly weights: Float32Array;
  readonly layout: WeightLayout;
  readonly limit: number;
  /** Of the scales that are tried, beside the least; the first is 1. */
  readonly factors: readonly number[];
  /** One per output: the least that is tried becomes the best. */
  readonly scales: Float32Array;
  /** Results. */
  readonly integers: Int8Array;
  readonly shift: Float32Array | null;
}

export interface RoundingKernel {
  take(channels: Channels): void;
  /** Outputs from `first` on, of the group whose channels were taken. */
  round(task: RoundingTask, first: number): void;
}

/** As rounding-kernel.wat lays out its memory. */
const ROWS_AT = 64;
const ROW = 12;
const PAGE = 65536;
const MOST_BYTES = 2 ** 30;

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  round(channels: number, places: number, at: number, to: number, limit: number): void;
}

let shared: KernelExports | null | undefined;

/** Null where the engine has no vector instructions, or not so much memory for them. There is one: the next takes its memory. */
export function roundingKernel({ inputs, places }: WeightLayout): RoundingKernel | null {
  const rowBytes = 8 * ROW * inputs;
  const at = ROWS_AT + rowBytes;
  const taps = SIDE_BY_SIDE * inputs * places;
  const bytes = at + 8 * taps;
  if (bytes > MOST_BYTES) return null;
  if (shared === undefined) shared = vectorCode(roundingKernelBytes) as KernelExports | null;
  if (!shared) return null;
  const { memory, round } = shared;
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  const { buffer } = memory;
  const lanes = new Float64Array(buffer, 0, SIDE_BY_SIDE);
  const sums = new Float64Array(buffer, 32, SIDE_BY_SIDE);
  const rows = new Float64Array(buffer, ROWS_AT, ROW * inputs);
  const exact = new Float32Array(buffer, at, taps);
  const rounded = new Int32Array(buffer, at + 4 * taps, taps);
  let order: Int32Array = new Int32Array(0);

  return {
    take(channels) {
      order = channels.order;
      for (let i = 0; i < inputs; i++) {
        const channel = order[i]!;
        const row = i * ROW;
        for (let s = 0; s < MOST_SAMPLES; s++) rows[row + s] = channels.away[channel * MOST_SAMPLES + s]!;
        rows[row + MOST_SAMPLES] = channels.gain[channel]!;
        rows[row + MOST_SAMPLES + 1] = channels.together[channel]!;
        rows[row + MOST_SAMPLES + 2] = channels.common[channel]!;
        rows[row + MOST_SAMPLES + 3] = channels.alone[channel]!;
      }
    },
    round({ weights, layout, factors, scales, limit, integers, shift }, first) {
      const { outputStride, inputStride } = layout;
      const start = first * outputStride;
      // A function for each run of places takes longer than to round them.
      for (let i = 0, to = 0; i < inputs; i++) {
        const channel = start + order[i]! * inputStride;
        for (let place = channel; place < channel + places; place++)
          for (let lane = 0, from = place; lane < SIDE_BY_SIDE; lane++, from += outputStride)
            exact[to++] = weights[from]!;
      }
      const least = scales.slice(first, first + SIDE_BY_SIDE);
      const costs = new Array<number | null>(SIDE_BY_SIDE).fill(null);
      for (const factor of factors) {
        const tried = least.map((scale) => scale * factor);
        lanes.set(tried);
        round(inputs, places, at, 4 * taps, limit);
        for (let lane = 0; lane < SIDE_BY_SIDE; lane++) {
          const scale = tried[lane]!;
          const cost = lanes[lane]! * scale ** 2;
          if (!isBetter(cost, costs[lane]!)) continue;
          costs[lane] = cost;
          scales[first + lane] = scale;
          if (shift) shift[first + lane] = -sums[lane]! * scale;
          for (let i = 0, from = lane; i < inputs; i++) {
            const channel = start + lane * outputStride + order[i]! * inputStride;
            for (let place = channel; place < channel + places; place++, from += SIDE_BY_SIDE)
              integers[place] = rounded[from]!;
          }
        }
      }
    },
  };
}

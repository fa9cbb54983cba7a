/**
 * Rounds 8-bit weights with the means of their inputs in view. A product's answer errs by
 *
 *   sum_c d_c x_c    d: what rounding did to the weights, x: the inputs
 *
 * and what of it is the same all over a sample is not averaged away by anything behind. So the
 * weights of an output are rounded one after the other, channels with the most to say first, each
 * up or down as it makes up best for the ones before:
 *
 *   smallest  sum over samples of (sum_c d_c m_c)^2 + samples * sum_c d_c^2 (a v_c + u_c)
 *
 * with m the mean of a channel over a sample (all places of a kernel see nearly the same one), v its
 * energy about that, and u the variance of m, which stands for samples not seen. Of v, neighbouring places share a part
 * (images are smooth): to that part, and to u, the places of a kernel are one, and what one of them errs the next makes
 * up for. What samples have in common goes into the bias where there is
 * one, and only how they differ is left to rounding. The idea of rounding along a path is
 * Lybrand and Saab's (2021); means of a few samples in the place of the data make it cheap.
 *
 * With another scale all weights of an output are rounded another way, and of a few weights some ways are far better than others: of
 * scales a little above the one that lets every weight fit, each output takes the one with the smallest sum.
 */
import { invariant } from "../../base/errors.js";
import { roundHalfEven } from "../weights.js";
import {
  type Channels,
  isBetter,
  MOST_SAMPLES,
  type RoundingTask,
  roundingKernel,
  SIDE_BY_SIDE,
} from "./rounding-kernel.js";

/** What is known of the channels that a product reads. */
export interface InputMoments {
  readonly samples: number;
  /** [samples, channels] */
  readonly means: Float32Array;
  /** By channel: the mean square of the distance from the sample's mean. */
  readonly spread: Float32Array;
  /** The part of it that the places of a kernel have in common. */
  readonly shared: Float32Array;
}

export interface RoundedInView {
  readonly integers: Int8Array;
  /** One per output: those given, or a little larger. */
  readonly scales: Float32Array;
  /** What the bias has to make up for; null where it cannot. */
  readonly shift: Float32Array | null;
}

export { MOST_SAMPLES };

/** What noise that differs from place to place counts beside that which does not: some of it is averaged away. */
const SPREAD_SHARE = 0.4;

/** Scales that are tried: the next is larger by so much, which rounds a weight of half the largest another way once in three. */
const SCALE_STEP = 0.006;
const MOST_SCALES = 24;
/**
 * Weights of a product times the scales that are tried for them, which bounds the time. Products of few weights gain most: the fewer
 * an output has, the more ways to round them differ, and the first layers of a deep net, whose errors grow through all others, have few.
 */
const MOST_TRIED = 2 ** 18;

export function roundInView(
  product: Pick<RoundingTask, "weights" | "layout" | "scales" | "limit">,
  moments: InputMoments,
  hasBias: boolean,
  useVectors = true,
): RoundedInView {
  invariant(moments.samples <= MOST_SAMPLES, `at most ${MOST_SAMPLES} samples are looked at`);
  const { layout, weights } = product;
  const { outputs, inputs, group } = layout;
  const integers = new Int8Array(weights.length);
  const shift = hasBias ? new Float32Array(outputs) : null;
  const scales = product.scales.slice();
  const tries = Math.max(1, Math.min(MOST_SCALES, Math.floor(MOST_TRIED / Math.max(1, weights.length))));
  const factors = Array.from({ length: tries }, (_, i) => 1 + i * SCALE_STEP);
  const task: RoundingTask = { ...product, factors, integers, scales, shift };
  const own = outputs / group;
  const kernel = useVectors && own >= SIDE_BY_SIDE ? roundingKernel(layout) : null;
  for (let g = 0; g < group; g++) {
    const channels = channelsOf(moments, g * inputs, inputs, hasBias);
    const end = Math.ceil((g + 1) * own);
    let output = Math.ceil(g * own);
    if (kernel && inputs > 0) {
      kernel.take(channels);
      for (; output + SIDE_BY_SIDE <= end; output += SIDE_BY_SIDE) kernel.round(task, output);
    }
    for (; output < end; output++) chooseScale(task, channels, output);
  }
  return { integers, scales, shift };
}

/** One output, with each of the scales, and once more with the best. */
function chooseScale(task: RoundingTask, channels: Channels, output: number): void {
  const { scales, factors } = task;
  const least = scales[output]!;
  let best = least;
  let bestCost: number | null = null;
  for (const factor of factors) {
    scales[output] = least * factor;
    const cost = roundOutput(task, channels, output);
    if (!isBetter(cost, bestCost)) continue;
    bestCost = cost;
    best = scales[output]!;
  }
  if (scales[output] === best) return;
  scales[output] = best;
  roundOutput(task, channels, output);
}

/** One output, weight by weight. Returns what is smallest where it is rounded best. */
function roundOutput(
  { weights, layout, scales, limit, integers, shift }: RoundingTask,
  channels: Channels,
  output: number,
): number {
  const { inputs, places, outputStride, inputStride } = layout;
  const { order, away, gain, common, together, alone } = channels;
  const scale = scales[output]!;
  let cost = 0;
  let shared = 0;
  // The error in each sample so far; an array in their place takes three times as long.
  let e0 = 0;
  let e1 = 0;
  let e2 = 0;
  let e3 = 0;
  let e4 = 0;
  let e5 = 0;
  let e6 = 0;
  let e7 = 0;
  for (let i = 0; i < inputs; i++) {
    const channel = order[i]!;
    const row = channel * MOST_SAMPLES;
    const a0 = away[row]!;
    const a1 = away[row + 1]!;
    const a2 = away[row + 2]!;
    const a3 = away[row + 3]!;
    const a4 = away[row + 4]!;
    const a5 = away[row + 5]!;
    const a6 = away[row + 6]!;
    const a7 = away[row + 7]!;
    const mended = gain[channel]!;
    const one = together[channel]!;
    const lone = alone[channel]!;
    // The errors of the channel's places so far.
    let own = 0;
    const first = output * outputStride + channel * inputStride;
    for (let at = first; at < first + places; at++) {
      const exact = weights[at]! / scale;
      const before = e0 * a0 + e1 * a1 + e2 * a2 + e3 * a3 + (e4 * a4 + e5 * a5 + e6 * a6 + e7 * a7) + own * one;
      const down = Math.floor(exact);
      const nearest = roundHalfEven(exact - before * mended);
      const integer = Math.min(limit, Math.max(-limit, Math.min(down + 1, Math.max(down, nearest))));
      integers[at] = integer;
      const change = integer - exact;
      own += change;
      e0 += change * a0;
      e1 += change * a1;
      e2 += change * a2;
      e3 += change * a3;
      e4 += change * a4;
      e5 += change * a5;
      e6 += change * a6;
      e7 += change * a7;
      cost += change * change * lone;
      shared += change * common[channel]!;
    }
    cost += own * own * one;
  }
  // From the left: in another order the last bits, and with them the weights, would be others.
  cost = cost + e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3 + e4 * e4 + e5 * e5 + e6 * e6 + e7 * e7;
  if (shift) shift[output] = -shared * scale;
  return cost * scale ** 2;
}

/** The channels that one group reads, numbered from 0. */
function channelsOf(
  { samples, means, spread, shared }: InputMoments,
  from: number,
  count: number,
  isCentred: boolean,
): Channels {
  const total = means.length / samples;
  const common = new Float64Array(count);
  /** By channel and sample: what rounding has to answer for. */
  const away = new Float64Array(count * MOST_SAMPLES);
  /** By channel: how much of the error that a change of the weight would mend is worth mending. */
  const gain = new Float64Array(count);
  const energy = new Float64Array(count);
  /** By channel: of the cost of an error, what errors at other places of the kernel add to. */
  const together = new Float64Array(count);
  const alone = new Float64Array(count);
  for (let channel = 0; channel < count; channel++) {
    const mean = (s: number): number => means[s * total + from + channel]!;
    for (let s = 0; s < samples; s++) common[channel]! += mean(s) / samples;
    let unseen = 0;
    for (let s = 0; s < samples; s++) {
      const distance = mean(s) - common[channel]!;
      unseen += distance ** 2;
      const value = isCentred ? distance : mean(s);
      away[channel * MOST_SAMPLES + s] = value;
      energy[channel]! += value ** 2;
    }
    const noise = samples * SPREAD_SHARE;
    const cost = energy[channel]! + noise * spread[from + channel]! + unseen;
    together[channel] = noise * shared[from + channel]! + unseen;
    alone[channel] = noise * (spread[from + channel]! - shared[from + channel]!);
    gain[channel] = cost > 0 ? 1 / cost : 0; // silent: rounded to the nearest
  }
  const order = Int32Array.from({ length: count }, (_, i) => i).sort((a, b) => energy[b]! - energy[a]! || a - b);
  return { order, away, gain, common, together, alone };
}

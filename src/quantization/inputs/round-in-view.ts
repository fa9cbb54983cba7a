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
 * energy about that, and u the variance of m, which stands for samples not seen. What samples have in common goes into the bias where there is
 * one, and only how they differ is left to rounding. The idea of rounding along a path is
 * Lybrand and Saab's (2021); means of a few samples in the place of the data make it cheap.
 */
import { roundHalfEven } from "../weights.js";

/** What is known of the channels that a product reads. */
export interface InputMoments {
  readonly samples: number;
  /** [samples, channels] */
  readonly means: Float32Array;
  /** By channel: the mean square of the distance from the sample's mean. */
  readonly spread: Float32Array;
}

/** How a product's weights lie in memory. */
export interface ProductLayout {
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

export interface RoundedInView {
  readonly integers: Int8Array;
  /** What the bias has to make up for; null where it cannot. */
  readonly shift: Float32Array | null;
}

/** What noise that differs from place to place counts beside that which does not: some of it is averaged away. */
const SPREAD_SHARE = 0.4;

/** @param scales one per output */
export function roundInView(
  weights: Float32Array,
  layout: ProductLayout,
  scales: Float32Array,
  limit: number,
  moments: InputMoments,
  hasBias: boolean,
): RoundedInView {
  const { outputs, inputs, places, group, outputStride, inputStride } = layout;
  const { samples } = moments;
  const integers = new Int8Array(weights.length);
  const shift = hasBias ? new Float32Array(outputs) : null;
  const channels = Array.from({ length: group }, (_, g) => channelsOf(moments, g * inputs, inputs, hasBias));
  const error = new Float64Array(samples);
  for (let output = 0; output < outputs; output++) {
    const { order, away, pull, common } = channels[Math.floor((output * group) / outputs)]!;
    const scale = scales[output]!;
    error.fill(0);
    let shared = 0;
    for (const channel of order) {
      const row = channel * samples;
      const first = output * outputStride + channel * inputStride;
      for (let at = first; at < first + places; at++) {
        const exact = weights[at]! / scale;
        let wanted = exact;
        for (let s = 0; s < samples; s++) wanted -= error[s]! * pull[row + s]!;
        const down = Math.floor(exact);
        const integer = Math.min(limit, Math.max(-limit, Math.min(down + 1, Math.max(down, roundHalfEven(wanted)))));
        integers[at] = integer;
        const change = integer - exact;
        for (let s = 0; s < samples; s++) error[s]! += change * away[row + s]!;
        shared += change * common[channel]!;
      }
    }
    if (shift) shift[output] = -shared * scale;
  }
  return { integers, shift };
}

/** The channels that one group reads, numbered from 0. */
function channelsOf({ samples, means, spread }: InputMoments, from: number, count: number, isCentred: boolean) {
  const total = means.length / samples;
  const common = new Float64Array(count);
  /** [channel, sample]: what rounding has to answer for, and how much of an error a change of the weight mends. */
  const away = new Float64Array(count * samples);
  const pull = new Float64Array(count * samples);
  const energy = new Float64Array(count);
  for (let channel = 0; channel < count; channel++) {
    const mean = (s: number): number => means[s * total + from + channel]!;
    for (let s = 0; s < samples; s++) common[channel]! += mean(s) / samples;
    const base = isCentred ? common[channel]! : 0;
    for (let s = 0; s < samples; s++) {
      const value = mean(s) - base;
      away[channel * samples + s] = value;
      energy[channel]! += value * value;
    }
    let unseen = 0;
    for (let s = 0; s < samples; s++) unseen += (mean(s) - common[channel]!) ** 2;
    const cost = energy[channel]! + samples * SPREAD_SHARE * spread[from + channel]! + unseen;
    if (!(cost > 0)) continue; // silent: rounded to the nearest
    for (let s = 0; s < samples; s++) pull[channel * samples + s] = away[channel * samples + s]! / cost;
  }
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => energy[b]! - energy[a]! || a - b);
  return { order, away, pull, common };
}

/**
 * Where answers are a few numbers, a dozen samples say little of a line for them (fit-line.ts), and more of the many that the last
 * product reads. Most of what differs between samples lies along one direction there, and is hardly touched by rounding; what lies
 * across it is noise to a good part. With x what the integers' last product reads, m its mean, v the first principal component of
 * the samples (of the mean of both models' inputs), and b, a the slopes of the float inputs over x along v and across it:
 *
 *   x' = m + a (x - m) + (b - a) v v^T (x - m)
 *   z' = E[z] + s W (x' - m) + k (E[y] - E[z])
 *
 *   s        brings the answers themselves closer, as far as they tell that surely: 1 is expected, within SPREAD
 *   k        trusts a shift as far as that of all inputs exceeds what so few samples show by chance (James-Stein)
 *
 * All of it follows from products of samples with each other and from their answers. Over 32 nets as bench/peers/make_deep_nets.py makes
 * them, each with ten random last products of two answers, it gains 0.5 dB of other samples' answers when fitted to 16, and 0.6 when
 * fitted to 32; a line fitted to the answers gains 0.25 and 0.4.
 */
import type { PairedRows } from "./fit-directions.js";
import type { LeftOutErrors } from "./left-out.js";
import type { Along } from "./output-line.js";
import { aboutRow, gramAboutMeans, gramOf, meanRow } from "./sample-rows.js";
import { symmetricEigen } from "./symmetric-eigen.js";

/** What a product reads, [samples, inputs]: of the float model and of integers. */
export interface PairedInputs {
  readonly floats: Float64Array;
  readonly integers: Float64Array;
}

export interface InputsFit {
  /** Of all that lies across the direction. */
  readonly factor: number;
  readonly along: Along;
  /** Of each answer, [answers]. */
  readonly shift: Float64Array;
  /** Expected change of the error of the inputs of other samples, dB; positive is better. */
  readonly gainDb: number;
  readonly leftOut: LeftOutErrors;
}

/**
 * Standard deviation that the answers' own slope is expected to have about that of the inputs. It was 0.06 on the same nets, most of that by
 * chance; the answers of a net that was trained are no random directions.
 */
const SPREAD = 0.07;
/** A slope further from 1 would say that something else is wrong; one of 0 could not be relaxed (output-line.ts). */
const SLOPES = [0.1, 1.5] as const;
/** Fewer than the gain was measured with lose by what the choice of the samples does: of eight, half a decibel where there is little noise. */
const LEAST_SAMPLES = 16;

/** Null of too few samples, and where nothing differs or something is no number. */
export function fitInputs(rows: PairedRows, { floats, integers }: PairedInputs): InputsFit | null {
  const { samples, z } = rows;
  if (samples < LEAST_SAMPLES) return null;
  const grams = {
    floats: gramOf(floats, floats, samples),
    mixed: gramOf(floats, integers, samples),
    integers: gramOf(integers, integers, samples),
  };
  const all = Array.from({ length: samples }, (_, i) => i);
  const fit = solve(rows, grams, all);
  if (!fit) return null;
  const leftOut = { before: new Float64Array(samples), after: new Float64Array(samples) };
  for (const sample of all) {
    const others = solve(
      rows,
      grams,
      all.filter((other) => other !== sample),
    );
    if (!others) return null;
    const [own, made] = [rowOf(rows.y, samples, sample), others.answer(sample)];
    leftOut.before[sample] = distance(own, rowOf(z, samples, sample));
    leftOut.after[sample] = distance(own, made);
  }
  const direction = combined(floats, integers, samples, fit.weights);
  const mean = dot(direction, meanRow(integers, samples));
  const [factor, along] = [fit.strength * fit.across, fit.strength * fit.along];
  const shift = fit.meanZ.map((own, c) => fit.trust * (fit.meanY[c]! - own));
  return { factor, along: { direction, factor: along, mean }, shift, gainDb: fit.gainDb, leftOut };
}

interface Grams {
  /** [samples, samples]; rows of `mixed` are the float model's. */
  readonly floats: Float64Array;
  readonly mixed: Float64Array;
  readonly integers: Float64Array;
}

interface Solved {
  /** What to multiply each sample by, about the mean of these, for the direction. */
  readonly weights: Float64Array;
  readonly along: number;
  readonly across: number;
  readonly strength: number;
  readonly trust: number;
  /** Of the inputs, dB. */
  readonly gainDb: number;
  readonly meanY: Float64Array;
  readonly meanZ: Float64Array;
  /** What becomes of one sample's answers. */
  answer(sample: number): Float64Array;
}

function solve(rows: PairedRows, grams: Grams, members: readonly number[]): Solved | null {
  const { samples } = rows;
  const centred: Grams = {
    floats: gramAboutMeans(grams.floats, samples, members),
    mixed: gramAboutMeans(grams.mixed, samples, members),
    integers: gramAboutMeans(grams.integers, samples, members),
  };
  const component = firstComponent(centred, samples, members);
  if (!component) return null;
  const { weights, placeOf } = component;
  const { along, across, error, left } = slopesOf(centred, samples, members, placeOf);
  const { trust, chance, shift } = shiftOf(grams, samples, members, error);
  // Of the squared shift, what chance alone would show is no error of other samples.
  const before = error + members.length * Math.max(0, shift - chance);
  const after = left + members.length * trust * Math.min(chance, shift);
  const gainDb = before > 0 && after > 0 ? 10 * Math.log10(before / after) : 0;

  const [meanY, meanZ] = [meanRow(rows.y, samples, members), meanRow(rows.z, samples, members)];
  const [dy, dz] = [aboutRow(rows.y, meanY), aboutRow(rows.z, meanZ)];
  const channels = meanY.length;
  /** W v, by what the answers to the samples show of it. */
  const answers = new Float64Array(channels);
  for (const i of members) {
    for (let c = 0; c < channels; c++) {
      answers[c]! += (weights[i]! * (dy[i * channels + c]! + dz[i * channels + c]!)) / 2;
    }
  }
  const madeOf = (sample: number): Float64Array => {
    const place = (along - across) * placeOf(sample, "integers");
    return answers.map((answer, c) => across * dz[sample * channels + c]! + place * answer);
  };
  const made = new Map(members.map((i) => [i, madeOf(i)] as const));
  const strength = strengthOf(dy, made, channels);
  const answer = (sample: number): Float64Array =>
    madeOf(sample).map((own, c) => meanZ[c]! + strength * own + trust * (meanY[c]! - meanZ[c]!));
  return { weights, along, across, strength, trust, gainDb, meanY, meanZ, answer };
}

/** v^T x of a sample, about the mean of the members. */
type PlaceOf = (sample: number, of: "floats" | "integers") => number;

/** Of the members' rows, the means of both models'; null where they do not differ, or something is no number. */
function firstComponent(
  { floats, mixed, integers }: Grams,
  samples: number,
  members: readonly number[],
): { weights: Float64Array; placeOf: PlaceOf } | null {
  const count = members.length;
  const between = new Float64Array(count * count);
  members.forEach((i, p) => {
    members.forEach((j, q) => {
      const [a, b] = [i * samples + j, j * samples + i];
      between[p * count + q] = (floats[a]! + mixed[a]! + mixed[b]! + integers[a]!) / 4;
    });
  });
  const { values, vectors } = symmetricEigen(between, count);
  const first = values.indexOf(values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY));
  const length = Math.sqrt(values[first] ?? Number.NaN);
  if (!(length > 0)) return null;
  const weights = new Float64Array(samples);
  members.forEach((i, p) => {
    weights[i] = vectors[p * count + first]! / length;
  });
  const placeOf: PlaceOf = (sample, of) => {
    let place = 0;
    for (const i of members) {
      const at = i * samples + sample;
      const both = of === "floats" ? floats[at]! + mixed[sample * samples + i]! : mixed[at]! + integers[at]!;
      place += (weights[i]! * both) / 2;
    }
    return place;
  };
  return { weights, placeOf };
}

/** Least-squares slopes of the float inputs over the integers', and the squared errors of all members without them and with them. */
function slopesOf({ floats, mixed, integers }: Grams, samples: number, members: readonly number[], placeOf: PlaceOf) {
  const on = { mixed: 0, own: 0 };
  const all = { mixed: 0, own: 0, float: 0 };
  for (const i of members) {
    const [float, own, at] = [placeOf(i, "floats"), placeOf(i, "integers"), i * samples + i];
    on.mixed += float * own;
    on.own += own * own;
    all.mixed += mixed[at]!;
    all.own += integers[at]!;
    all.float += floats[at]!;
  }
  const off = { mixed: all.mixed - on.mixed, own: all.own - on.own };
  const [along, across] = [slope(on.mixed, on.own), slope(off.mixed, off.own)];
  const error = all.float - 2 * all.mixed + all.own;
  const left = all.float - 2 * (along * on.mixed + across * off.mixed) + along ** 2 * on.own + across ** 2 * off.own;
  return { along, across, error, left };
}

const slope = (mixed: number, own: number): number => {
  const value = own > 0 ? mixed / own : 1;
  return Number.isFinite(value) ? Math.min(SLOPES[1], Math.max(SLOPES[0], value)) : 1;
};

/** Slope of the float answers over those made of slopes of the inputs, between what the samples say and 1, each as sure as it is. */
function strengthOf(dy: Float64Array, made: ReadonlyMap<number, Float64Array>, channels: number): number {
  let [mixed, own, total] = [0, 0, 0];
  for (const [i, row] of made) {
    for (let c = 0; c < channels; c++) {
      const y = dy[i * channels + c]!;
      mixed += y * row[c]!;
      own += row[c]! ** 2;
      total += y * y;
    }
  }
  if (!(own > 0)) return 1;
  const seen = mixed / own;
  const variance = Math.max(0, total - mixed * seen) / Math.max(1, (made.size - 1) * channels - 1) / own;
  return slope(seen * SPREAD ** 2 + variance, SPREAD ** 2 + variance);
}

/**
 * The mean error, squared, and how much of that so few samples show by chance.
 * @param error of all members, about the mean error, squared
 */
function shiftOf({ floats, mixed, integers }: Grams, samples: number, members: readonly number[], error: number) {
  let shift = 0;
  for (const i of members) {
    for (const j of members) {
      const [at, turned] = [i * samples + j, j * samples + i];
      shift += floats[at]! - mixed[at]! - mixed[turned]! + integers[at]!;
    }
  }
  shift /= members.length ** 2;
  const chance = error / (members.length - 1) / members.length;
  return { shift, chance, trust: shift > 0 ? Math.max(0, 1 - chance / shift) : 0 };
}

const rowOf = (rows: Float64Array, samples: number, sample: number): Float64Array => {
  const width = rows.length / samples;
  return rows.subarray(sample * width, (sample + 1) * width);
};

/** Of the mean of both kinds of rows: weights sum to zero, so that means fall out. */
function combined(floats: Float64Array, integers: Float64Array, samples: number, weights: Float64Array): Float64Array {
  const width = floats.length / samples;
  const sum = new Float64Array(width);
  for (let i = 0; i < samples; i++) {
    const half = weights[i]! / 2;
    for (let k = 0; k < width; k++) sum[k]! += half * (floats[i * width + k]! + integers[i * width + k]!);
  }
  const length = Math.sqrt(dot(sum, sum));
  return sum.map((value) => value / length);
}

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

const distance = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, value, i) => sum + (value - b[i]!) ** 2, 0);

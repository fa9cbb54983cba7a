/**
 * The gradient of the weights of a convolution,
 *
 *   dw[o, i, k] = sum over samples n and positions p of  narrow[n, o, p]  wide[n, i, p * stride + k * dilation - pad]
 *
 * one term per position k of the kernel, in the way that moves least about:
 *
 *   - channel by channel (depthwise): products of elements, summed. A product of matrices of one row and one column takes
 *     ten times as long.
 *   - few weights beside the positions: a product of matrices per sample, as the samples lie, summed over them.
 *   - otherwise one product over samples and positions at once, for which both are laid out anew.
 */
import { attr, elementCount, type Value } from "../../../ir/index.js";
import type { Formula } from "../formula.js";
import type { Windows } from "../window.js";

/** A value and its sizes, which gradients do not carry with them. */
export interface Sized {
  readonly value: Value;
  readonly dims: readonly number[];
}

/**
 * @param wide what windows are cut from, [N, channels in, ...sizes]
 * @param narrow one element per window, [N, channels out, ...positions]
 * @returns [group * channels out of a group, channels in of a group, ...kernel] in its order
 */
export function weightGradient(f: Formula, wide: Sized, narrow: Sized, windows: Windows, group: number): Value {
  const [batch, channelsIn, ...sizes] = wide.dims as [number, number, ...number[]];
  const [, channelsOut, ...positions] = narrow.dims as [number, number, ...number[]];
  const [inner, outer] = [channelsIn / group, channelsOut / group];
  const site = { f, wide: wide.value, narrow: narrow.value, windows, batch, group, inner, outer, sizes, positions };
  const taps = tapsOf(site);
  if (taps.length === 1) return taps[0]!;
  const stacked = taps.map((tap) => f.reshape(tap, [group, outer, inner, 1]));
  return f.op("Concat", stacked, { axis: attr.int(3) });
}

interface Site {
  readonly f: Formula;
  readonly wide: Value;
  readonly narrow: Value;
  readonly windows: Windows;
  readonly batch: number;
  readonly group: number;
  /** Channels in and out of a group. */
  readonly inner: number;
  readonly outer: number;
  readonly sizes: readonly number[];
  readonly positions: readonly number[];
}

/** For every position of the kernel, the last axis running fastest: group * outer * inner elements. */
function tapsOf(site: Site): Value[] {
  const { inner, outer, positions } = site;
  if (inner === 1 && outer === 1) return channelByChannel(site);
  return inner * outer <= elementCount(positions) * (inner + outer) ? sampleBySample(site) : allAtOnce(site);
}

/**
 * Rows of an image lie one after the other, so that what a tap sees is one piece of it, once every how manyeth element is
 * laid aside (`strides`), and what is beyond the end of a row meets zeros.
 */
function channelByChannel({ f, wide, narrow, windows, positions, sizes, batch, group }: Site): Value[] {
  const { kernel, strides, dilations, before, after } = windows;
  // Of what one phase of the strides holds, with one row more than any tap sees.
  const seen = positions.map((count, i) => count + Math.floor(((kernel[i]! - 1) * dilations[i]!) / strides[i]!));
  const rows = seen.map((size, i) => (i === 0 ? size + 1 : size));
  const stops = sizes.map((size, i) => Math.max(after[i]!, rows[i]! * strides[i]! - before[i]! - size));
  const padded = f.op("Pad", [wide, f.integers([0, 0, ...before, 0, 0, ...stops]), f.scalar(0)]);
  const spatial = positions.map((_, i) => 2 + i);
  const phases = new Map<string, Value>();
  const phaseOf = (starts: readonly number[]): Value => {
    const key = starts.join();
    const isAll =
      strides.every((stride) => stride === 1) && stops.every((stop, i) => sizes[i]! + before[i]! + stop === rows[i]);
    const ends = starts.map((start, i) => start + (rows[i]! - 1) * strides[i]! + 1);
    const found =
      phases.get(key) ??
      f.reshape(isAll ? padded : f.slice(padded, starts, ends, spatial, strides), [batch, group, elementCount(rows)]);
    phases.set(key, found);
    return found;
  };
  const beyond = positions.map((count, i) => (i === 0 ? 0 : seen[i]! - count));
  const widened = f.op("Pad", [narrow, f.integers([0, 0, ...beyond.map(() => 0), 0, 0, ...beyond]), f.scalar(0)]);
  const count = positions[0]! * elementCount(seen.slice(1));
  const flat = f.reshape(widened, [batch, group, count]);
  return offsetsOf(kernel).map((offset) => {
    const places = offset.map((at, i) => at * dilations[i]!);
    const phase = phaseOf(places.map((place, i) => place % strides[i]!));
    const start = places.reduce((sum, place, i) => sum * seen[i]! + Math.floor(place / strides[i]!), 0);
    return f.sum(f.mul(f.slice(phase, [start], [start + count], [2]), flat), [0, 2], false);
  });
}

function sampleBySample(site: Site): Value[] {
  const { f, narrow, positions, batch, group, inner, outer } = site;
  const count = elementCount(positions);
  const left = f.reshape(narrow, [batch, group, outer, count]);
  return cuts(site, padded(site)).map((cut) => {
    // The runtime takes the transposition into the product.
    const right = f.transpose(f.reshape(cut, [batch, group, inner, count]), [0, 1, 3, 2]);
    return f.sum(f.op("MatMul", [left, right]), [0], false);
  });
}

function allAtOnce(site: Site): Value[] {
  const { f, narrow, windows, positions, sizes, batch, group, inner, outer } = site;
  const rows = batch * elementCount(positions);
  // [N, G, I, ...sizes] to [G, N, ...sizes, I], so that the rows of a product lie together.
  const last = positions.map((_, i) => 3 + i);
  const whole = sizes.map((size, i) => size + windows.before[i]! + windows.after[i]!);
  const columns = f.transpose(f.reshape(padded(site), [batch, group, inner, ...whole]), [1, 0, ...last, 2]);
  // [N, G, O, ...positions] to [G, O, N * positions]
  const grouped = f.reshape(narrow, [batch, group, outer, ...positions]);
  const left = f.reshape(f.transpose(grouped, [1, 2, 0, ...last]), [group, outer, rows]);
  return cuts(site, columns).map((cut) => f.op("MatMul", [left, f.reshape(cut, [group, rows, inner])]));
}

function padded({ f, wide, windows: { before, after } }: Site): Value {
  const isPadded = [...before, ...after].some((pad) => pad > 0);
  return isPadded ? f.op("Pad", [wide, f.integers([0, 0, ...before, 0, 0, ...after]), f.scalar(0)]) : wide;
}

/** What each position of the kernel sees, of a value whose third axis is the first that windows are cut along. */
function cuts({ f, windows, sizes, positions }: Site, value: Value): Value[] {
  const { kernel, strides, dilations, before, after } = windows;
  const axes = kernel.map((_, i) => 2 + i);
  return offsetsOf(kernel).map((offset) => {
    const starts = offset.map((at, i) => at * dilations[i]!);
    const ends = starts.map((start, i) => start + (positions[i]! - 1) * strides[i]! + 1);
    const isWhole = starts.every(
      (start, i) => start === 0 && ends[i] === sizes[i]! + before[i]! + after[i]! && strides[i] === 1,
    );
    return isWhole ? value : f.slice(value, starts, ends, axes, strides);
  });
}

/** Every position of a kernel, the last axis running fastest. */
function offsetsOf(kernel: readonly number[]): number[][] {
  return kernel.reduce<number[][]>(
    (all, size) => all.flatMap((offset) => Array.from({ length: size }, (_, at) => [...offset, at])),
    [[]],
  );
}

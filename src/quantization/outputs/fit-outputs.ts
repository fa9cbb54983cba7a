/**
 * The straight line that brings what integers answer closest to what the float model does:
 *
 *   z' = a (z - E[z]) + E[z] + k (E[y] - E[z])
 *
 *   a = sum_c cov(y, z) / sum_c var(z)     one number for all channels: less than 1 where
 *                                          noise makes up much of what differs between samples
 *   k in [0, 1]                            trusts a shift as far as it exceeds what so few
 *                                          samples show by chance (James-Stein)
 *
 * and, for answers of one row per sample, what a matrix gains besides (see `fitDirections`).
 */
import { type Model, Tensor } from "../../ir/index.js";
import { type Directions, fitDirections, turned } from "./fit-directions.js";
import { lastProducts } from "./last-products.js";
import type { PairedMoments } from "./paired-moments.js";

/** What a product's weights and bias are multiplied by, and what is added to the bias then. */
export interface OutputLine {
  readonly factor: number;
  readonly shift: Float64Array;
  /** A matrix that is added to the factor; null where there is none. */
  readonly directions: Directions | null;
}

export interface OutputFit extends OutputLine {
  /** Expected change of the error on other samples, dB; positive is better. */
  readonly gainDb: number;
}

/** An expected gain of a matrix over the line that is worth having. */
const LEAST_MATRIX_DB = 0.1;

/** A factor further from 1 would say that something else is wrong. */
const FACTORS = [0.5, 1.25] as const;

export function fitOutput({ samples, y, z, yy, zz, yz, rows }: PairedMoments): OutputFit {
  let [cov, varY, varZ, shifts, chance] = [0, 0, 0, 0, 0];
  for (let c = 0; c < y.length; c++) {
    const delta = y[c]! - z[c]!;
    const [ownY, ownZ, own] = [yy[c]! - y[c]! ** 2, zz[c]! - z[c]! ** 2, yz[c]! - y[c]! * z[c]!];
    varY += ownY;
    varZ += ownZ;
    cov += own;
    shifts += delta * delta;
    chance += Math.max(0, ownY + ownZ - 2 * own) / samples;
  }
  const wanted = varZ > 0 ? cov / varZ : 1;
  const factor = Number.isFinite(wanted) ? Math.min(FACTORS[1], Math.max(FACTORS[0], wanted)) : 1;
  const trust = shifts > 0 ? Math.max(0, 1 - chance / shifts) : 0;
  const matrix = rows && fitDirections(rows, factor);
  const directions = matrix && matrix.gainDb >= LEAST_MATRIX_DB ? matrix : null;
  const along = directions && turned(directions.directions, z);
  const shift = y.map((mean, c) => (1 - factor) * z[c]! - (along?.[c] ?? 0) + trust * (mean - z[c]!));
  // Of the squared shifts, what chance alone would show is no error of other samples, and cannot be mended.
  const before = varY + varZ - 2 * cov + Math.max(0, shifts - chance);
  const after = varY + factor * factor * varZ - 2 * factor * cov + trust * Math.min(chance, shifts);
  const gainDb = before > 0 && after > 0 ? 10 * Math.log10(before / after) : 0;
  return { factor, shift, directions: directions?.directions ?? null, gainDb: gainDb + (directions?.gainDb ?? 0) };
}

/** Works the lines into the weights and biases of a float graph, before it is quantized. By node name; unknown names are passed over. */
export function applyOutputLines(model: Model, lines: ReadonlyMap<string, OutputLine>): void {
  const { graph } = model;
  for (const { node, channels, weightAxis } of lastProducts(model)) {
    const line = lines.get(node.name);
    if (!line || line.shift.length !== channels) continue;
    const [, weight, bias] = node.inputs;
    const scaled = mapped(weight!.constant!.f32(), channels, weightAxis, line);
    const old = bias ? mapped(bias.constant!.f32(), channels, 0, line) : null;
    const shifted = Float32Array.from(line.shift, (shift, c) => (old?.[c] ?? 0) + shift);
    graph.setInput(node, 1, graph.addConstant(weight!.label, Tensor.f32(weight!.constant!.dims, scaled)));
    const dims = bias?.constant?.dims ?? [channels];
    graph.setInput(node, 2, graph.addConstant(bias?.label ?? `${node.name}/bias`, Tensor.f32(dims, shifted)));
    for (const value of [weight, bias]) if (value && value.useCount === 0) graph.removeConstant(value);
  }
}

/** What the line and its matrix make of weights, whose channels lie along the first or the last axis. */
function mapped(
  values: Float32Array,
  channels: number,
  axis: number,
  { factor, directions }: OutputLine,
): Float32Array {
  const result = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) result[i] = values[i]! * factor;
  if (!directions) return result;
  const { count, to, from } = directions;
  const others = values.length / channels;
  const [ofChannel, ofOther] = axis === 0 ? [others, 1] : [1, channels];
  const along = new Float64Array(count * others);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < channels; c++) {
      const weight = from[i * channels + c]!;
      for (let o = 0; o < others; o++) along[i * others + o]! += weight * values[c * ofChannel + o * ofOther]!;
    }
  }
  // Summed in double precision row by row: all sums at once would weigh twice what the weights do.
  const sums = new Float64Array(others);
  for (let c = 0; c < channels; c++) {
    for (let o = 0; o < others; o++) sums[o] = result[c * ofChannel + o * ofOther]!;
    for (let i = 0; i < count; i++) {
      const weight = to[i * channels + c]!;
      for (let o = 0; o < others; o++) sums[o]! += weight * along[i * others + o]!;
    }
    for (let o = 0; o < others; o++) result[c * ofChannel + o * ofOther] = sums[o]!;
  }
  return result;
}

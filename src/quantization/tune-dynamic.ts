/**
 * How dynamic integers are best made of each activation: as it is, with its channels evened
 * out (SmoothQuant, arXiv:2211.10438), or row by row. Decided by the noise that rounding
 * adds to the products, predicted from a few statistics of the activation:
 *
 *   of the activation   step_x^2 / 12 * sum_k s_k^2 |W_k|^2       step_x = range of x / s over 255
 *   of the weights      sum_n step_n^2 / 12 * sum_k E[x_k^2] / s_k^2      step_n = max_k |W_kn| s_k / limit,
 *                       or more where pairs of weights would saturate (pair-sums.ts)
 *
 * with s_k = max |x_k|^a / max |W_k|^(1 - a), and the strength a chosen for an activation and
 * for all that are multiplied by a weight of its products.
 * Evening out costs one product per element; scales per row cost about a quarter of the
 * node's time, and go where they save most.
 */
import { setImmediate } from "node:timers/promises";
import type { Model, Node, Value } from "../ir/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import type { ChannelStatistics } from "./channel-observer.js";
import { dynamicProducts } from "./dynamic.js";
import type { Form } from "./form.js";
import { productWeight } from "./product-weight.js";
import { matrixOf, scaledRows, weightScales } from "./weights.js";

export interface DynamicTuning {
  /** By value label, as `Recipe.smoothing`. */
  readonly smoothing: ReadonlyMap<string, Float32Array>;
  /** By node name: those that want scales per row. */
  readonly forms: ReadonlyMap<string, Form>;
}

/** Of a target: what its weights have to fit. */
type DynamicLimits = Pick<IntegerTarget, "weightLimit" | "saturatesPairs">;

const STRENGTHS = [0.4, 0.5, 0.6, 0.7, 0.8];
/** Noise must fall to this share at least for channels to be evened out. */
const WORTH_SMOOTHING = 0.7;
/** And to this share for rows, which cost more. */
const WORTH_ROWS = 0.5;
/** Share of the noise that rows can save which is saved: the last nodes bring little for their time. */
const SAVED = 0.75;
/** Share of all noise: where smoothing left less for rows to save, they are not worth their time. */
const LEAST_TO_SAVE = 0.1;

/** Activations that tuning wants statistics of, with the number of their channels. */
export function tunedActivations(model: Model, takes: (node: Node) => boolean): ReadonlyMap<Value, number> {
  const channels = new Map<Value, number>();
  for (const node of dynamicProducts(model)) {
    if (node.graph === model.graph && takes(node)) channels.set(node.inputs[0]!, readersWeight(node).dims[0]);
  }
  return channels;
}

interface Site {
  readonly node: Node;
  /** Relative to the signal: as it would be, and with scales per row. */
  readonly noise: number;
  readonly rowNoise: number;
}

export async function tuneDynamic(
  model: Model,
  statistics: ReadonlyMap<string, ChannelStatistics>,
  target: DynamicLimits,
  takes: (node: Node) => boolean,
): Promise<DynamicTuning> {
  const products = dynamicProducts(model);
  const mayTune = (node: Node): boolean =>
    node.graph === model.graph && takes(node) && statistics.has(node.inputs[0]!.label);
  const groups = groupsOf(products.filter(mayTune));
  const untuned = new Set(products.filter((node) => !mayTune(node)).map((node) => productWeight(node)!.value));
  const smoothing = new Map<string, Float32Array>();
  const sites: Site[] = [];
  for (const nodes of groups) {
    const weights = new WeightRows();
    const matrices: Measured[] = [];
    for (const node of nodes) {
      // Weights of many megabytes: an interrupt between two of them is heard.
      await setImmediate();
      matrices.push(measured(weights.of(node), statistics.get(node.inputs[0]!.label)!));
    }
    // Nothing comes out of it, so nothing can be lost.
    if (matrices.some(({ rows, signal, seen }) => rows.length !== seen.max.length || signal === 0)) continue;
    const plain = matrices.map((matrix) => noiseOf(matrix, null, target));
    // Weights that take over factors are no longer those that others read.
    const mayBeSmooth =
      areReadAlike(nodes) &&
      nodes.every((node) => {
        const { value, isShared } = productWeight(node)!;
        return !isShared && !untuned.has(value);
      });
    const { factors, noises } = mayBeSmooth
      ? await bestSmoothing(matrices, target, plain)
      : { factors: null, noises: plain };
    if (factors) for (const node of nodes) smoothing.set(node.inputs[0]!.label, factors);
    nodes.forEach((node, i) => {
      sites.push({ node, noise: noises[i]!, rowNoise: rowNoiseOf(matrices[i]!, target) });
    });
  }
  const forms = rowsWhereWorth(sites);
  for (const nodes of groups) {
    // Noise was predicted for the one or the other.
    if (nodes.every(({ name }) => forms.has(name))) for (const node of nodes) smoothing.delete(node.inputs[0]!.label);
  }
  return { smoothing, forms };
}

/** Whether nobody reads a weight turned that another one reads as it is: factors of its rows are none of its columns. */
function areReadAlike(nodes: readonly Node[]): boolean {
  const turned = new Map<Value, boolean>();
  return nodes.every((node) => {
    const { value, isTurned } = productWeight(node)!;
    const known = turned.get(value) ?? isTurned;
    turned.set(value, known);
    return known === isTurned;
  });
}

/** Products that one set of factors serves, in execution order: those of one activation, and all that share a weight with them. */
function groupsOf(products: readonly Node[]): readonly (readonly Node[])[] {
  const groups = new Map<Value, Set<Node>>();
  for (const node of products) {
    const group = new Set([node]);
    for (const value of [node.inputs[0]!, productWeight(node)!.value])
      for (const other of groups.get(value) ?? []) group.add(other);
    for (const other of group)
      for (const value of [other.inputs[0]!, productWeight(other)!.value]) groups.set(value, group);
  }
  const order = new Map(products.map((node, at) => [node, at]));
  return [...new Set(groups.values())]
    .map((group) => [...group].sort((one, other) => order.get(one)! - order.get(other)!))
    .sort(([one], [other]) => order.get(one!)! - order.get(other!)!);
}

/** Rows where they save most, until most is saved. */
function rowsWhereWorth(sites: readonly Site[]): ReadonlyMap<string, Form> {
  const gain = ({ noise, rowNoise }: Site): number => noise - rowNoise;
  const worth = sites.filter(({ noise, rowNoise }) => rowNoise < noise * WORTH_ROWS).sort((a, b) => gain(b) - gain(a));
  const total = sites.reduce((sum, { noise }) => sum + noise, 0);
  const possible = worth.reduce((sum, site) => sum + gain(site), 0);
  const forms = new Map<string, Form>();
  if (possible < LEAST_TO_SAVE * total) return forms;
  let saved = 0;
  for (const site of worth) {
    if (saved >= SAVED * possible) break;
    saved += gain(site);
    forms.set(site.node.name, "dynamicRows");
  }
  return forms;
}

interface Weight {
  /** Per row k: sum and largest of squares. */
  readonly rows: Float64Array;
  readonly rowMax: Float32Array;
  readonly values: Float32Array;
  readonly columns: number;
}

interface Measured extends Weight {
  readonly seen: ChannelStatistics;
  /** Of the product, as if channels were independent. */
  readonly signal: number;
}

function readersWeight(node: Node): { values: Float32Array; dims: readonly [number, number] } {
  const { value, isTurned } = productWeight(node)!;
  return matrixOf(value.constant!, isTurned);
}

/** Weights of a group, each read once for all its products. */
class WeightRows {
  readonly #known = new Map<Value, Map<boolean, Weight>>();

  of(node: Node): Weight {
    const { value, isTurned } = productWeight(node)!;
    const ways = this.#known.get(value) ?? new Map<boolean, Weight>();
    this.#known.set(value, ways);
    const weight = ways.get(isTurned) ?? rowsOf(readersWeight(node));
    ways.set(isTurned, weight);
    return weight;
  }
}

function rowsOf({ values, dims: [k, n] }: ReturnType<typeof readersWeight>): Weight {
  const rows = new Float64Array(k);
  const rowMax = new Float32Array(k);
  for (let row = 0; row < k; row++) {
    let sum = 0;
    let max = 0;
    for (let i = row * n; i < (row + 1) * n; i++) {
      const value = values[i]!;
      sum += value * value;
      max = Math.max(max, Math.abs(value));
    }
    rows[row] = sum;
    rowMax[row] = max;
  }
  return { rows, rowMax, values, columns: n };
}

function measured(weight: Weight, seen: ChannelStatistics): Measured {
  const signal = weight.rows.reduce((sum, square, row) => sum + square * (seen.meanSquare[row] ?? 0), 0);
  return { ...weight, seen, signal };
}

async function bestSmoothing(
  matrices: readonly Measured[],
  target: DynamicLimits,
  plain: readonly number[],
): Promise<{ factors: Float32Array | null; noises: readonly number[] }> {
  const sum = (noises: readonly number[]): number => noises.reduce((a, b) => a + b, 0);
  let best = { factors: null as Float32Array | null, noises: plain };
  let least = sum(plain) * WORTH_SMOOTHING;
  for (const strength of STRENGTHS) {
    const factors = factorsOf(matrices, strength);
    const noises: number[] = [];
    for (const matrix of matrices) {
      await setImmediate();
      noises.push(noiseOf(matrix, factors, target));
    }
    if (sum(noises) >= least) continue;
    least = sum(noises);
    best = { factors, noises };
  }
  return best;
}

/** Around 1; a channel that is always zero, or that no weight reads, keeps 1. */
function factorsOf(matrices: readonly Measured[], strength: number): Float32Array {
  const raw = Float64Array.from(matrices[0]!.rows, (_, k) => {
    const magnitude = Math.max(...matrices.map(({ seen }) => Math.max(seen.max[k]!, -seen.min[k]!)));
    const weight = Math.max(...matrices.map(({ rowMax }) => rowMax[k]!));
    return magnitude > 0 && weight > 0 ? magnitude ** strength / weight ** (1 - strength) : 0;
  });
  const logs = raw.filter((factor) => factor > 0).map(Math.log2);
  const middle = logs.reduce((a, b) => a + b, 0) / Math.max(1, logs.length);
  return Float32Array.from(raw, (factor) => (factor > 0 ? 2 ** (Math.log2(factor) - middle) : 1));
}

function noiseOf(matrix: Measured, factors: Float32Array | null, target: DynamicLimits): number {
  const { min, max, rangeSquare } = matrix.seen;
  // Scales are found per sample: what the extremes of all samples say is brought down to that.
  const ratio = rangeSquare / rangeOf(min, max, null) ** 2;
  const stepSquare = (rangeOf(min, max, factors) ** 2 * ratio) / 255 ** 2;
  let weighted = 0;
  for (let k = 0; k < matrix.rows.length; k++) weighted += matrix.rows[k]! * (factors?.[k] ?? 1) ** 2;
  return ((stepSquare / 12) * weighted + weightNoiseOf(matrix, factors, target)) / matrix.signal;
}

function rowNoiseOf(matrix: Measured, target: DynamicLimits): number {
  const { rowLow, rowHigh, rowSquare } = matrix.seen;
  const stepSquare = (rowSquare * (Math.max(0, rowHigh) - Math.min(0, rowLow)) ** 2) / 255 ** 2;
  const sum = matrix.rows.reduce((a, b) => a + b, 0);
  return ((stepSquare / 12) * sum + weightNoiseOf(matrix, null, target)) / matrix.signal;
}

/** Zero is always in the range. */
function rangeOf(min: Float32Array, max: Float32Array, factors: Float32Array | null): number {
  let low = 0;
  let high = 0;
  for (let k = 0; k < min.length; k++) {
    const factor = factors?.[k] ?? 1;
    low = Math.min(low, min[k]! / factor);
    high = Math.max(high, max[k]! / factor);
  }
  return high - low;
}

function weightNoiseOf(
  { values, columns, rows, seen: { meanSquare } }: Measured,
  factors: Float32Array | null,
  { weightLimit, saturatesPairs }: DynamicLimits,
): number {
  const energy = meanSquare.reduce((sum, square, k) => sum + square / (factors?.[k] ?? 1) ** 2, 0);
  const scaled = factors ? scaledRows(values, columns, factors) : values;
  const scales = weightScales(scaled, [rows.length, columns], 1, weightLimit, saturatesPairs);
  return (scales.reduce((sum, scale) => sum + scale ** 2, 0) / 12) * energy;
}

/**
 * How far float outputs are from the reference. Each number is taken per output and
 * averaged over the float outputs, so that a large one does not drown a small one.
 * Elements equal on both sides, NaN and infinities included, add no distance; an output
 * where only one side is finite gets the worst value there is, so that a broken
 * candidate is judged rather than crashed on.
 */
import { InferOptError } from "../base/errors.js";
import { largestFinite, squareUnit } from "../base/square-unit.js";
import { type FloatTensor, isFloatTensor } from "./classes.js";
import type { NamedTensors } from "./metric.js";
import type { MetricTensor } from "./metric-tensor.js";

/** Signal to noise ratios end here, both ways: equal outputs would have an infinite one. dB. */
const sqnrLimitDb = 100;
const worstMse = 3.4e38;

interface Sums {
  readonly elements: number;
  /**
   * What elements were divided by before they were multiplied: 1 but for very large and very small ones. It is one for
   * both sides: beside an output of 1e160 times its size, a reference counts as 0.
   */
  readonly unit: number;
  /** Sums of reference^2, output^2, reference * output and (output - reference)^2. */
  readonly reference: number;
  readonly output: number;
  readonly product: number;
  readonly noise: number;
  /** Some element is finite on one side only. */
  readonly broken: boolean;
}

/**
 * One number by itself has no direction: it counts as 1 less its difference, relative to the larger of the two where that is
 * above 1, so that a probability counts by its absolute difference; 0 at the least.
 */
function cosine({ elements, unit, reference, output, product, noise, broken }: Sums): number {
  if (broken) return 0;
  if (elements === 1) return Math.max(0, 1 - Math.sqrt(noise / Math.max(1 / unit / unit, reference, output)));
  if (reference === 0 || output === 0) return reference === output ? 1 : 0;
  return product / Math.sqrt(reference) / Math.sqrt(output);
}

export const meanCosine = (outputs: NamedTensors, reference: NamedTensors): number =>
  meanOver("cosine", outputs, reference, cosine);

/** Of the float outputs but one, 0 at the least; 1 where there are no others. */
export function leastCosine(metric: string, outputs: NamedTensors, reference: NamedTensors, but: string): number {
  const others = Object.fromEntries(Object.entries(reference).filter(([name]) => name !== but));
  return Math.max(0, Math.min(1, ...distances(metric, outputs, others, cosine)));
}

/** Sum of squares over all float outputs; what is not finite is left out. Infinite, or 0, where no float64 holds it. */
export const energyOf = (outputs: NamedTensors): number =>
  Object.values(outputs).reduce((sum, tensor) => {
    if (!isFloatTensor(tensor)) return sum;
    const { reference, unit } = sumsOf(tensor, tensor);
    return sum + reference * unit * unit;
  }, 0);

export const meanSqnrDb = (outputs: NamedTensors, reference: NamedTensors): number =>
  meanOver("sqnr", outputs, reference, ({ reference, noise, broken }) => {
    if (broken) return -sqnrLimitDb;
    if (noise === 0) return sqnrLimitDb;
    if (reference === 0) return -sqnrLimitDb;
    return Math.max(-sqnrLimitDb, Math.min(sqnrLimitDb, 10 * Math.log10(reference / noise)));
  });

export const meanMse = (outputs: NamedTensors, reference: NamedTensors): number =>
  meanOver("mse", outputs, reference, ({ noise, elements, unit, broken }) =>
    broken ? worstMse : elements === 0 ? 0 : Math.min(worstMse, (noise / elements) * unit * unit),
  );

function meanOver(
  metric: string,
  outputs: NamedTensors,
  reference: NamedTensors,
  distance: (sums: Sums) => number,
): number {
  const found = distances(metric, outputs, reference, distance);
  if (found.length === 0) {
    throw new InferOptError("METRIC_NO_FLOATS", "input", `${metric} compares float outputs, and the model has none`, {
      hint: "Use agreement, or a metric module.",
      fields: { metric },
    });
  }
  return found.reduce((sum, each) => sum + each, 0) / found.length;
}

/** Of each float output, in the reference's order. */
function distances(
  metric: string,
  outputs: NamedTensors,
  reference: NamedTensors,
  distance: (sums: Sums) => number,
): number[] {
  const found: number[] = [];
  for (const [name, wanted] of Object.entries(reference)) {
    if (!isFloatTensor(wanted)) continue;
    const got = counterpart(metric, name, wanted, outputs);
    if (!isFloatTensor(got)) throw unlike(metric, name, wanted, got);
    found.push(distance(sumsOf(got, wanted)));
  }
  return found;
}

/** The output that answers to the reference's; throws METRIC_OUTPUT_MISSING or METRIC_OUTPUT_SHAPE. */
export function counterpart(metric: string, name: string, wanted: MetricTensor, outputs: NamedTensors): MetricTensor {
  const got = outputs[name];
  if (!got) {
    throw new InferOptError("METRIC_OUTPUT_MISSING", "input", `${metric} compares output "${name}", which is missing`, {
      hint: `The candidate has ${Object.keys(outputs).join(", ") || "no outputs"}; compare models with the same outputs.`,
      fields: { metric, output: name },
    });
  }
  if (got.data.length !== wanted.data.length) throw unlike(metric, name, wanted, got);
  return got;
}

function unlike(metric: string, name: string, wanted: MetricTensor, got: MetricTensor): InferOptError {
  const show = ({ type, dims }: MetricTensor) => `${type}[${dims.join(",")}]`;
  return new InferOptError(
    "METRIC_OUTPUT_SHAPE",
    "input",
    `${metric} compares output "${name}", which is ${show(got)} here and ${show(wanted)} in the reference`,
    {
      hint: "Compare models whose outputs have the same shapes, and with outputs of theirs where data brings some.",
      fields: { metric, output: name },
    },
  );
}

function sumsOf({ data: got }: FloatTensor, { data: wanted }: FloatTensor): Sums {
  const plain = plainSums(got, wanted);
  if ((got instanceof Float32Array && wanted instanceof Float32Array) || isWithin(plain)) return { unit: 1, ...plain };
  const unit = squareUnit(Math.max(largestFinite(got), largestFinite(wanted)));
  if (unit === 1) return { unit, ...plain };
  const inUnits = (data: FloatTensor["data"]): Float64Array => Float64Array.from(data, (value) => value * (1 / unit));
  return { unit, ...plainSums(inUnits(got), inUnits(wanted)) };
}

/** Whether sums of float64 are surely what they are to be: squares beyond 1e308 are infinite, and those below 1e-308 next to 0. */
const isWithin = ({ reference, output, broken }: PlainSums): boolean =>
  !broken && Math.min(reference, output) > 1e-250 && Math.max(reference, output) < 1e300;

type PlainSums = Omit<Sums, "unit">;

function plainSums(got: FloatTensor["data"], wanted: FloatTensor["data"]): PlainSums {
  const elements = wanted.length;
  const sums = { elements, reference: 0, output: 0, product: 0, noise: 0, broken: false };
  for (let from = 0; from < elements; from += PIECE) {
    addPiece(sums, got, wanted, from, Math.min(elements, from + PIECE));
  }
  return sums;
}

/**
 * Elements at a time: a loop over all of a large tensor would be over before the engine has compiled the function, and each
 * call begins slowly again. The order of sums is the same.
 */
const PIECE = 4096;

function addPiece(
  sums: { -readonly [key in keyof PlainSums]: PlainSums[key] },
  a: FloatTensor["data"],
  b: FloatTensor["data"],
  from: number,
  to: number,
): void {
  let { reference, output, product, noise, broken } = sums;
  for (let i = from; i < to; i++) {
    const x = a[i]!;
    const y = b[i]!;
    const difference = x - y;
    // NaN or infinite when either is; infinite also when finite values lie a float64 apart.
    if (!Number.isFinite(difference)) {
      if (!Object.is(x, y)) broken = true;
      continue;
    }
    reference += y * y;
    output += x * x;
    product += x * y;
    noise += difference * difference;
  }
  sums.reference = reference;
  sums.output = output;
  sums.product = product;
  sums.noise = noise;
  sums.broken = broken;
}

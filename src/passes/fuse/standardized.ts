/**
 * Standardization written out, the heart of all normalizations:
 *
 *   centred      (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)
 *   not centred             x / sqrt(mean(x^2) + epsilon)
 *
 * with the mean over any axes; the square as a product, a Pow or ReduceSumSquare; the variance also as
 * mean(x^2) - mean(x)^2, held above zero perhaps; the division also as a product by the inverse (Reciprocal, 1 / sqrt, Pow
 * by -0.5). Nobody but the formula reads what it is made of, except for the mean.
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import { inputOrders, producerOf, scalarBeside, soleProducer, splitConstant } from "../../rewrite/match.js";
import { clipRangeOf } from "./clip-range.js";
import { isSameAxes, meanOf, meanSquareOf } from "./reduced-axes.js";
import { numberBeside } from "./scalar-algebra.js";

export interface Standardized {
  readonly x: Value;
  /** From the back, in order. */
  readonly axes: readonly number[];
  readonly epsilon: number;
  readonly isCentred: boolean;
}

/** The second moment of x, plus epsilon, around its mean, or around zero where there is none. */
export interface Moment {
  readonly x: Value;
  readonly mean: Value | null;
  /** x - mean, where the variance is made of it; then it is read there. */
  readonly deviation: { readonly value: Value; readonly square: Node } | null;
  readonly axes: readonly number[];
  readonly epsilon: number;
}

/** A standardized tensor and what multiplies it in the same breath. */
export interface ScaledForm extends Standardized {
  readonly gamma: Value | null;
}

/**
 * What a quotient, or a product by an inverse, standardizes; null when it does not. A factor may stand
 * with what is divided or with what it is multiplied by: (g * d) / s, d * (i * g), (g * d) * i.
 */
export function standardizedOf(root: Node): ScaledForm | null {
  const [a, b] = root.inputs;
  if (!a || !b) return null;
  if (root.is("Div")) return quotientOf(root, a, momentOfRoot(b));
  if (!root.is("Mul")) return null;
  for (const [numerator, inverse] of [
    [a, b],
    [b, a],
  ] as const) {
    const plain = quotientOf(root, numerator, momentOfInverse(inverse));
    if (plain) return plain;
    for (const [part, gamma] of partsOf(inverse)) {
      const found = unscaled(root, numerator, momentOfInverse(part));
      if (found) return { ...found, gamma };
    }
  }
  return null;
}

/** The two orders of a product that nobody else reads. */
const partsOf = (value: Value): (readonly [Value, Value])[] => inputOrders(soleProducer(value, "Mul"));

function quotientOf(root: Node, numerator: Value, moment: Moment | null): ScaledForm | null {
  if (!moment) return null;
  const plain = unscaled(root, numerator, moment);
  if (plain) return { ...plain, gamma: null };
  for (const [part, gamma] of partsOf(numerator)) {
    const found = unscaled(numerator.producer!, part, moment);
    if (found) return { ...found, gamma };
  }
  return null;
}

/** From x, or x - mean(x), which `reader` reads, and the moment by which it is divided. */
export function unscaled(reader: Node, numerator: Value, moment: Moment | null): Standardized | null {
  if (!moment) return null;
  const { x, mean, deviation, axes, epsilon } = moment;
  if (!mean) return numerator === x ? { x, axes, epsilon, isCentred: false } : null;
  const difference = producerOf(numerator, "Sub", reader.graph);
  const centre = difference?.inputs[1];
  if (difference?.inputs[0] !== x || !centre || (centre !== mean && !isMeanOf(centre, x, axes))) return null;
  const readers = new Set([reader, ...(deviation ? [deviation.square] : [])]);
  const isOurs = [numerator, ...(deviation ? [deviation.value] : [])].every((value) =>
    value.uses.every((use) => use.kind === "input" && readers.has(use.node)),
  );
  return isOurs ? { x, axes, epsilon, isCentred: true } : null;
}

/** Whether a value is the mean of x over these axes. */
export function isMeanOf(value: Value, x: Value, axes: readonly number[]): boolean {
  const mean = meanOf(value);
  return mean?.of === x && isSameAxes(mean.axes, axes);
}

/** Of sqrt(variance + epsilon). */
export function momentOfRoot(value: Value | null | undefined): Moment | null {
  const root = soleProducer(value, "Sqrt");
  if (root) return momentOf(root.inputs[0]);
  const power = soleProducer(value, "Pow");
  return power && scalarBeside(power.inputs[1], power.inputs[0]) === 0.5 ? momentOf(power.inputs[0]) : null;
}

/** Of 1 / sqrt(variance + epsilon). */
export function momentOfInverse(value: Value | null | undefined): Moment | null {
  return value && soleProducer(value, value.producer?.op ?? "") ? momentOfSharedInverse(value) : null;
}

/** The same, of an inverse that others read as well. */
export function momentOfSharedInverse(value: Value): Moment | null {
  const node = value.producer;
  if (!node || node.graph !== value.graph) return null;
  const [first, second] = node.inputs;
  if (node.is("Reciprocal")) return momentOfRoot(first);
  if (node.is("Pow")) return scalarBeside(second, first) === -0.5 ? momentOf(first) : null;
  if (!node.is("Div") || !first || !second) return null;
  return numberBeside(first, second) === 1 ? momentOfRoot(second) : null;
}

/** Of variance + epsilon. */
export function momentOf(value: Value | null | undefined): Moment | null {
  const sum = soleProducer(value, "Add");
  const operands = sum && splitConstant(sum);
  const epsilon = operands && numberBeside(operands.constant, operands.other);
  if (!operands || epsilon === null || !(epsilon >= 0)) return null;
  const variance = heldAboveZero(operands.other) ?? operands.other;
  if (!variance.producer || !soleProducer(variance, variance.producer.op)) return null;
  return momentAroundMean(variance, epsilon) ?? momentByDifference(variance, epsilon);
}

/** What a Relu, or a Max with zero, keeps above zero for one reader, as a variance is by itself. */
function heldAboveZero(value: Value): Value | null {
  const range = soleReader(value) && value.producer ? clipRangeOf(value.producer) : null;
  return range?.min === 0 && range.max === Number.POSITIVE_INFINITY ? range.input : null;
}

/** mean(u^2), u perhaps being a deviation from its mean. */
function momentAroundMean(variance: Value, epsilon: number): Moment | null {
  const average = averageSquareOf(variance);
  if (!average) return null;
  const { of, axes, node } = average;
  const difference = producerOf(of, "Sub", variance.graph);
  const [x, mean] = difference?.inputs ?? [];
  if (x && mean && isMeanOf(mean, x, axes)) return { x, mean, deviation: { value: of, square: node }, axes, epsilon };
  return { x: of, mean: null, deviation: null, axes, epsilon };
}

/** mean(x^2) - mean(x)^2 */
function momentByDifference(variance: Value, epsilon: number): Moment | null {
  const [minuend, subtrahend] = producerOf(variance, "Sub", variance.graph)?.inputs ?? [];
  const square = squareOf(subtrahend);
  const around = square && meanOf(square.of);
  const average = minuend && soleProducer(minuend, minuend.producer?.op ?? "") ? averageSquareOf(minuend) : null;
  if (!square || !around || !average) return null;
  if (average.of !== around.of || !isSameAxes(around.axes, average.axes)) return null;
  return { x: average.of, mean: square.of, deviation: null, axes: average.axes, epsilon };
}

/** u, the axes and the node that reads u, of mean(u^2). */
function averageSquareOf(value: Value): { of: Value; axes: readonly number[]; node: Node } | null {
  const average = meanOf(value);
  const square = average && squareOf(average.of);
  if (square) return { ...square, axes: average.axes };
  const squares = meanSquareOf(value);
  return squares && { of: squares.of, axes: squares.axes, node: squares.sum };
}

/** u and the node, of u * u or Pow(u, 2) that nobody else reads. */
function squareOf(value: Value | null | undefined): { of: Value; node: Node } | null {
  const node = soleProducer(value, "Pow") ?? soleProducer(value, "Mul");
  const [of, second] = node?.inputs ?? [];
  if (!node || !of || !second) return null;
  const isSquare = node.is("Pow") ? scalarBeside(second, of) === 2 : second === of;
  return isSquare ? { of, node } : null;
}

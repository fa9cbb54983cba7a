/** How long a transform takes as products, beside the runtime's kernel. */
import { binsOf, isToReal, sizeOf, type Transform } from "./transform.js";

/** Elements of one matrix: what it adds to the file. */
const MOST_WEIGHTS = 2 ** 20;
/** A weight of the matrix takes 0.03 ns a row, and 0.1 to fetch; a step of the kernel's transform takes 4.5. */
const WEIGHTS_FOR_A_STEP = 80;
const ROWS_TO_FETCH = 4;

/**
 * Whether a product with the matrix is faster than ONNX Runtime's kernel, for so many rows; measured with 1.30 and AVX2, 1 thread.
 */
export const isFasterAsMatrix = (transform: Transform, rows: number): boolean =>
  weightsOf(transform) <= MOST_WEIGHTS &&
  matrixCost(transform, rows) <= WEIGHTS_FOR_A_STEP * kernelSteps(transform.length);

const weightsOf = ({ from, to }: Transform): number => sizeOf(from) * sizeOf(to);
const matrixCost = (transform: Transform, rows: number): number => weightsOf(transform) * (1 + ROWS_TO_FETCH / rows);

/** It halves again and again, and makes three transforms of at least twice the length where that is no power of two. */
function kernelSteps(length: number): number {
  const halved = Number.isInteger(Math.log2(length)) ? length : 2 ** Math.ceil(Math.log2(2 * length - 1));
  return halved * Math.log2(Math.max(2, halved));
}

/** A length that is a product, of places n1 + first * n2 and of bins second * k1 + k2: Cooley and Tukey, 1965. */
export interface Factors {
  readonly first: number;
  readonly second: number;
}

/** Products of the steps: of each place all of `second`, and of each bin all of `first`. */
const productsOf = ({ first, second }: Factors, transform: Transform): number =>
  2 * realParts(transform) * first * second * second + 4 * first * second * Math.ceil(binsOf(transform) / second);

const weightsOfSteps = ({ first, second }: Factors, transform: Transform): number =>
  2 * realParts(transform) * first * second * second + 4 * first * Math.ceil(binsOf(transform) / second);

const realParts = ({ from, to }: Transform): number => Math.min(from.parts, to.parts);

/** A weight for what the nodes of the steps take by themselves, 20 us. */
const WEIGHTS_OF_STEPS = 650_000;
/** An element that is moved, 1 ns. */
const WEIGHTS_OF_MOVE = 30;

/**
 * The factors by which a transform is faster than by its matrix and by the runtime's kernel, of the first of which `isAllowed`; null
 * for none. `moved`: elements that are put into another order for it.
 */
export function fasterFactors(
  transform: Transform,
  rows: number,
  isAllowed: (first: number) => boolean,
  moved = 0,
): Factors | null {
  const { length, from } = transform;
  if (!isToReal(transform) && from.places !== length) return null;
  const all = divisorsOf(length).filter(isAllowed);
  // Of two that take as long, the one with fewer weights.
  const cost = (factors: Factors): number =>
    productsOf(factors, transform) + WEIGHTS_OF_STEPS / rows + WEIGHTS_OF_MOVE * moved;
  const [best] = all
    .map((first): Factors => ({ first, second: length / first }))
    .sort((a, b) => cost(a) + weightsOfSteps(a, transform) - cost(b) - weightsOfSteps(b, transform));
  if (!best || weightsOfSteps(best, transform) > MOST_WEIGHTS) return null;
  const isFaster = cost(best) <= WEIGHTS_FOR_A_STEP * kernelSteps(length) && cost(best) < matrixCost(transform, rows);
  return isFaster ? best : null;
}

/** All but 1 and the number itself. */
function divisorsOf(length: number): number[] {
  const small: number[] = [];
  for (let each = 2; each * each <= length; each++) if (length % each === 0) small.push(each);
  return [...new Set(small.flatMap((each) => [each, length / each]))];
}

/** A discrete Fourier transform as a matrix, and what either takes. */

/** Of `length` places; real tensors have one part, complex ones two: the real one and the imaginary one. */
export interface Transform {
  readonly length: number;
  readonly inverse: boolean;
  /** How many places, or bins, of how many parts it is given, `length` at most: what is missing is 0. */
  readonly from: Side;
  readonly to: Side;
}

export interface Side {
  readonly parts: 1 | 2;
  readonly places: number;
}

export const sizeOf = ({ parts, places }: Side): number => parts * places;

/** Back from bins to real places, of which half of the bins tell all. */
export const isToReal = ({ from, to }: Transform): boolean => from.parts === 2 && to.parts === 1;

/** Axes of the matrix, in their order: what comes out, of what is given. */
export const matrixAxes = ["part", "place", "givenPlace", "givenPart"] as const;

/**
 * What each result has of each part that is given, with the axes in the order of `matrixAxes`. The sums are those of
 * https://onnx.ai/onnx/operators/onnx__DFT.html; from complex bins to real places, each bin stands for its conjugate too.
 */
export function transformMatrix(transform: Transform): Float64Array {
  const { length, inverse, from, to } = transform;
  const { cosine, sine } = circle(length);
  const matrix = new Float64Array(sizeOf(to) * sizeOf(from));
  let at = 0;
  for (let part = 0; part < to.parts; part++) {
    for (let place = 0; place < to.places; place++) {
      for (let givenPlace = 0; givenPlace < from.places; givenPlace++) {
        const turn = (givenPlace * place) % length;
        for (let givenPart = 0; givenPart < from.parts; givenPart++) {
          const weight = partWeight(transform, givenPlace, givenPart);
          // (a + bi) * (cos + i * sin) has -b * sin in its real part and a * sin in the other; forwards the angle is negative.
          const sign = part > givenPart === inverse ? 1 : -1;
          matrix[at++] = weight * (part === givenPart ? cosine[turn]! : sign * sine[turn]!);
        }
      }
    }
  }
  return matrix;
}

/** How often a part that is given counts. */
export function partWeight(transform: Transform, place: number, part: number): number {
  const { length, inverse } = transform;
  const scale = inverse ? 1 / length : 1;
  if (!isToReal(transform)) return scale;
  const isOwnConjugate = place === 0 || 2 * place === length;
  return isOwnConjugate ? (part === 0 ? scale : 0) : 2 * scale;
}

/** Of every angle that there is; those of quarters are exact. */
export function circle(length: number): { readonly cosine: Float64Array; readonly sine: Float64Array } {
  const cosine = new Float64Array(length);
  const sine = new Float64Array(length);
  for (let turn = 0; turn < length; turn++) {
    const isQuarter = (4 * turn) % length === 0;
    const angle = (2 * Math.PI * turn) / length;
    cosine[turn] = isQuarter ? Math.round(Math.cos(angle)) : Math.cos(angle);
    sine[turn] = isQuarter ? Math.round(Math.sin(angle)) : Math.sin(angle);
  }
  return { cosine, sine };
}

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
export const binsOf = (transform: Transform): number => (isToReal(transform) ? transform.from : transform.to).places;

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
  const lengths = Array.from({ length: Math.max(0, length - 2) }, (_, i) => i + 2);
  const all = lengths.filter((first) => length % first === 0 && isAllowed(first));
  const cost = (factors: Factors): number =>
    productsOf(factors, transform) + WEIGHTS_OF_STEPS / rows + WEIGHTS_OF_MOVE * moved;
  const [best] = all
    .map((first): Factors => ({ first, second: length / first }))
    .sort((a, b) => cost(a) + weightsOfSteps(a, transform) - cost(b) - weightsOfSteps(b, transform));
  if (!best || weightsOfSteps(best, transform) > MOST_WEIGHTS) return null;
  const isFaster = cost(best) <= WEIGHTS_FOR_A_STEP * kernelSteps(length) && cost(best) < matrixCost(transform, rows);
  return isFaster ? best : null;
}

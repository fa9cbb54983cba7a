/** A discrete Fourier transform as a matrix, and what either takes. */

/** Of `length` places; real tensors have one part, complex ones two: the real one and the imaginary one. */
export interface Transform {
  readonly length: number;
  readonly inverse: boolean;
  /** How many places, or bins, of how many parts it is given: what is missing to `length` is 0, what is beyond is not read. */
  readonly from: Side;
  readonly to: Side;
}

export interface Side {
  readonly parts: 1 | 2;
  readonly places: number;
}

export const sizeOf = ({ parts, places }: Side): number => parts * places;

/** Axes of the matrix: what is given, and what comes out. */
export type MatrixAxis = "givenPart" | "givenPlace" | "part" | "place";

export const axisSizes = ({ from, to }: Transform): Record<MatrixAxis, number> => ({
  givenPart: from.parts,
  givenPlace: from.places,
  part: to.parts,
  place: to.places,
});

/**
 * What each result has of each part that is given, with the axes in this order. The sums are those of
 * https://onnx.ai/onnx/operators/onnx__DFT.html; from complex bins to real places, each bin stands for its conjugate too.
 */
export function transformMatrix(transform: Transform, order: readonly MatrixAxis[]): Float64Array {
  const { length, inverse, from, to } = transform;
  const { cosine, sine } = circle(length);
  const isHalf = from.parts === 2 && to.parts === 1;
  const step = stepsOf(transform, order);
  const matrix = new Float64Array(sizeOf(from) * sizeOf(to));
  for (let givenPart = 0; givenPart < from.parts; givenPart++) {
    for (let givenPlace = 0; givenPlace < Math.min(from.places, length); givenPlace++) {
      const isOwnConjugate = givenPlace === 0 || 2 * givenPlace === length;
      if (isHalf && isOwnConjugate && givenPart === 1) continue;
      const weight = (isHalf && !isOwnConjugate ? 2 : 1) / (inverse ? length : 1);
      for (let part = 0; part < to.parts; part++) {
        // (a + bi) * (cos + i * sin) has -b * sin in its real part and a * sin in the other; forwards the angle is negative.
        const sign = part > givenPart === inverse ? weight : -weight;
        for (let place = 0; place < to.places; place++) {
          const turn = (givenPlace * place) % length;
          const at = givenPart * step.givenPart + givenPlace * step.givenPlace + part * step.part + place * step.place;
          matrix[at] = part === givenPart ? weight * cosine[turn]! : sign * sine[turn]!;
        }
      }
    }
  }
  return matrix;
}

/** How far apart neighbours along an axis lie. */
function stepsOf(transform: Transform, order: readonly MatrixAxis[]): Record<MatrixAxis, number> {
  const sizes = axisSizes(transform);
  const steps = { ...sizes };
  let step = 1;
  for (const axis of order.toReversed()) {
    steps[axis] = step;
    step *= sizes[axis];
  }
  return steps;
}

/** Of every angle that there is; those of quarters are exact. */
function circle(length: number): { readonly cosine: Float64Array; readonly sine: Float64Array } {
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

/** What the steps of a real transform by factors take, beside a matrix in a step: of each place all of `second`, then of each bin all of `first`. */
const weightsByFactors = ({ first, second }: Factors, bins: number): number =>
  2 * first * second * second + 4 * first * second * Math.ceil(bins / second);

/** A weight for what the nodes of the steps take by themselves, 20 us. */
const WEIGHTS_OF_STEPS = 650_000;

/** The factors by which a real transform to so many bins is faster than by its matrix and by the runtime's kernel; null for none. */
export function fasterFactors(
  transform: Transform,
  isAllowed: (first: number) => boolean,
  rows: number,
): Factors | null {
  const { length, to } = transform;
  const lengths = Array.from({ length: Math.max(0, length - 2) }, (_, i) => i + 2);
  const all = lengths.filter((first) => length % first === 0 && isAllowed(first));
  const stored = ({ first, second }: Factors): number =>
    2 * length * second + 4 * first * Math.ceil(to.places / second);
  const cost = (factors: Factors): number => weightsByFactors(factors, to.places) + WEIGHTS_OF_STEPS / rows;
  const [best] = all
    .map((first): Factors => ({ first, second: length / first }))
    .sort((a, b) => cost(a) + stored(a) - cost(b) - stored(b));
  if (!best || stored(best) > MOST_WEIGHTS) return null;
  return cost(best) <= WEIGHTS_FOR_A_STEP * kernelSteps(length) && cost(best) < matrixCost(transform, rows)
    ? best
    : null;
}

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
 * Whether a product with the matrix is faster than ONNX Runtime's kernel, for so many rows; measured with 1.30 and AVX2, 1 thread. The
 * kernel halves again and again, and makes three such transforms of at least twice the length where it is no power of two.
 */
export function isFasterAsMatrix({ length, from, to }: Transform, rows: number): boolean {
  const weights = sizeOf(from) * sizeOf(to);
  const halved = Number.isInteger(Math.log2(length)) ? length : 2 ** Math.ceil(Math.log2(2 * length - 1));
  const steps = halved * Math.log2(Math.max(2, halved));
  return weights <= MOST_WEIGHTS && weights * (1 + ROWS_TO_FETCH / rows) <= WEIGHTS_FOR_A_STEP * steps;
}

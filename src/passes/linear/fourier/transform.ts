/** A discrete Fourier transform as a matrix. */

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
        const weight = weightOf(transform, givenPlace);
        for (let givenPart = 0; givenPart < from.parts; givenPart++) {
          // (a + bi) * (cos + i * sin) has -b * sin in its real part and a * sin in the other; forwards the angle is negative.
          const sign = part > givenPart === inverse ? 1 : -1;
          matrix[at++] = weight * (part === givenPart ? cosine[turn]! : sign * sine[turn]!);
        }
      }
    }
  }
  return matrix;
}

/** How often what is given at a place counts, with the 1 / n of the way back: twice where it stands for its conjugate too. */
export function weightOf(transform: Transform, place: number): number {
  const { length, inverse } = transform;
  const scale = inverse ? 1 / length : 1;
  if (!isToReal(transform)) return scale;
  const isOwnConjugate = place === 0 || 2 * place === length;
  return isOwnConjugate ? scale : 2 * scale;
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

/** On the side of the spectrum. */
export const binsOf = (transform: Transform): number => (isToReal(transform) ? transform.from : transform.to).places;

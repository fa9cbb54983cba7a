/**
 * Resizing of 8-bit images to the last bit as Pillow does it, because that is what most
 * models were trained and evaluated with.
 *
 * Bilinear and bicubic weigh all source pixels under the filter's support, widened by the
 * ratio when shrinking (so there is no aliasing). Weights are integers of 22 fractional
 * bits, rounded half away from zero; a pass rounds and clips to 0..255; first along
 * rows, then along columns. Nearest takes the pixel under each target's centre.
 *
 * The order of passes is that of Pillow up to 12. Pillow 13 begins with columns when the
 * height shrinks much more than the width; results then differ, mostly by 1.
 */

/** An image of 8-bit samples, channels interleaved: [height, width, channels]. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Uint8Array;
}

export const resizeModes = ["bilinear", "bicubic", "nearest"] as const;
export type ResizeMode = (typeof resizeModes)[number];

/** 32 bits less 8 of the pixel and 2 of headroom for bicubic overshoot. */
const PRECISION_BITS = 22;

const filters = {
  bilinear: { support: 1, weight: (x: number) => Math.max(0, 1 - Math.abs(x)) },
  bicubic: { support: 2, weight: cubic },
};

/** Keys' cubic convolution kernel with a = -0.5. */
function cubic(distance: number): number {
  const a = -0.5;
  const x = Math.abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

export function resize(image: Pixels, height: number, width: number, mode: ResizeMode): Pixels {
  if (image.width === width && image.height === height) return image;
  if (mode === "nearest") return resizeNearest(image, height, width);
  const wide = image.width === width ? image : resizeRows(image, width, mode);
  return wide.height === height ? wide : transposed(resizeRows(transposed(wide), height, mode));
}

interface Window {
  /** First source position, and one fixed-point weight per position from there. */
  readonly from: number;
  readonly weights: Int32Array;
}

function windowsOf(
  sourceSize: number,
  targetSize: number,
  { support, weight }: (typeof filters)["bilinear"],
): Window[] {
  const scale = sourceSize / targetSize;
  const stretch = Math.max(1, scale);
  const reach = support * stretch;
  return Array.from({ length: targetSize }, (_, target) => {
    const centre = (target + 0.5) * scale;
    const from = Math.max(0, Math.trunc(centre - reach + 0.5));
    const to = Math.min(sourceSize, Math.trunc(centre + reach + 0.5));
    // The multiplication by the reciprocal, not a division, is what Pillow rounds.
    const raw = Array.from({ length: to - from }, (_, i) => weight((i + from - centre + 0.5) * (1 / stretch)));
    const sum = raw.reduce((total, value) => total + value, 0);
    const fixed = raw.map((value) => {
      const scaled = (sum === 0 ? value : value / sum) * (1 << PRECISION_BITS);
      return Math.trunc(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    });
    return { from, weights: Int32Array.from(fixed) };
  });
}

function resizeRows(image: Pixels, width: number, mode: "bilinear" | "bicubic"): Pixels {
  const { height, channels, data } = image;
  const windows = windowsOf(image.width, width, filters[mode]);
  const out = new Uint8Array(height * width * channels);
  let at = 0;
  for (let y = 0; y < height; y++) {
    const row = y * image.width * channels;
    for (const { from, weights } of windows) {
      for (let c = 0; c < channels; c++) {
        let sum = 1 << (PRECISION_BITS - 1);
        let source = row + from * channels + c;
        for (let i = 0; i < weights.length; i++) {
          sum += data[source]! * weights[i]!;
          source += channels;
        }
        out[at++] = Math.max(0, Math.min(255, sum >> PRECISION_BITS));
      }
    }
  }
  return { width, height, channels, data: out };
}

function transposed({ width, height, channels, data }: Pixels): Pixels {
  const out = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * channels;
      const to = (x * height + y) * channels;
      for (let c = 0; c < channels; c++) out[to + c] = data[from + c]!;
    }
  }
  return { width: height, height: width, channels, data: out };
}

function resizeNearest(
  { width: sourceWidth, height: sourceHeight, channels, data }: Pixels,
  height: number,
  width: number,
): Pixels {
  const columns = nearestPositions(sourceWidth, width);
  const rows = nearestPositions(sourceHeight, height);
  const out = new Uint8Array(height * width * channels);
  let at = 0;
  for (const y of rows) {
    for (const x of columns) {
      const from = (y * sourceWidth + x) * channels;
      for (let c = 0; c < channels; c++) out[at++] = data[from + c]!;
    }
  }
  return { width, height, channels, data: out };
}

/** Summed step by step, not multiplied, so that rounding falls as it does in Pillow. */
function nearestPositions(sourceSize: number, targetSize: number): number[] {
  const scale = sourceSize / targetSize;
  let position = scale * 0.5;
  return Array.from({ length: targetSize }, () => {
    const nearest = Math.min(sourceSize - 1, Math.trunc(position));
    position += scale;
    return nearest;
  });
}

/** From pixels to a model's input: resize, crop, scale, normalize, order axes. All sizes are [height, width]. */
import { f32ToF16 } from "../base/f16.js";
import { Tensor } from "../ir/index.js";
import { datasetError } from "./errors.js";
import { type Pixels, type ResizeMode, resize } from "./resample.js";

export type ResizeStep =
  /** Exactly this size: `stretch` ignores the aspect ratio, `pad` keeps it and fills the rest evenly on both sides. */
  | {
      readonly size: readonly [height: number, width: number];
      readonly mode: ResizeMode;
      readonly fit: "stretch" | "pad";
      /** Value of padding before scaling, 0..255. */
      readonly fill: number;
    }
  /** The shorter side gets this size, the other in proportion (rounded down). */
  | { readonly shortSide: number; readonly mode: ResizeMode };

export interface Preprocess {
  readonly resize: ResizeStep | null;
  /** Cut from the centre. */
  readonly crop: readonly [height: number, width: number] | null;
  readonly channels: "RGB" | "BGR" | "gray";
  /** value = (pixel * scale - mean) / std, mean and std by channel in the order of `channels`. */
  readonly scale: number;
  readonly mean: readonly number[];
  readonly std: readonly number[];
  readonly layout: "NCHW" | "NHWC";
  readonly dtype: "f32" | "f16" | "u8";
}

/** A tensor [1, C, H, W] or [1, H, W, C]. Throws DATASET_IMAGE_SIZE when the image is smaller than the crop. */
export function preprocess(image: Pixels, steps: Preprocess, label: string): Tensor {
  const resized = steps.resize ? applyResize(image, steps.resize) : image;
  return toTensor(steps.crop ? cropCentre(resized, steps.crop, label) : resized, steps);
}

function applyResize(image: Pixels, step: ResizeStep): Pixels {
  const { width, height } = image;
  if ("shortSide" in step) {
    const long = (side: number, other: number) => Math.trunc((step.shortSide * side) / other);
    return width <= height
      ? resize(image, long(height, width), step.shortSide, step.mode)
      : resize(image, step.shortSide, long(width, height), step.mode);
  }
  const [toHeight, toWidth] = step.size;
  if (step.fit === "stretch") return resize(image, toHeight, toWidth, step.mode);
  const ratio = Math.min(toHeight / height, toWidth / width);
  const inner = [height * ratio, width * ratio].map((side) => Math.max(1, Math.round(side))) as [number, number];
  return padTo(resize(image, ...inner, step.mode), toHeight, toWidth, step.fill);
}

/** An odd pixel goes below and to the right. */
function padTo(image: Pixels, height: number, width: number, fill: number): Pixels {
  const { channels, data } = image;
  const top = (height - image.height) >> 1;
  const left = (width - image.width) >> 1;
  const out = new Uint8Array(height * width * channels).fill(fill);
  for (let y = 0; y < image.height; y++) {
    const row = data.subarray(y * image.width * channels, (y + 1) * image.width * channels);
    out.set(row, ((y + top) * width + left) * channels);
  }
  return { width, height, channels, data: out };
}

function cropCentre(image: Pixels, [height, width]: readonly [number, number], label: string): Pixels {
  if (image.height < height || image.width < width) {
    throw datasetError(
      "DATASET_IMAGE_SIZE",
      `${label} is ${image.height} x ${image.width} (height x width) before the crop to ${height} x ${width}`,
      "Resize to at least the size of the crop first.",
      { fields: { image: label } },
    );
  }
  const top = halfToEven(image.height - height);
  const left = halfToEven(image.width - width);
  const { channels } = image;
  const out = new Uint8Array(height * width * channels);
  for (let y = 0; y < height; y++) {
    const from = ((y + top) * image.width + left) * channels;
    out.set(image.data.subarray(from, from + width * channels), y * width * channels);
  }
  return { width, height, channels, data: out };
}

/** Half of a whole number, .5 rounded to even: where torchvision's centre crop begins. */
function halfToEven(twice: number): number {
  const half = twice >> 1;
  return twice % 2 === 1 && half % 2 === 1 ? half + 1 : half;
}

function toTensor({ width, height, channels, data }: Pixels, steps: Preprocess): Tensor {
  const nchw = steps.layout === "NCHW";
  const dims = nchw ? [1, channels, height, width] : [1, height, width, channels];
  const area = width * height;
  const at = (pixel: number, channel: number) => (nchw ? channel * area + pixel : pixel * channels + channel);
  const source = (channel: number) => (steps.channels === "BGR" ? channels - 1 - channel : channel);
  const values = steps.dtype === "u8" ? new Uint8Array(data.length) : new Float32Array(data.length);
  for (let c = 0; c < channels; c++) {
    const mean = steps.mean[steps.mean.length === 1 ? 0 : c] ?? 0;
    const std = steps.std[steps.std.length === 1 ? 0 : c] ?? 1;
    // 256 possible values: computed once each, in double precision, rounded once.
    const table = Float64Array.from({ length: 256 }, (_, pixel) => (pixel * steps.scale - mean) / std);
    for (let p = 0; p < area; p++) values[at(p, c)] = table[data[p * channels + source(c)]!]!;
  }
  if (values instanceof Uint8Array) return Tensor.ofArray("u8", dims, values);
  return steps.dtype === "f16" ? Tensor.ofArray("f16", dims, f32ToF16(values)) : Tensor.ofArray("f32", dims, values);
}

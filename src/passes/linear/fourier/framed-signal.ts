/** What an STFT transforms: a real signal, frame by frame. */
import type { Dim, Node, Shape, Value } from "../../../ir/index.js";
import { constantOf, constantScalar, isKnown } from "../../../rewrite/match.js";
import { symbolOf } from "../../fold/size.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { floatsOf } from "../../fuse/linear.js";
import type { Transform } from "./transform.js";

export interface FramedSignal {
  readonly signal: Value;
  /** Of the signal: a batch in front, samples, and axes of 1. */
  readonly shape: Shape;
  /** Of the samples. */
  readonly axis: number;
  /** null where it is not known. */
  readonly frames: number | null;
  /** Samples from the begin of a frame to that of the next. */
  readonly step: number;
  /** Its length is that of a frame. */
  readonly window: ArrayLike<number>;
  readonly bins: number;
}

/** null where the signal is complex, or anything that weights depend on is computed. */
export function framedSignalOf(stft: Node, { shapeOf }: SizeFacts): FramedSignal | null {
  const [signal, every, window, length] = stft.inputs;
  const step = constantScalar(every);
  const taps = window ? windowOf(window) : evenWindow(constantScalar(length) ?? 0);
  const sizes = shapeOf(signal);
  if (!signal || !sizes || signal.dtype !== "f32" || step === null || step < 1 || !taps || taps.length === 0)
    return null;
  if (length && constantScalar(length) !== taps.length) return null;
  const shape = sizes.map((size, axis) => (typeof size === "number" ? size : (signal.shape?.[axis] ?? symbolOf(size))));
  if (shape.length < 2 || shape.length > 3 || (shape[2] ?? 1) !== 1) return null;
  const bins = stft.int("onesided", 1) === 0 ? taps.length : Math.floor(taps.length / 2) + 1;
  const frames = framesOf(shape[1]!, taps.length, step);
  return frames === null || frames > 0 ? { signal, shape, axis: 1, frames, step, window: taps, bins } : null;
}

/** Frames that lie within a signal; null where its length is not known. */
export const framesOf = (samples: Dim, length: number, step: number): number | null =>
  isKnown(samples) ? Math.floor((samples - length) / step) + 1 : null;

/** Longer ones are no windows of anything that weights could be made for. */
const LONGEST = 2 ** 20;

const evenWindow = (length: number): Float64Array | null =>
  length <= LONGEST ? new Float64Array(length).fill(1) : null;

function windowOf(window: Value): ArrayLike<number> | null {
  const tensor = constantOf(window);
  return tensor?.dims.length === 1 ? floatsOf(tensor) : null;
}

/** Of each frame. */
export const transformOf = ({ window, bins }: FramedSignal): Transform => ({
  length: window.length,
  inverse: false,
  from: { parts: 1, places: window.length },
  to: { parts: 2, places: bins },
});

/** How often the transform is made: of a signal of unknown length very often. */
export const rowsOf = ({ shape, frames }: FramedSignal): number =>
  frames === null ? Number.POSITIVE_INFINITY : frames * (isKnown(shape[0]) ? shape[0] : 1);

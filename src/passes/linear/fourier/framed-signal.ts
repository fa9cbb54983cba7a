/** What an STFT transforms: a real signal, frame by frame. */
import type { Dim, Node, Value } from "../../../ir/index.js";
import { constantOf, constantScalar, isKnown } from "../../../rewrite/match.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { floatsOf } from "../../fuse/linear.js";
import type { Transform } from "./transform.js";

export interface FramedSignal {
  /** [batch, samples], or with an axis of 1 behind. */
  readonly signal: Value;
  readonly rank: number;
  readonly batch: Dim;
  readonly samples: Dim;
  /** null where it is not known. */
  readonly frames: number | null;
  /** Samples from the begin of a frame to that of the next. */
  readonly step: number;
  readonly window: ArrayLike<number>;
  readonly bins: number;
}

/** null where the signal is complex, or anything that weights depend on is computed. */
export function framedSignalOf(stft: Node, { shapeOf }: SizeFacts): FramedSignal | null {
  const [signal, every, window, length] = stft.inputs;
  const step = constantScalar(every);
  const taps = window ? windowOf(window) : Array.from({ length: constantScalar(length) ?? 0 }, () => 1);
  const sizes = shapeOf(signal);
  if (!signal || !sizes || signal.dtype !== "f32" || step === null || step < 1 || !taps || taps.length === 0)
    return null;
  if (length && constantScalar(length) !== taps.length) return null;
  const [batch, samples, ...parts] = sizes.map((size, axis) =>
    typeof size === "number" ? size : (signal.shape?.[axis] ?? null),
  );
  if (batch === undefined || samples === undefined || parts.length > 1 || parts.some((size) => size !== 1)) return null;
  const bins = stft.int("onesided", 1) === 0 ? taps.length : Math.floor(taps.length / 2) + 1;
  const frames = isKnown(samples) ? Math.floor((samples - taps.length) / step) + 1 : null;
  return frames === null || frames > 0
    ? { signal, rank: sizes.length, batch, samples, frames, step, window: taps, bins }
    : null;
}

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
export const rowsOf = ({ batch, frames }: FramedSignal): number =>
  frames === null ? Number.POSITIVE_INFINITY : frames * (isKnown(batch) ? batch : 1);

import type { TapRange } from "../observe/index.js";

/** How one activation tensor is quantized: real = (integer - zeroPoint) * scale, integers of type u8. */
export interface ActivationScheme {
  /** Positive, normal float32. */
  readonly scale: number;
  /** In 0..255. */
  readonly zeroPoint: number;
}

/**
 * Scale and zero point of unsigned 8 bits for a range that contains 0. Zero is exact;
 * a range that starts at 0 has zero point 0, which is what lets the runtime drop a
 * Relu or Clip in front of it.
 */
export function activationScheme({ low, high }: Pick<TapRange, "low" | "high">): ActivationScheme {
  const scale = Math.fround((high - low) / 255);
  const zeroPoint = Math.min(255, Math.max(0, Math.round(-low / scale)));
  return { scale, zeroPoint };
}

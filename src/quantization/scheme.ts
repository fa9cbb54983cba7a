import type { Node } from "../ir/index.js";
import type { TapRange } from "../observe/index.js";

/** How one activation tensor is quantized: real = (integer - zeroPoint) * scale, integers of type u8, or i8 with zero point 0. */
export interface ActivationScheme {
  /** Positive, normal float32. */
  readonly scale: number;
  /** In 0..255. */
  readonly zeroPoint: number;
}

/**
 * Scale and zero point of unsigned 8 bits for a range that contains 0. Zero is exact;
 * a range that starts at 0 has zero point 0, which is what lets the runtime drop a
 * Relu or Clip in front of it. Of signed 8 bits: as far to both sides as the range goes to one.
 */
export function activationScheme(
  { low, high }: Pick<TapRange, "low" | "high">,
  dtype: "u8" | "i8" = "u8",
): ActivationScheme {
  if (dtype === "i8") return { scale: Math.fround(Math.max(-low, high) / 127), zeroPoint: 0 };
  let scale = Math.fround((high - low) / 255);
  // A Clip in front is dropped only when no integer stands for more than its bound.
  if (low === 0 && Math.fround(scale * 255) > high) scale = nextBelow(scale);
  const zeroPoint = Math.min(255, Math.max(0, Math.round(-low / scale)));
  return { scale, zeroPoint };
}

/** The next smaller float32 of a positive one. */
function nextBelow(value: number): number {
  const float = Float32Array.of(value);
  new Uint32Array(float.buffer)[0]!--;
  return float[0]!;
}

/** What a QuantizeLinear or DequantizeLinear goes by; null of other nodes, and where it is not one constant for all. */
export function schemeOf(node: Node | null | undefined): ActivationScheme | null {
  if (!node?.is("QuantizeLinear") && !node?.is("DequantizeLinear")) return null;
  const [, scale, zeroPoint] = node.inputs.map((value) => value?.constant);
  // Of float8 it is no integer.
  const [point] = zeroPoint?.elementCount === 1 ? (zeroPoint.bigints() ?? []) : [];
  return scale?.elementCount !== 1 || point === undefined
    ? null
    : { scale: scale.toF32()![0]!, zeroPoint: Number(point) };
}

export const isSameScheme = (a: ActivationScheme, b: ActivationScheme): boolean =>
  a.scale === b.scale && a.zeroPoint === b.zeroPoint;

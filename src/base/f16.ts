/** Float16 and bfloat16 by bits: Node 20 has no Float16Array. Round half to even, as the hardware does. */

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

/** The bits of the float16 nearest to `value`; beyond 65504 it is infinity. */
export function f32ToF16Bits(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x477f_f000) return sign | 0x7c00; // 65520 and more round to infinity
  if (magnitude < 0x3880_0000) {
    // Below 2^-14 results are multiples of 2^-24: let the float adder round.
    float[0] = (magnitude === 0 ? 0 : Math.abs(value)) + 0.5;
    return sign | (word[0]! - 0x3f00_0000);
  }
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - 0x3800_0000 + 0xfff + odd) >>> 13);
}

/** The value of float16 bits, exact. */
export function f16BitsToF32(bits: number): number {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return (sign ? -1 : 1) * fraction * 2 ** -24;
  word[0] = (sign | (exponent === 31 ? 0x7f80_0000 : (exponent + 112) << 23) | (fraction << 13)) >>> 0;
  return float[0]!;
}

/** The bits of the bfloat16 nearest to `value`. */
export function f32ToBf16Bits(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  if ((bits & 0x7fff_ffff) > 0x7f80_0000) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The value of bfloat16 bits, exact. */
export function bf16BitsToF32(bits: number): number {
  word[0] = (bits << 16) >>> 0;
  return float[0]!;
}

/** The float16 bits of each element; the result is new. */
export function f32ToF16(values: Float32Array): Uint16Array {
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) bits[i] = f32ToF16Bits(values[i]!);
  return bits;
}

/** From so many elements on, looking values up takes less time than making the table: 65,536 of them, once. */
const WORTH_TABLE = 2 ** 16;
let table: Float32Array | null = null;

/** The value of each element's float16 bits; the result is new. */
export function f16ToF32(bits: Uint16Array): Float32Array {
  const values = new Float32Array(bits.length);
  if (!table && bits.length < WORTH_TABLE) {
    for (let i = 0; i < bits.length; i++) values[i] = f16BitsToF32(bits[i]!);
    return values;
  }
  table ??= Float32Array.from({ length: 2 ** 16 }, (_, each) => f16BitsToF32(each));
  for (let i = 0; i < bits.length; i++) values[i] = table[bits[i]!]!;
  return values;
}

/** The value of each element's bfloat16 bits; the result is new. */
export function bf16ToF32(bits: Uint16Array): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) words[i] = bits[i]! << 16;
  return new Float32Array(words.buffer);
}

import { describe, expect, it } from "vitest";
import { bf16BitsToF32, bf16ToF32, f16BitsToF32, f16ToF32, f32ToBf16Bits, f32ToF16Bits } from "../../src/base/f16.js";

const patterns = Array.from({ length: 65536 }, (_, bits) => bits);

describe("float16", () => {
  it("keeps every pattern that is a number through float32 and back", () => {
    const lost = patterns.filter(
      (bits) => !Number.isNaN(f16BitsToF32(bits)) && f32ToF16Bits(f16BitsToF32(bits)) !== bits,
    );
    expect(lost).toEqual([]);
  });

  it("keeps every NaN a NaN of the same sign", () => {
    const nans = patterns.filter((bits) => (bits & 0x7fff) > 0x7c00);
    expect(
      nans.every(
        (bits) => Number.isNaN(f16BitsToF32(bits)) && Number.isNaN(f16BitsToF32(f32ToF16Bits(f16BitsToF32(bits)))),
      ),
    ).toBe(true);
  });

  it.each([
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519.996, 0x7bff],
    [65520, 0x7c00],
    [Number.POSITIVE_INFINITY, 0x7c00],
    [Number.NEGATIVE_INFINITY, 0xfc00],
    [1e30, 0x7c00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [2 ** -25 * 1.0001, 0x0001],
    [3 * 2 ** -25, 0x0002],
    [1 / 3, 0x3555],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [0.1, 0x2e66],
  ])("writes %d as %i, half to even", (value, bits) => {
    expect(f32ToF16Bits(value)).toBe(bits);
  });
});

describe("bfloat16", () => {
  it("keeps every pattern that is a number through float32 and back", () => {
    const lost = patterns.filter(
      (bits) => !Number.isNaN(bf16BitsToF32(bits)) && f32ToBf16Bits(bf16BitsToF32(bits)) !== bits,
    );
    expect(lost).toEqual([]);
  });

  it.each([
    [1, 0x3f80],
    [-0, 0x8000],
    [1 + 2 ** -8, 0x3f80],
    [1 + 3 * 2 ** -8, 0x3f82],
    [3.4028234663852886e38, 0x7f80],
    [Number.NEGATIVE_INFINITY, 0xff80],
  ])("writes %d as %i, half to even", (value, bits) => {
    expect(f32ToBf16Bits(value)).toBe(bits);
  });

  it("keeps NaN", () => {
    expect(Number.isNaN(bf16BitsToF32(f32ToBf16Bits(Number.NaN)))).toBe(true);
  });
});

describe("many at once", () => {
  const few = [0, 1, 0x8001, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7e00];

  // Few first: the table comes with the many.
  it.each([
    ["few", few],
    ["every pattern", patterns],
    ["few again", few],
  ])("are the values of each: %s", (_, bits) => {
    expect([...f16ToF32(Uint16Array.from(bits))]).toEqual(bits.map(f16BitsToF32));
    expect([...bf16ToF32(Uint16Array.from(bits))]).toEqual(bits.map(bf16BitsToF32));
  });
});

import { describe, expect, it } from "vitest";
import { aligned, type DType, dtypes, packedBytes, Tensor } from "../../src/ir/index.js";

describe("Tensor", () => {
  it("reads elements from bytes at any offset", () => {
    const bytes = new Uint8Array(9);
    bytes.set(new Uint8Array(Float32Array.of(1.5, -2).buffer), 1);
    expect([...Tensor.fromBytes("f32", [2], bytes.subarray(1)).f32()]).toEqual([1.5, -2]);
    // The slice of a Buffer is a view at the same odd offset.
    expect([...aligned(Float32Array, Buffer.from(bytes.buffer, 1, 8))]).toEqual([1.5, -2]);
  });

  it("refuses bytes that do not fill its shape", () => {
    expect(() => Tensor.fromBytes("f32", [2], new Uint8Array(7))).toThrow(
      expect.objectContaining({ code: "TENSOR_SIZE" }),
    );
    expect(() => Tensor.fromBytes("string", [0], new Uint8Array(0))).toThrow(
      expect.objectContaining({ code: "TENSOR_SIZE" }),
    );
  });

  it("reads 64-bit integers exactly", () => {
    const limits = [2n ** 63n - 1n, -(2n ** 63n), -1n];
    expect(Tensor.i64([3], limits).bigints()).toEqual(limits);
    expect(Tensor.i64([3], limits).integers()).toBe(null);
    expect(Tensor.i64([2], [-1, 2 ** 53 - 1]).integers()).toEqual([-1, 2 ** 53 - 1]);
  });

  it.each<[DType, ArrayBufferView, bigint[]]>([
    ["i8", Int8Array.of(-128, 127), [-128n, 127n]],
    ["u8", Uint8Array.of(255), [255n]],
    ["bool", Uint8Array.of(0, 1), [0n, 1n]],
    ["i16", Int16Array.of(-32768), [-32768n]],
    ["u16", Uint16Array.of(65535), [65535n]],
    ["i32", Int32Array.of(-1), [-1n]],
    ["u32", Uint32Array.of(2 ** 32 - 1), [2n ** 32n - 1n]],
    ["u64", BigUint64Array.of(2n ** 64n - 1n), [2n ** 64n - 1n]],
  ])("reads %s as integers", (dtype, array, values) => {
    expect(Tensor.ofArray(dtype, [values.length], array).bigints()).toEqual(values);
  });

  it("reads every real type of 16 to 64 bits as float32, and no other", () => {
    const of = (dtype: DType, array: ArrayBufferView) => Tensor.ofArray(dtype, [1], array).toF32();
    expect(of("f16", Uint16Array.of(0x3e00))).toEqual(Float32Array.of(1.5));
    expect(of("bf16", Uint16Array.of(0x3fc0))).toEqual(Float32Array.of(1.5));
    expect(of("f64", Float64Array.of(0.1))).toEqual(Float32Array.of(0.1));
    expect(of("i32", Int32Array.of(1))).toBe(null);
  });

  it("shares bytes under a new shape of the same count only", () => {
    const tensor = Tensor.f32([2, 3], [1, 2, 3, 4, 5, 6]);
    expect(tensor.withDims([3, 2]).bytes()).toBe(tensor.bytes());
    expect(() => tensor.withDims([5])).toThrow(/^internal:/);
  });
});

describe("packedBytes", () => {
  it("packs elements below a byte together and rounds up", () => {
    expect([0, 1, 2, 3].map((count) => packedBytes("i4", count))).toEqual([0, 1, 1, 2]);
    expect([1, 4, 5].map((count) => packedBytes("u2", count))).toEqual([1, 1, 2]);
    expect(packedBytes("c128", 3)).toBe(48);
  });

  it("knows the size of every type but string", () => {
    expect(dtypes.filter((dtype) => packedBytes(dtype, 8) === 0)).toEqual(["string"]);
  });
});

import { describe, expect, it } from "vitest";
import { Tensor } from "../../src/ir/index.js";
import { toMetricTensor } from "../../src/metric/index.js";

describe("toMetricTensor", () => {
  it("gives float32 as it is", () => {
    expect(toMetricTensor(Tensor.f32([1, 2], [1, 2]))).toEqual({
      type: "float32",
      dims: [1, 2],
      data: Float32Array.of(1, 2),
    });
  });

  it("gives 16-bit floats by value", () => {
    const half = Tensor.ofArray("f16", [2], Uint16Array.of(0x3c00, 0xc000));
    expect(toMetricTensor(half)).toEqual({ type: "float16", dims: [2], data: Float32Array.of(1, -2) });
    const brain = Tensor.ofArray("bf16", [1], Uint16Array.of(0x3f80));
    expect(toMetricTensor(brain)).toEqual({ type: "bfloat16", dims: [1], data: Float32Array.of(1) });
  });

  it("gives 64-bit integers as bigints and bool as bytes", () => {
    expect(toMetricTensor(Tensor.i64([1], [5n])).data).toEqual(BigInt64Array.of(5n));
    expect(toMetricTensor(Tensor.fromBytes("bool", [2], Uint8Array.of(0, 1)))).toEqual({
      type: "bool",
      dims: [2],
      data: Uint8Array.of(0, 1),
    });
  });

  it("gives strings as texts", () => {
    const tensor = Tensor.strings(
      [2],
      ["né", ""].map((text) => new TextEncoder().encode(text)),
    );
    expect(toMetricTensor(tensor)).toEqual({ type: "string", dims: [2], data: ["né", ""] });
  });

  it("refuses types without an array", () => {
    const tensor = Tensor.fromBytes("i4", [2], Uint8Array.of(0x21));
    expect(() => toMetricTensor(tensor)).toThrow(expect.objectContaining({ code: "METRIC_DTYPE", kind: "input" }));
  });
});

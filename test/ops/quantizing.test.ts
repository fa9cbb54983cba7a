import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { quantizedFormOf, widensWeights } from "../../src/ops/quantizing.js";

it.each([
  ["QuantizeLinear", "qdq"],
  ["DequantizeLinear", "weights-only"],
  ["MatMulInteger", "integer-operators"],
  ["com.microsoft::QLinearAdd", "integer-operators"],
  ["com.microsoft::QGemm", "integer-operators"],
  ["com.microsoft::DynamicQuantizeMatMul", "integer-operators"],
  ["com.microsoft::MatMulNBits", "weights-only"],
])("%s: %s", (opName, form) => {
  expect(quantizedFormOf(opName)).toBe(form);
});

it.each(["MatMul", "Cast", "com.microsoft::QuickGelu", "com.example::QLinearAdd", "toString"])("%s: none", (opName) => {
  expect(quantizedFormOf(opName)).toBeNull();
});

describe("widensWeights", () => {
  const cast = (type: string, to = 1): boolean => {
    const model = parseModel(`(x: f32[32,32]) -> (y) { c = Cast<to=${to}>($w: ${type})\n y = Mul(c, c) }`);
    return widensWeights([...model.graph.nodes()][0]!);
  };

  it("knows a Cast of many small integers in rows", () => {
    expect([cast("i8[32,32]"), cast("u8[32,32]"), cast("i16[32,32]"), cast("i16[2,32,32]")]).toEqual(
      Array(4).fill(true),
    );
  });

  it("and no other", () => {
    expect([cast("i8[31,32]"), cast("i8[2048]"), cast("i64[32,32]"), cast("f32[32,32]")]).toEqual(Array(4).fill(false));
    const model = parseModel("(w: i8[32,32]) -> (y) { y = Cast<to=1>(w) }");
    expect(widensWeights([...model.graph.nodes()][0]!)).toBe(false);
  });
});

import { expect, it } from "vitest";
import { quantizedFormOf } from "../../src/ops/quantizing.js";

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

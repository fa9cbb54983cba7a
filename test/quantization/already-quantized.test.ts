import { expect, it } from "vitest";
import { type Model, parseModel } from "../../src/ir/index.js";
import { alreadyQuantized } from "../../src/quantization/already-quantized.js";

/** A function without attributes whose only node is of that operator. */
const around = (name: string, op: string, domain = "") => ({
  ...{ name, domain: "own", input: ["a"], output: ["o"] },
  node: [{ op_type: op, domain, input: ["a"], output: ["o"] }],
  opset_import: [{ domain: "", version: 17 }],
});

function withFunctions(text: string, functions: readonly ReturnType<typeof around>[]): Model {
  return {
    ...parseModel(text),
    functions: new Set(functions.map(({ domain, name }) => `${domain}::${name}`)),
    extras: { functions: structuredClone(functions) },
  };
}

const calling = (functions: readonly ReturnType<typeof around>[]) =>
  alreadyQuantized(withFunctions("(x: f32[N,4]) -> (y) { y = own::Outer(x) }", functions));

it("finds integers in the functions that a model calls, and in those that they call", () => {
  expect(calling([around("Outer", "QuantizeLinear")])).toContain("QuantizeLinear in own::Outer, called at");
  expect(calling([around("Outer", "Inner", "own"), around("Inner", "QLinearMatMul", "ai.onnx")])).toContain(
    "QLinearMatMul in own::Outer, called at",
  );
  expect(calling([around("Outer", "MatMulNBits", "com.microsoft")])).toContain("com.microsoft::MatMulNBits");
});

it("minds no functions that compute in float, or that nobody calls", () => {
  expect(calling([around("Outer", "Relu"), around("Other", "QuantizeLinear")])).toBeNull();
});

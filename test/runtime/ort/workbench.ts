/** Tiny models and data in a temporary folder, and a runtime, all gone after each test. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type DType, dtypeCode, type Shape } from "../../../src/ir/index.js";
import {
  type AttributeProto,
  bigintToLong,
  encodeModel,
  type GraphProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from "../../../src/onnx/index.js";
import { type OrtRuntime, type OrtRuntimeOptions, ortRuntime } from "../../../src/runtime/ort/index.js";
import type { SessionOptions } from "../../../src/runtime/port.js";

export const session: SessionOptions = { provider: "cpu", threads: 1, optimization: "all" };

export function startRuntime(options: OrtRuntimeOptions = {}): OrtRuntime {
  const runtime = ortRuntime({ workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "infer-opt-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function writeFile(name: string, content: string | Uint8Array): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}

const long = (value: number) => bigintToLong(BigInt(value));

/** `shape` null: the rank is not stated. `dtype` null: no type at all. */
export function port(name: string, dtype: DType | null, shape: Shape | null): ValueInfoProto {
  if (dtype === null) return { name };
  const dim = shape?.map((size) =>
    typeof size === "number" ? { dim_value: long(size) } : size === null ? {} : { dim_param: size },
  );
  return { name, type: { tensor_type: { elem_type: dtypeCode(dtype), ...(dim ? { shape: { dim } } : {}) } } };
}

export const intAttribute = (name: string, value: number): AttributeProto => ({ name, type: 2, i: long(value) });

export const node = (
  opType: string,
  input: string[],
  output: string[],
  attribute: AttributeProto[] = [],
): NodeProto => ({ op_type: opType, name: output[0] ?? opType, input, output, attribute });

export function constant(name: string, dtype: DType, dims: number[], values: ArrayBufferView): TensorProto {
  const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, data_type: dtypeCode(dtype), dims: dims.map(long), raw_data: raw };
}

export function writeModel(graph: GraphProto, opset = 17): string {
  const bytes = encodeModel({
    ir_version: long(opset > 20 ? 10 : 8),
    opset_import: [{ domain: "", version: long(opset) }],
    graph: { name: "test", ...graph },
  });
  return writeFile("model.onnx", bytes);
}

/** y = factor * x for f32 x of shape [1,2]. */
export function scaling(factor: number, output = "y"): string {
  return writeModel({
    node: [node("Mul", ["x", "factor"], [output])],
    initializer: [constant("factor", "f32", [], new Float32Array([factor]))],
    input: [port("x", "f32", [1, 2])],
    output: [port(output, "f32", [1, 2])],
  });
}

/** Reshapes x of [N,2] to `size` elements: loads, and fails when it runs on any other number of them. */
export function reshaping(size: number): string {
  return writeModel({
    node: [node("Reshape", ["x", "size"], ["y"])],
    initializer: [constant("size", "i64", [1], new BigInt64Array([BigInt(size)]))],
    input: [port("x", "f32", ["N", 2])],
    output: [port("y", "f32", ["M"])],
  });
}

/** y holds `count` float32 elements, whatever x is. */
export function expanding(count: number): string {
  return writeModel({
    node: [node("ReduceSum", ["x"], ["sum"], [intAttribute("keepdims", 0)]), node("Expand", ["sum", "count"], ["y"])],
    initializer: [constant("count", "i64", [1], new BigInt64Array([BigInt(count)]))],
    input: [port("x", "f32", [1, 2])],
    output: [port("y", "f32", [count])],
  });
}

/** Counts to input n (i64 scalar), or to `least`: runs for as long as one likes. */
export function counting(least = 0): string {
  const body: GraphProto = {
    name: "body",
    node: [node("Identity", ["again"], ["on"]), node("Add", ["v", "one"], ["w"])],
    input: [port("i", "i64", []), port("again", "bool", []), port("v", "f32", [])],
    output: [port("on", "bool", []), port("w", "f32", [])],
  };
  return writeModel({
    node: [
      node("Max", ["n", "least"], ["rounds"]),
      node("Loop", ["rounds", "", "zero"], ["y"], [{ name: "body", type: 5, g: body }]),
    ],
    initializer: [
      constant("least", "i64", [], new BigInt64Array([BigInt(least)])),
      constant("zero", "f32", [], new Float32Array([0])),
      constant("one", "f32", [], new Float32Array([1])),
    ],
    input: [port("n", "i64", [])],
    output: [port("y", "f32", [])],
  });
}

/** More rounds than a test will wait for. */
export const FOREVER = 1e15;

export const jsonl = (...samples: object[]): string =>
  writeFile("data.jsonl", samples.map((sample) => `${JSON.stringify(sample)}\n`).join(""));

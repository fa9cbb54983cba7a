/** Small model files for the tests of the wire format, made field by field. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { bigintToLong, encodeModel, type GraphProto, type ModelProto, type TensorProto } from "../../src/onnx/index.js";
import { encodeVarints } from "../../src/onnx/scan-model.js";

export const FLOAT = 1;

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "infer-opt-test-"));
  made.push(folder);
  return folder;
}

export function fileOf(bytes: Uint8Array | string, name = "model.onnx"): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

export const long = (value: number | bigint) => bigintToLong(BigInt(value));

export const modelOf = (graph: GraphProto, more: ModelProto = {}): ModelProto => ({
  ir_version: long(8),
  opset_import: [{ version: long(17) }],
  graph: { name: "g", ...graph },
  ...more,
});

export const bytesOf = (graph: GraphProto, more: ModelProto = {}): Uint8Array =>
  new Uint8Array(encodeModel(modelOf(graph, more)));

export const modelFile = (graph: GraphProto, more: ModelProto = {}): string => fileOf(bytesOf(graph, more));

export const floats = (name: string, count: number, seed = 0): TensorProto => ({
  name,
  dims: [long(count)],
  data_type: FLOAT,
  raw_data: new Uint8Array(Float32Array.from({ length: count }, (_, i) => i + seed).buffer),
});

export const valueInfo = (name: string, dims: number[] = [2], code = FLOAT) => ({
  name,
  type: { tensor_type: { elem_type: code, shape: { dim: dims.map((dim) => ({ dim_value: long(dim) })) } } },
});

/** A length-delimited field. */
export const field = (number: number, body: Uint8Array | string): Uint8Array => {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return concat(encodeVarints(number * 8 + 2, bytes.length), bytes);
};

export const concat = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** The code of the InferOptError that `action` throws, null when it throws nothing. Other errors fail the test. */
export function codeOf(action: () => unknown): string | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof InferOptError) return error.code;
    throw error;
  }
}

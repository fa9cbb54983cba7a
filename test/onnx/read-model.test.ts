import { mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InferOptError } from "../../src/base/errors.js";
import { loadModel } from "../../src/ir/index.js";
import { readModel } from "../../src/onnx/index.js";
import { bytesOf, codeOf, fileOf, floats, long, modelFile, temporaryFolder, valueInfo } from "./build.js";

const relu = {
  input: [valueInfo("x")],
  output: [valueInfo("y")],
  node: [{ op_type: "Relu", input: ["x"], output: ["y"] }],
};

const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));

describe("readModel", () => {
  const foreign: Record<string, [content: Uint8Array, what: RegExp]> = {
    "a Git LFS pointer": [latin1("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"), /LFS/],
    "a web page": [latin1("\n<!DOCTYPE html><html><body>Sign in</body></html>"), /web page/],
    "a page of XML": [latin1('<?xml version="1.0"?><Error/>'), /web page/],
    "a zip archive": [latin1("PK\x03\x04\x14\x00\x00\x00\x08\x00"), /zip/],
    "a gzip file": [latin1("\x1f\x8b\x08\x00\x00\x00\x00\x00"), /gzip/],
    "a TensorFlow Lite model": [latin1("\x1c\x00\x00\x00TFL3\x14\x00"), /TensorFlow Lite/],
    "a pickle": [latin1("\x80\x02}q\x00X\x03\x00"), /pickle/],
    "an ORT model": [latin1("\x18\x00\x00\x00ORTM\x00\x00"), /\.ort/],
    "a safetensors file": [latin1('\x40\x00\x00\x00\x00\x00\x00\x00{"w":{"dtype":"F32"'), /safetensors/],
  };
  it.each(Object.entries(foreign))("tells %s by name", (_, [content, what]) => {
    const path = fileOf(content);
    expect(() => readModel(path)).toThrow(
      expect.objectContaining({ code: "MODEL_NOT_ONNX", message: expect.stringMatching(what) }),
    );
  });

  it("reads a model whose producer's name looks like another format's mark", () => {
    for (const producer_name of ["ORTModule", "TFL3"]) {
      const path = modelFile(relu, { producer_name });
      expect(readModel(path).message.producer_name).toBe(producer_name);
    }
  });

  it("tells a missing file, a folder and an empty file apart", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "sub"));
    expect(codeOf(() => readModel(join(folder, "none.onnx")))).toBe("MODEL_MISSING");
    expect(codeOf(() => readModel(join(folder, "sub")))).toBe("MODEL_UNREADABLE");
    expect(codeOf(() => readModel(fileOf("")))).toBe("MODEL_EMPTY");
  });

  it("refuses protobuf files that are no models", () => {
    expect(codeOf(() => readModel(fileOf(bytesOf({}, { graph: undefined as never }))))).toBe("MODEL_NOT_ONNX");
    expect(codeOf(() => readModel(fileOf(bytesOf(relu, { ir_version: undefined as never }))))).toBe("MODEL_NOT_ONNX");
  });

  it("asks for operator sets since IR version 3, and not before", () => {
    expect(codeOf(() => loadModel(modelFile(relu, { opset_import: [] })))).toBe("MODEL_CORRUPT");
    expect(loadModel(modelFile(relu, { opset_import: [], ir_version: long(2) })).opsets.size).toBe(0);
  });

  it("refuses every prefix of a model in words", () => {
    const bytes = bytesOf({ ...relu, initializer: [floats("w", 1100), floats("b", 2)] });
    const path = fileOf(bytes);
    expect(codeOf(() => loadModel(path))).toBe(null);
    const lengths = [...Array(400).keys(), ...Array.from({ length: 60 }, (_, i) => bytes.length - 1 - i)];
    const codes = new Set(lengths.map((length) => codeOf(() => loadModel(fileOf(bytes.subarray(0, length))))));
    expect(codes).toEqual(new Set(["MODEL_EMPTY", "MODEL_CORRUPT", "MODEL_NOT_ONNX"]));
  });

  it("refuses noise in words", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        expect(codeOf(() => loadModel(fileOf(bytes)))).not.toBe(null);
      }),
      { seed: 11, numRuns: 400 },
    );
  });

  it("says what to do next in every refusal", () => {
    for (const path of [fileOf(""), fileOf("\x08"), join(temporaryFolder(), "none")]) {
      try {
        readModel(path);
        expect.unreachable();
      } catch (error) {
        expect((error as InferOptError).hint).toMatch(/\.$/);
      }
    }
  });
});

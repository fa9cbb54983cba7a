import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scanModel } from "../../src/onnx/scan-model.js";
import { decodeModel, type ModelProto, type TensorProto } from "../../src/onnx/schema.js";
import { bytesOf, codeOf, concat, field, fileOf, floats, modelFile } from "./build.js";

const LARGE = 2000;

/** Scans a file and puts the bytes that the ranges name beside what was decoded. */
function scan(path: string): { message: ModelProto; ranges: Uint8Array[] } {
  const { bytes, ranges } = scanModel(path);
  const file = readFileSync(path);
  return {
    message: decodeModel(bytes),
    ranges: ranges.map(({ offset, length }) => new Uint8Array(file.subarray(offset, offset + length))),
  };
}

describe("scanModel", () => {
  it("leaves large raw_data in the file and keeps its place", () => {
    const large = floats("w", LARGE, 7);
    const { message, ranges } = scan(modelFile({ initializer: [large, floats("b", 3)] }));
    const [w, b] = message.graph!.initializer!;
    expect(w!.range).toBe(1);
    expect(w!.raw_data?.length ?? 0).toBe(0);
    expect(ranges).toEqual([large.raw_data]);
    expect(b!.raw_data).toEqual(floats("b", 3).raw_data);
  });

  it("copies files without large tensors as they are", () => {
    const bytes = bytesOf({ initializer: [floats("b", 3)], doc_string: "d".repeat(10_000) });
    expect(scanModel(fileOf(bytes)).bytes).toEqual(bytes);
  });

  const places: Record<string, (tensor: TensorProto) => Parameters<typeof bytesOf>> = {
    "an initializer": (t) => [{ initializer: [t] }],
    "a sparse initializer's values": (t) => [{ sparse_initializer: [{ values: t }] }],
    "a sparse initializer's indices": (t) => [{ sparse_initializer: [{ indices: t }] }],
    "an attribute": (t) => [{ node: [{ attribute: [{ name: "t", t }] }] }],
    "an attribute list": (t) => [{ node: [{ attribute: [{ name: "t", tensors: [t] }] }] }],
    "a sparse attribute": (t) => [{ node: [{ attribute: [{ name: "t", sparse_tensor: { values: t } }] }] }],
    "a list of sparse attributes": (t) => [{ node: [{ attribute: [{ name: "t", sparse_tensors: [{ values: t }] }] }] }],
    "a body": (t) => [{ node: [{ attribute: [{ name: "body", g: { initializer: [t] } }] }] }],
    "a body inside a body": (t) => [
      { node: [{ attribute: [{ g: { node: [{ attribute: [{ graphs: [{ initializer: [t] }] }] }] } }] }] },
    ],
    "a function": (t) => [{}, { functions: [{ name: "f", node: [{ attribute: [{ name: "value", t }] }] }] }],
    "a function's default attribute": (t) => [{}, { functions: [{ name: "f", attribute_proto: [{ name: "a", t }] }] }],
  };
  it.each(Object.entries(places))("finds large tensors in %s", (_, place) => {
    const large = floats("w", LARGE, 3);
    expect(scan(modelFile(...place(large))).ranges).toEqual([large.raw_data]);
  });

  it("numbers several large tensors in file order", () => {
    const tensors = [floats("a", LARGE, 1), floats("b", LARGE, 2), floats("c", LARGE, 3)];
    const { message, ranges } = scan(modelFile({ initializer: tensors }));
    expect(message.graph!.initializer!.map((t) => t.range)).toEqual([1, 2, 3]);
    expect(ranges).toEqual(tensors.map((t) => t.raw_data));
  });

  it("refuses bodies without end instead of running out of stack", () => {
    // Each level wraps the one before in graph > node > attribute.
    let graph = field(5, concat(field(9, new Uint8Array(5000))));
    for (let i = 0; i < 3000; i++) graph = field(1, field(5, field(6, graph)));
    expect(codeOf(() => scanModel(fileOf(field(7, graph))))).toBe("MODEL_TOO_DEEP");
  });

  const broken: Record<string, Uint8Array> = {
    "a length that runs past the file": Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f),
    "a length beyond 2^64": Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
    "a number without end": Uint8Array.of(0x08, ...new Array(12).fill(0xff)),
    "field number 0": Uint8Array.of(0x02, 0x00),
    "a group": Uint8Array.of(0x0b, 0x0c),
    "an unknown wire type": Uint8Array.of(0x0f, 0x00),
    "a fixed number cut short": Uint8Array.of(0x09, 0x00, 0x00),
  };
  it.each(Object.entries(broken))("refuses %s", (_, bytes) => {
    expect(codeOf(() => scanModel(fileOf(bytes)))).toBe("MODEL_CORRUPT");
  });
});

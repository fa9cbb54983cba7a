/** Samples that do not fit the model, or are none, given to the command itself. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { f32Npy, i64Npy, npy, npz } from "../support/npz.js";
import { classifier, images } from "../support/odd-files.js";
import { type Fault, scene } from "../support/scene.js";

const quantize = (data: string): string[] => ["quantize", "model.onnx", "-o", "out.onnx", "--calibration", data];
const ramp = (count: number): number[] => Array.from({ length: count }, (_, i) => i / count);

describe("calibration data is refused:", () => {
  const x = (dims: number[]) => f32Npy(dims, ramp(dims.reduce((a, b) => a * b, 1)));
  const good = f32Npy([2, 1, 8, 8], ramp(128));
  const line = JSON.stringify({ x: [Array.from({ length: 8 }, () => ramp(8))] });
  const files: Record<string, [name: string, content: () => string | Uint8Array, fault: Fault]> = {
    "a name that is no input": ["d.npz", () => npz({ pixels: good }), [3, "DATASET_INPUT_UNKNOWN", "pixels", '"x"']],
    "labels under another name": [
      "d.npz",
      () => npz({ x: good, label: good }),
      [3, "DATASET_INPUT_UNKNOWN", '"label"', 'called "labels"'],
    ],
    "an extra array": ["d.npz", () => npz({ x: good, extra: good }), [3, "DATASET_INPUT_UNKNOWN", "extra"]],
    "only labels": ["d.npz", () => npz({ labels: i64Npy([2], [1, 2]) }), [3, "DATASET_EMPTY", "d.npz"]],
    "too large an image": ["d.npz", () => npz({ x: x([2, 1, 9, 8]) }), [3, "DATASET_SHAPE", '"x"', "9"]],
    "too few axes": ["d.npz", () => npz({ x: x([2, 64]) }), [3, "DATASET_SHAPE", '"x"', "64"]],
    "complex numbers": [
      "d.npz",
      () => npz({ x: npy("<c8", [2, 1, 8, 8], new Float32Array(256)) }),
      [3, "DATASET_ARRAY_TYPE", "x"],
    ],
    strings: ["d.npz", () => npz({ x: npy("<U1", [2], new Uint32Array(2)) }), [3, "DATASET_ARRAY_TYPE", "x"]],
    "arrays of different length": [
      "d.npz",
      () => npz({ x: good, labels: i64Npy([3], [1, 2, 3]) }),
      [3, "DATASET_COUNTS_DIFFER", "labels"],
    ],
    NaN: [
      "d.npz",
      () => images(4, { change: (v) => v.fill(Number.NaN, 70, 71) }),
      [3, "DATASET_NOT_FINITE", '"x"', "d.npz"],
    ],
    Inf: [
      "d.npz",
      () => images(4, { change: (v) => v.fill(Number.NEGATIVE_INFINITY, 255) }),
      [3, "DATASET_NOT_FINITE", '"x"', "d.npz"],
    ],
    "no samples": ["d.npz", () => npz({ x: x([0, 1, 8, 8]) }), [3, "DATASET_EMPTY", "d.npz"]],
    "no arrays": ["d.npz", () => npz({}), [3, "DATASET_EMPTY", "d.npz"]],
    "an empty npz": ["d.npz", () => "", [3, "DATASET_ARCHIVE_DAMAGED", "d.npz"]],
    "an npz that is text": [
      "d.npz",
      () => "hello, this is no archive\n".repeat(9),
      [3, "DATASET_ARCHIVE_DAMAGED", "d.npz"],
    ],
    "an npz cut short": ["d.npz", () => images(8).subarray(0, 900), [3, "DATASET_ARCHIVE_DAMAGED", "d.npz"]],
    "an npz with a damaged value": [
      "d.npz",
      () => {
        const bytes = images(8);
        bytes[600]! ^= 255;
        return bytes;
      },
      [3, "DATASET_ARCHIVE_DAMAGED", "d.npz"],
    ],
    "an array that is no array": ["d.npz", () => npz({ x: Buffer.from("nothing") }), [3, "DATASET_ARRAY_INVALID", "x"]],
    "an array shorter than its header says": [
      "d.npz",
      () => npz({ x: good.subarray(0, -8) }),
      [3, "DATASET_ARRAY_INVALID", "x"],
    ],
    "an array of 2^80 values": [
      "d.npz",
      () => npz({ x: npy("<f4", [2 ** 30, 2 ** 30, 2 ** 20], new Float32Array(4)) }),
      [3, "DATASET_ARRAY_INVALID", "x"],
    ],
    "an empty jsonl": ["d.jsonl", () => "", [3, "DATASET_EMPTY", "d.jsonl"]],
    "blank lines only": ["d.jsonl", () => "\n\n", [3, "DATASET_EMPTY", "d.jsonl"]],
    "a malformed line": ["d.jsonl", () => `${line}\n{"x": [[[1,\n`, [3, "DATASET_LINE_INVALID", "d.jsonl", "2"]],
    "a line that is no object": ["d.jsonl", () => `${line}\n[1, 2]\n`, [3, "DATASET_LINE_INVALID", "d.jsonl", "2"]],
    "a line with rows of different length": [
      "d.jsonl",
      () => '{"x": [[[1, 2], [3]]]}\n',
      [3, "DATASET_LINE_INVALID", "d.jsonl", "x"],
    ],
    "a line with text for numbers": [
      "d.jsonl",
      () => '{"x": [[["a"]]]}\n',
      [3, "DATASET_LINE_INVALID", "d.jsonl", "x"],
    ],
    "a line with null": ["d.jsonl", () => '{"x": null}\n', [3, "DATASET_LINE_INVALID", "d.jsonl", "x"]],
    "an unknown kind": ["d.csv", () => "1,2,3\n", [3, "DATASET_KIND", "d.csv"]],
    "a model": ["d.onnx", classifier, [3, "DATASET_KIND", "d.onnx"]],
    "a manifest that is no JSON": ["d/manifest.json", () => "{", [3, "DATASET_MANIFEST_INVALID", "manifest.json"]],
    "a manifest without its version": [
      "d/manifest.json",
      () => "{}",
      [3, "DATASET_MANIFEST_INVALID", "version: is missing"],
    ],
    "a manifest of missing files": [
      "d/manifest.json",
      () => JSON.stringify({ version: 1, samples: [{ inputs: { x: "none.npy" } }] }),
      [3, "DATASET_FILE_MISSING", "none.npy"],
    ],
    "test data that is damaged": [
      "d/test_data_set_0/input_0.pb",
      () => "damaged\n",
      [3, "DATASET_TENSOR_INVALID", "input_0.pb"],
    ],
  };
  for (const [name, [file, content, fault]] of Object.entries(files)) {
    it(name, async () => {
      await scene({ "model.onnx": classifier(), [file]: content() }).refuses(quantize(file.split("/")[0]!), fault);
    });
  }

  it("missing", async () => {
    await scene({ "model.onnx": classifier() }).refuses(quantize("no.npz"), [3, "DATASET_MISSING", "no.npz"]);
  });

  it("a folder with nothing in it", async () => {
    const stage = scene({ "model.onnx": classifier() });
    mkdirSync(join(stage.folder, "d"));
    await stage.refuses(quantize("d"), [3, "DATASET_KIND", "d"]);
  });
});

it.skipIf(process.platform === "win32")("refuses a pipe, without waiting for a writer", async () => {
  const stage = scene({ "model.onnx": classifier() });
  execFileSync("mkfifo", [join(stage.folder, "d.npz")]);
  await stage.refuses(quantize("d.npz"), [3, "DATASET_KIND", "d.npz"]);
});

it("refuses evaluation data of verify, gate and bench by the same rules", async () => {
  const files = { "model.onnx": classifier(), "d.npz": images(4, { change: (v) => v.fill(Number.NaN, 9) }) };
  const two = ["model.onnx", "model.onnx", "--eval", "d.npz"];
  await scene(files).refuses(["verify", ...two], [3, "DATASET_NOT_FINITE", "d.npz"]);
  await scene(files).refuses(["gate", ...two], [3, "DATASET_NOT_FINITE", "d.npz"]);
  await scene(files).refuses(["bench", ...two], [3, "DATASET_NOT_FINITE", "d.npz"]);
  await scene(files).refuses(
    ["calibrate", "model.onnx", "--calibration", "d.npz", "-o", "out.json"],
    [3, "DATASET_NOT_FINITE", "d.npz"],
  );
});

it("takes a single sample, which calibrates and judges", async () => {
  const stage = scene({ "model.onnx": classifier(), "d.npz": images(1) });
  const ended = await stage.run([...quantize("d.npz"), "--json", "--budget", "1s"]);
  // Faster or not, accurate or not: an answer, and no error.
  expect([0, 10, 12, 13], ended.stderr).toContain(ended.code);
  expect(JSON.parse(ended.stdout)).toMatchObject({ accuracy: { samples: 1 }, model: { path: "model.onnx" } });
  expect(ended.stderr).toContain("1 samples are too few");
});

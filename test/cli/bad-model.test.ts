/** Files that are no model, and models that make no sense, given to the command itself. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { bytesOf, concat, FLOAT, field, floats, long, valueInfo } from "../onnx/build.js";
import { zip } from "../support/npz.js";
import { classifier, modelBytes, node, wireModel } from "../support/odd-files.js";
import { type Fault, scene } from "../support/scene.js";

const fuse = ["fuse", "model.onnx", "-o", "out.onnx"];

describe("a file that is no model is refused:", () => {
  const random = seededRandom(4);
  const files: Record<string, [() => string | Uint8Array, Fault]> = {
    empty: [() => "", [3, "MODEL_EMPTY", "model.onnx"]],
    "random bytes": [
      () => Uint8Array.from({ length: 5000 }, () => random.below(256)),
      [3, "MODEL_CORRUPT", "model.onnx"],
    ],
    "a Git LFS pointer": [
      () => `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`,
      [3, "MODEL_NOT_ONNX", "model.onnx", "Git LFS pointer", "git lfs pull"],
    ],
    "a web page": [
      () => "<!DOCTYPE html><html><body>404</body></html>",
      [3, "MODEL_NOT_ONNX", "model.onnx", "web page"],
    ],
    "a zip archive": [() => zip({ a: Buffer.from("b") }), [3, "MODEL_NOT_ONNX", "model.onnx", "zip archive"]],
    text: [() => "not a model\n", [3, "MODEL_CORRUPT", "model.onnx"]],
    zeros: [() => new Uint8Array(4096), [3, "MODEL_CORRUPT", "model.onnx"]],
    "cut in half": [() => classifier().subarray(0, 12_000), [3, "MODEL_CORRUPT", "model.onnx"]],
    "cut at its last byte": [() => classifier().subarray(0, -1), [3, "MODEL_CORRUPT", "model.onnx"]],
    "cut at its first bytes": [() => classifier().subarray(0, 3), [3, "MODEL_CORRUPT", "model.onnx"]],
  };
  for (const [name, [bytes, fault]] of Object.entries(files)) {
    it(name, async () => {
      await scene({ "model.onnx": bytes() }).refuses(fuse, fault);
    });
  }

  it.each([40, 2000])("bodies %s deep inside each other", async (depth) => {
    // Node, attribute and graph: field 1 of a graph, 5 of a node, 6 of an attribute.
    let body = field(1, concat(field(4, "Relu"), field(1, "x"), field(2, "y")));
    for (let i = 0; i < depth; i++) {
      body = field(1, concat(field(4, "If"), field(5, concat(field(1, "then_branch"), field(6, body)))));
    }
    const bytes = concat(new Uint8Array([8, 8]), field(7, body), field(8, new Uint8Array([16, 17])));
    await scene({ "model.onnx": bytes }).refuses(fuse, [3, "MODEL_TOO_DEEP", "model.onnx", "30 levels"]);
  });

  it("functions that call functions, each the next one twice", async () => {
    const call = (i: number, from: string, to: string) =>
      concat(field(1, from), field(2, to), field(4, i === 31 ? "Relu" : `f${i}`), ...(i === 31 ? [] : [field(7, "d")]));
    const fn = (i: number) =>
      concat(
        ...[field(1, `f${i}`), field(4, "x"), field(5, "y"), field(7, call(i + 1, "x", "t"))],
        ...[field(7, call(i + 1, "t", "y")), field(9, new Uint8Array([16, 17])), field(10, "d")],
      );
    const graph = concat(
      field(1, call(0, "x", "y")),
      field(2, "g"),
      field(11, field(1, "x")),
      field(12, field(1, "y")),
    );
    const functions = Array.from({ length: 31 }, (_, i) => field(25, fn(i)));
    const imports = [new Uint8Array([16, 17]), concat(field(1, "d"), new Uint8Array([16, 1]))].map((each) =>
      field(8, each),
    );
    const bytes = concat(new Uint8Array([8, 8]), field(7, graph), ...imports, ...functions);
    await scene({ "model.onnx": bytes }).refuses(fuse, [3, "MODEL_CALLS_TOO_MANY", "2147483648 nodes"]);
  });

  it("named by a variable that is not set", async () => {
    await scene().refuses(["fuse", "", "-o", "out.onnx"], [3, "MODEL_MISSING", "is empty"]);
  });

  it("missing", async () => {
    await scene().refuses(fuse, [3, "MODEL_MISSING", "model.onnx"]);
  });

  it("a folder", async () => {
    const stage = scene();
    mkdirSync(join(stage.folder, "model.onnx"));
    await stage.refuses(fuse, [3, "MODEL_UNREADABLE", "model.onnx"]);
  });

  it("missing, by every command that takes one", async () => {
    for (const argv of [
      ["inspect", "no.onnx"],
      ["show", "no.onnx"],
      ["fold", "no.onnx", "-o", "out.onnx"],
      ["fp16", "no.onnx", "-o", "out.onnx"],
      ["calibrate", "no.onnx", "--calibration", "data.npz", "-o", "ranges.json"],
      ["quantize", "no.onnx", "-o", "out.onnx"],
      ["optimize", "no.onnx", "-o", "out.onnx"],
      ["verify", "no.onnx", "no.onnx"],
      ["gate", "no.onnx", "no.onnx"],
      ["bench", "no.onnx"],
    ]) {
      await scene().refuses(argv, [3, "MODEL_MISSING", "no.onnx"]);
    }
    await scene().refuses(["explain", "no.onnx"], [3, "EXPLAIN_MISSING", "no.onnx"]);
  });
});

describe("an unknown operator", () => {
  // `fold` and `fuse` write the graph around it anew: see odd-model.test.ts.
  for (const command of ["quantize", "optimize", "fp16"]) {
    it(`is refused by ${command}, which has to run it`, async () => {
      const files = { "model.onnx": wireModel([node("Frobnicate", ["x"], ["y"])]) };
      await scene(files).refuses([command, "model.onnx", "-o", "out.onnx"], [3, "MODEL_REJECTED", "Frobnicate"]);
    });
  }
});

describe("a graph that makes no sense is refused:", () => {
  const tensor = (dims: (number | bigint)[], more = {}) => ({
    name: "w",
    dims: dims.map(long),
    data_type: FLOAT,
    raw_data: new Uint8Array(8),
    ...more,
  });
  const graphs: Record<string, [() => Uint8Array, Fault]> = {
    "a node that reads what it makes": [
      () => wireModel([node("Add", ["x", "y"], ["y"])]),
      [3, "GRAPH_CYCLE", "/Add/y"],
    ],
    "nodes in a ring": [
      () => wireModel([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])]),
      [3, "GRAPH_CYCLE", "/Add/a"],
    ],
    "a value that nobody makes": [
      () => wireModel([node("Add", ["x", "ghost"], ["y"])]),
      [3, "GRAPH_DANGLING", "ghost", "/Add/y"],
    ],
    "an output that nobody makes": [() => wireModel([node("Relu", ["x"], ["z"])]), [3, "GRAPH_DANGLING", "y"]],
    "a value made twice": [
      () => wireModel([node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"])]),
      [3, "GRAPH_DUPLICATE", "y"],
    ],
    "two weights of one name": [
      () => wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [floats("w", 2), floats("w", 2)] }),
      [3, "GRAPH_DUPLICATE", "w"],
    ],
    "a domain without an opset": [
      () => wireModel([node("Frobnicate", ["x"], ["y"], { domain: "com.example" })]),
      [3, "MODEL_REJECTED", "com.example"],
    ],
    "an opset of the far future": [
      () =>
        bytesOf(
          { node: [node("Relu", ["x"], ["y"])], input: [valueInfo("x")], output: [valueInfo("y")] },
          { opset_import: [{ version: long(999) }] },
        ),
      [3, "MODEL_REJECTED", "Opset 999"],
    ],
    "bytes that do not fit the shape": [
      () => wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [tensor([3])] }),
      [3, "TENSOR_SIZE", "w"],
    ],
    "a shape of 2^126 elements": [
      () =>
        wireModel([node("Add", ["x", "w"], ["y"])], {
          initializer: [tensor([1n << 63n, 1n << 63n].map((d) => d - 1n))],
        }),
      [3, "TENSOR_SIZE", "w"],
    ],
    "a shape whose product wraps around to 2": [
      () =>
        wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [tensor([(1n << 32n) + 1n, (1n << 32n) - 1n, 2])] }),
      [3, "TENSOR_SIZE", "w"],
    ],
    "a negative size": [
      () => wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [tensor([-1, -2])] }),
      [3, "TENSOR_SIZE", "w"],
    ],
    "an unknown element type": [
      () => wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [tensor([2], { data_type: 99 })] }),
      [3, "TENSOR_TYPE", "w", "99"],
    ],
    "shapes that cannot be added": [
      () => wireModel([node("Add", ["x", "w"], ["y"])], { initializer: [floats("w", 3)] }),
      [3, "MODEL_REJECTED", "/Add/y"],
    ],
  };
  for (const [name, [bytes, fault]] of Object.entries(graphs)) {
    it(name, async () => {
      await scene({ "model.onnx": bytes() }).refuses(fuse, fault);
    });
  }
});

describe("a weight that is no number is refused:", () => {
  for (const value of ["nan", "inf", "-inf"]) {
    it(value, async () => {
      const text = `(x: f32[N,2]) -> (y) { y = MatMul(x, $weight: f32[2,2] = {1.0, 2.0, ${value}, 4.0}) }`;
      for (const argv of [
        fuse,
        ["quantize", "model.onnx", "-o", "out.onnx"],
        ["fp16", "model.onnx", "-o", "out.onnx"],
      ]) {
        await scene({ "model.onnx": modelBytes(text) }).refuses(argv, [3, "MODEL_NOT_FINITE", "weight"]);
      }
    });
  }
});

it("tells a fault on stderr alone when no JSON was asked for", async () => {
  const stage = scene({ "model.onnx": "" });
  const ended = await stage.run(fuse);
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).toContain("error MODEL_EMPTY\n");
  stage.expectUntouched();
});

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readModel } from "../../../src/onnx/index.js";
import {
  constant,
  intAttribute,
  node,
  port,
  scaling,
  session,
  startRuntime,
  temporaryFolder,
  writeFile,
  writeModel,
} from "./workbench.js";

describe("describe", () => {
  it("tells names, types and sizes of what goes in and out", async () => {
    const model = writeModel({
      node: [node("Cast", ["x"], ["y"], [intAttribute("to", 7)])],
      input: [port("x", "f32", ["N", null, 3])],
      output: [port("y", "i64", ["N", null, 3])],
    });
    expect(await startRuntime().describe(model, session)).toEqual({
      inputs: [{ name: "x", dtype: "f32", shape: ["N", null, 3] }],
      outputs: [{ name: "y", dtype: "i64", shape: ["N", null, 3] }],
    });
  });

  it.each(["declared", "undeclared"])("tells an unknown rank from a scalar when shapes are %s", async (how) => {
    const scalar = how === "declared" ? port("z", "f32", []) : port("z", null, null);
    const model = writeModel({
      node: [node("Reshape", ["x", "s"], ["y"]), node("ReduceSum", ["x"], ["z"], [intAttribute("keepdims", 0)])],
      input: [port("x", "f32", [2, 3]), port("s", "i64", ["R"])],
      output: [port("y", "f32", null), scalar],
    });
    const { outputs } = await startRuntime().describe(model, session);
    expect(outputs).toEqual([
      { name: "y", dtype: "f32", shape: null },
      { name: "z", dtype: "f32", shape: [] },
    ]);
  });

  it("puts what it needs to tell a rank into the folder that it is given, and nowhere else", async () => {
    const model = writeModel({
      node: [node("Reshape", ["x", "s"], ["y"])],
      input: [port("x", "f32", [2, 3]), port("s", "i64", ["R"])],
      output: [port("y", "f32", null)],
    });
    const scratch = temporaryFolder();
    vi.stubEnv("TMPDIR", "/nowhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { outputs } = await startRuntime({ scratch }).describe(model, session);
    expect(outputs[0]!.shape).toBeNull();
    expect(readdirSync(scratch)).toEqual([]);
    const missing = join(scratch, "gone");
    await expect(startRuntime({ scratch: missing }).describe(model, session)).rejects.toMatchObject({
      code: "OUTPUT_FAILED",
      fields: { path: expect.stringContaining(missing) },
    });
  });

  it("tells an input of unknown rank from a scalar", async () => {
    const model = writeModel({
      node: [node("Add", ["a", "b"], ["y"])],
      input: [port("a", "f32", null), port("b", "f32", [])],
      output: [port("y", "f32", null)],
    });
    const { inputs } = await startRuntime().describe(model, session);
    expect(inputs.map(({ shape }) => shape)).toEqual([null, []]);
  });

  it("tells ports of types that the binding refuses", async () => {
    const model = writeModel({
      node: [node("Cast", ["x"], ["y"], [intAttribute("to", 16)])],
      input: [port("x", "f32", [2, "N", null])],
      output: [port("y", "bf16", [2, "N", null])],
    });
    const { outputs } = await startRuntime().describe(model, session);
    expect(outputs).toEqual([{ name: "y", dtype: "bf16", shape: [2, "N", null] }]);
  });

  it("has no type for what is no tensor", async () => {
    const model = writeModel({
      node: [node("SequenceConstruct", ["x", "x"], ["q"])],
      input: [port("x", "f32", [2])],
      output: [port("q", null, null)],
    });
    const { outputs } = await startRuntime().describe(model, session);
    expect(outputs).toEqual([{ name: "q", dtype: null, shape: null }]);
  });

  it("writes down what the runtime made of the graph", async () => {
    const model = writeModel({
      node: [node("Mul", ["two", "three"], ["six"]), node("Mul", ["x", "six"], ["y"])],
      initializer: [
        constant("two", "f32", [], new Float32Array([2])),
        constant("three", "f32", [], new Float32Array([3])),
      ],
      input: [port("x", "f32", [1, 2])],
      output: [port("y", "f32", [1, 2])],
    });
    const target = join(temporaryFolder(), "optimized.onnx");
    await startRuntime().describe(model, { ...session, optimization: "basic" }, { saveOptimizedTo: target });
    expect(readModel(target).message.graph?.node).toHaveLength(1);
  });

  it("says why the runtime rejects a model", async () => {
    const model = writeModel({
      node: [node("NoSuchOperator", ["x"], ["y"])],
      input: [port("x", "f32", [2])],
      output: [port("y", "f32", [2])],
    });
    await expect(startRuntime().describe(model, session)).rejects.toMatchObject({
      code: "MODEL_REJECTED",
      kind: "input",
      message: expect.stringMatching(/^[^\n]*model\.onnx[^\n]*NoSuchOperator[^\n]*$/),
      hint: expect.any(String),
    });
  });

  it("rejects a file that is no model", async () => {
    await expect(startRuntime().describe(writeFile("a.onnx", "hello"), session)).rejects.toMatchObject({
      code: "MODEL_REJECTED",
      fields: { reason: "Protobuf parsing failed." },
    });
  });

  it("rejects a missing file", async () => {
    const path = join(temporaryFolder(), "none.onnx");
    await expect(startRuntime().describe(path, session)).rejects.toMatchObject({
      code: "MODEL_MISSING",
      fields: { path },
    });
    expect(existsSync(path)).toBe(false);
  });

  it("counts memory of all processes", async () => {
    const runtime = startRuntime();
    await runtime.describe(scaling(1), session);
    expect(runtime.peakRssBytes()).toBeGreaterThan(process.memoryUsage.rss());
  });
});

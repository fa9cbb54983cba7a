import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  constant,
  counting,
  intAttribute,
  jsonl,
  node,
  port,
  reshaping,
  scaling,
  session,
  startRuntime,
  temporaryFolder,
  writeModel,
} from "./workbench.js";

const fixture = (name: string): string => fileURLToPath(new URL(`../../../fixtures/models/${name}`, import.meta.url));
const ones = () => ({ path: jsonl({ x: [[1, 2]] }) });

describe("placement", () => {
  it("tells nodes and time of each provider and operator", async () => {
    const runtime = startRuntime();
    const model = fixture("digits.onnx");
    const { inputs } = await runtime.describe(model, session);
    const data = {
      path: "random",
      random: { seed: 1, count: 2, signature: [{ ...inputs[0]!, shape: [1, 1, 28, 28] }] },
    };
    const found = await runtime.placement(model, data, session);

    expect(found.runs).toBe(2);
    expect(found.providers).toEqual([{ provider: "cpu", nodes: found.nodes, durationMs: expect.any(Number) }]);
    const convs = found.operators.find(({ op }) => op === "Conv")!;
    expect(convs).toMatchObject({ provider: "cpu", nodes: 10, calls: 20 });
    expect(convs.durationMs).toBeGreaterThan(0);
    const total = found.operators.reduce((ms, { durationMs }) => ms + durationMs, 0);
    expect(total).toBeCloseTo(found.durationMs);
    expect(found.operators[0]!.durationMs).toBe(Math.max(...found.operators.map(({ durationMs }) => durationMs)));
    expect(found.islands).toEqual([]);
  });

  it("counts the Casts that the runtime puts around float16", async () => {
    const model = writeModel({
      node: [node("Softplus", ["x"], ["s"]), node("Cast", ["s"], ["y"], [intAttribute("to", 7)])],
      input: [port("x", "f16", [1, 2])],
      output: [port("y", "i64", [1, 2]), port("s", "f16", [1, 2])],
    });
    const { conversions } = await startRuntime().placement(model, ones(), session);
    expect(conversions).toEqual([{ op: "Cast", nodes: 3, inserted: 2, durationMs: expect.any(Number) }]);
  });

  it("writes the graph that was executed where it is told", async () => {
    const runtime = startRuntime();
    const path = join(temporaryFolder(), "executed.onnx");
    await runtime.placement(scaling(2), ones(), session);
    expect(existsSync(path)).toBe(false);
    await runtime.placement(scaling(2), ones(), session, path);
    expect((await runtime.describe(path, session)).inputs).toHaveLength(1);
  });

  it("lists the float nodes between integers", async () => {
    const { islands, conversions } = await startRuntime().placement(withIsland(), ones(), session);
    expect(islands).toEqual([{ node: "erf", op: "Erf", durationMs: expect.any(Number) }]);
    expect(conversions.map(({ op, inserted }) => [op, inserted]).sort()).toEqual([
      ["DequantizeLinear", 0],
      ["QuantizeLinear", 0],
    ]);
  });

  it("counts the time of nodes in bodies once", async () => {
    const data = { path: jsonl({ n: 40 }) };
    const { operators, nodes, durationMs, runs } = await startRuntime().placement(counting(), data, session);
    const of = (op: string) => operators.find((each) => each.op === op)!;
    expect(nodes).toBe(operators.reduce((sum, each) => sum + each.nodes, 0));
    expect([of("Loop").calls, of("Add").calls]).toEqual([runs, 40 * runs]);
    expect(of("Loop").durationMs).toBeLessThan(durationMs);
  });

  it("reads a profile with names that break its syntax", async () => {
    const odd = { ...node("Relu", ["x"], ["h"]), name: 'a"b\\c\n{"d' };
    const unnamed = { ...node("Sigmoid", ["h"], ["y"]), name: "" };
    const model = writeModel({
      node: [odd, unnamed],
      input: [port("x", "f32", [1, 2])],
      output: [port("y", "f32", [1, 2])],
    });
    const { operators } = await startRuntime().placement(model, ones(), session);
    expect(operators.map(({ op, calls }) => [op, calls]).sort()).toEqual([
      ["Relu", 1],
      ["Sigmoid", 1],
    ]);
  });

  it("leaves no file behind, whether the model runs or not", async () => {
    const folder = temporaryFolder();
    const scratch = join(folder, "scratch");
    mkdirSync(scratch);
    const here = readdirSync(process.cwd());
    const runtime = startRuntime({ scratch });
    await runtime.placement(withIsland(), ones(), session);
    await expect(runtime.placement(reshaping(3), ones(), session)).rejects.toMatchObject({ code: "RUN_FAILED" });
    expect(readdirSync(scratch)).toEqual([]);
    expect(readdirSync(process.cwd())).toEqual(here);
  });

  it("takes cpu for a missing provider only on request", async () => {
    const runtime = startRuntime();
    const cuda = { ...session, provider: "cuda" };
    await expect(runtime.placement(scaling(2), ones(), cuda)).rejects.toMatchObject({ code: "PROVIDER_MISSING" });
    const found = await runtime.placement(scaling(2), ones(), { ...cuda, allowFallback: true });
    expect(found.providers.map(({ provider }) => provider)).toEqual(["cpu"]);
    expect(runtime.fallbacks()).toHaveLength(1);
  });

  it("needs a sample", async () => {
    const data = { ...ones(), indices: [] };
    await expect(startRuntime().placement(scaling(2), data, session)).rejects.toMatchObject({ code: "DATASET_EMPTY" });
  });
});

/** Two products on integers with an Erf between them, which has no integer kernel. */
function withIsland(): string {
  const pair = (from: string, to: string) => [
    node("QuantizeLinear", [from, "scale", "zero"], [`${to}q`]),
    node("DequantizeLinear", [`${to}q`, "scale", "zero"], [to]),
  ];
  return writeModel({
    node: [
      node("DequantizeLinear", ["w", "scale", "wzero"], ["wd"]),
      node("DequantizeLinear", ["v", "scale", "wzero"], ["vd"]),
      ...pair("x", "xd"),
      node("MatMul", ["xd", "wd"], ["m"]),
      ...pair("m", "md"),
      node("Erf", ["md"], ["erf"]),
      ...pair("erf", "ed"),
      node("MatMul", ["ed", "vd"], ["n"]),
      ...pair("n", "y"),
    ],
    initializer: [
      constant("scale", "f32", [], new Float32Array([0.1])),
      constant("zero", "u8", [], new Uint8Array([128])),
      constant("wzero", "i8", [], new Int8Array([0])),
      constant("w", "i8", [2, 2], new Int8Array([1, 2, 3, 4])),
      constant("v", "i8", [2, 2], new Int8Array([4, 3, 2, 1])),
    ],
    input: [port("x", "f32", [1, 2])],
    output: [port("y", "f32", [1, 2])],
  });
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { loadModel, nodesWithin } from "../../../src/ir/index.js";
import { runFp16 } from "../../../src/pipeline/fp16/fp16.js";
import { type NamedNode, refusalWarnings, refusedNodes } from "../../../src/pipeline/fp16/refused-nodes.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { Runtime } from "../../../src/runtime/port.js";
import { faultOf } from "../../support/dataset.js";
import { modelFile } from "../../support/model-file.js";
import { fuseConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const nodes: readonly NamedNode[] = Array.from({ length: 100 }, (_, i) => ({
  displayName: `n${i}`,
  op: i % 10 === 3 ? "Odd" : "Even",
}));
const crash = new InferOptError("RUNTIME_CRASHED", "runtime", "it crashed");
const missing = new InferOptError("MODEL_REJECTED", "input", "no", {
  fields: { reason: "no kernel", isOperatorMissing: true },
});

/** Refuses models in which one of these groups is narrow as a whole. */
const refusing =
  (groups: readonly (readonly string[])[], fault = crash, asked: unknown[] = []) =>
  async (kept: ReadonlyMap<string, string>): Promise<InferOptError | null> => {
    asked.push(kept);
    return groups.some((group) => !group.some((name) => kept.has(name))) ? fault : null;
  };

describe("refusedNodes", () => {
  it("keeps the one node that the runtime dies of, found in few trials", async () => {
    const asked: unknown[] = [];
    const kept = await refusedNodes(nodes, crash, refusing([["n41"]], crash, asked));
    expect([...kept!]).toEqual([["n41", "ONNX Runtime crashes with it in half precision"]]);
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it.each([
    ["two that are each to blame", [["n7"], ["n90"]], ["n7", "n90"]],
    ["the last of those that only together are", [["n7", "n90"]], ["n90"]],
    ["the first of all", [["n0"]], ["n0"]],
    ["two side by side", [["n98"], ["n99"]], ["n98", "n99"]],
  ])("keeps %s", async (_, groups, expected) => {
    expect([...(await refusedNodes(nodes, crash, refusing(groups)))!.keys()]).toEqual(expected);
  });

  it("keeps every node of an operator without a kernel", async () => {
    const odd = nodes.filter(({ op }) => op === "Odd").map(({ displayName }) => [displayName]);
    const kept = await refusedNodes(nodes, missing, refusing(odd, missing));
    expect([...kept!.keys()]).toEqual(odd.flat());
    expect(refusalWarnings(kept!)).toEqual([
      "n3 and 9 more kept in float32: ONNX Runtime refuses it in half precision: no kernel",
    ]);
  });

  it("gives up where it takes too many, or where faults come by chance", async () => {
    expect(await refusedNodes(nodes, crash, refusing(nodes.map(({ displayName }) => [displayName])))).toBeNull();
    expect(await refusedNodes(nodes, crash, async () => crash)).toBeNull();
  });
});

describe("fp16", () => {
  const runtime = ortRuntime({ workers: 1 });
  afterAll(() => runtime.close());

  /** Dies of each model in which a node of these names makes float16, or of every one. */
  const dyingOf = (names: readonly string[] | "all"): Runtime => {
    const survive = (path: string): void => {
      const found = [...nodesWithin(loadModel(path).graph)];
      if (names === "all" || found.some(({ name, output }) => names.includes(name) && output.dtype === "f16"))
        throw crash;
    };
    return {
      ...runtime,
      describe: async (path, session, options) => {
        if (session.optimization === "all") survive(path);
        return runtime.describe(path, session, options);
      },
      compare: async (job) => {
        survive(job.candidate);
        return runtime.compare(job);
      },
    };
  };
  const half = { target: "f16", convertIo: false, selection: { include: [], exclude: [] } } as const;
  const text = `(x: f32[2,8]) -> (y) { a = Relu(x) b = Sigmoid(a) c = MatMul(b, $w: f32[8,8]) y = Tanh(c) }`;

  it("leaves in float32 what the runtime dies of, and says so", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "half.onnx");
    const config = { ...fuseConfig(modelFile(folder, text), output), ...half };
    const result = await runFp16(config, realContext(dyingOf(["Sigmoid:b", "b"])));
    expect(result.verdict.outcome).toBe("met");
    const reason = "ONNX Runtime crashes with it in half precision";
    expect(result.precision!.float).toEqual([{ node: expect.any(String), op: "Sigmoid", reason }]);
    expect(result.warnings).toContain(`${result.precision!.float[0]!.node} kept in float32: ${reason}`);
    const written = [...nodesWithin(loadModel(output).graph)];
    expect(written.find(({ op }) => op === "MatMul")!.inputs[1]!.dtype).toBe("f16");
  });

  it("blames no node where the runtime dies of the model as it was", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "half.onnx");
    const config = { ...fuseConfig(modelFile(folder, text), output), ...half };
    const fault = await faultOf(() => runFp16(config, realContext(dyingOf("all"))));
    expect(fault).toMatchObject({ code: "RUNTIME_CRASHED" });
    expect(existsSync(output)).toBe(false);
  });
});

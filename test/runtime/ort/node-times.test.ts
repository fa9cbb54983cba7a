import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { faultOf } from "../../support/dataset.js";
import { modelFile } from "../../support/model-file.js";
import { jsonl, session, startRuntime, temporaryFolder } from "./workbench.js";

const ones = () => ({ path: jsonl({ x: [[1, 2]] }, { x: [[3, 4]] }) });
const file = (text: string): string => modelFile(temporaryFolder(), text);

describe("nodeTimes", () => {
  it("tells each node of each model, in the order of the models, with names that the file gives", async () => {
    const first = file("(x: f32[1,2]) -> (y) { s = Softplus(x)\n y = MatMul(s, $w: f32[2,3]) }");
    const second = file("(x: f32[1,2]) -> (y) { y = Erf(x) }");
    const times = await startRuntime().nodeTimes([first, second, first], ones(), session);
    expect(times.map((nodes) => nodes.map(({ op }) => op))).toEqual([
      ["Softplus", "MatMul"],
      ["Erf"],
      ["Softplus", "MatMul"],
    ]);
    for (const { name, ms } of times.flat()) {
      expect(name).not.toBe("");
      expect(ms).toBeGreaterThanOrEqual(0);
    }
    expect(times[0]!.map(({ name }) => name)).toEqual(times[2]!.map(({ name }) => name));
  });

  it("tells what the runtime made of the nodes, and not those of the file", async () => {
    const model = fileURLToPath(new URL("../../../fixtures/models/digits.onnx", import.meta.url));
    const runtime = startRuntime();
    const { inputs } = await runtime.describe(model, session);
    const signature = [{ ...inputs[0]!, shape: [1, 1, 28, 28] }];
    const data = { path: "random", random: { seed: 1, count: 2, signature } };
    const [nodes] = await runtime.nodeTimes([model], data, session);
    expect(nodes!.map(({ op }) => op)).not.toContain("BatchNormalization");
    expect(nodes!.filter(({ op }) => op === "Conv").length).toBeGreaterThan(0);
    expect(nodes!.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThan(0);
    expect(new Set(nodes!.map(({ name }) => name)).size).toBe(nodes!.length);
  });

  it("feeds each model what it declares", async () => {
    const both = file("(x: f32[1,2], z: f32[1,2]) -> (y) { y = Add(x, z) }");
    const one = file("(x: f32[1,2]) -> (y) { y = Erf(x) }");
    const data = { path: jsonl({ x: [[1, 2]], z: [[3, 4]] }) };
    const times = await startRuntime().nodeTimes([both, one], data, session);
    expect(times.map((nodes) => nodes.map(({ op }) => op))).toEqual([["Add"], ["Erf"]]);
  });

  it("refuses data without samples, and a model that cannot be loaded, and works on afterwards", async () => {
    const runtime = startRuntime();
    const good = file("(x: f32[1,2]) -> (y) { y = Erf(x) }");
    const broken = file("(x: f32[1,2]) -> (y) { y = NoSuchOperator(x) }");
    expect((await faultOf(() => runtime.nodeTimes([good, broken], ones(), session))).code).toBe("MODEL_REJECTED");
    const none = { ...ones(), indices: [] };
    expect((await faultOf(() => runtime.nodeTimes([good], none, session))).code).toBe("DATASET_EMPTY");
    expect(await runtime.nodeTimes([good], ones(), session)).toHaveLength(1);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadModel } from "../../../src/ir/index.js";
import { readNodeProfile } from "../../../src/runtime/ort/child/profile-nodes.js";
import { faultOf } from "../../support/dataset.js";
import { modelFile } from "../../support/model-file.js";
import { jsonl, session, startRuntime, temporaryFolder } from "./workbench.js";

const file = (text: string): string => modelFile(temporaryFolder(), text);

describe("profileNodes", () => {
  it("tells each node with the types and shapes of what went in and out, and writes the graph", async () => {
    const model = file("(x: f32[N,2]) -> (y, c) { s = Softplus(x)\n y = MatMul(s, $w: f32[2,3])\n c = Cast<to=7>(x) }");
    const saved = join(temporaryFolder(), "executed.onnx");
    const data = {
      path: jsonl({
        x: [
          [1, 2],
          [3, 4],
        ],
      }),
    };
    const profile = await startRuntime().profileNodes(model, data, session, saved);
    const softplus = profile.steps.find(({ op }) => op === "Softplus")!;
    const dims = softplus.inputs[0]!.dims;
    expect(softplus).toMatchObject({
      provider: "cpu",
      calls: 1,
      inputs: [{ dtype: "f32", dims }],
      outputs: [{ dtype: "f32", dims }],
    });
    expect(profile.steps.find(({ op }) => op === "Cast")!.outputs).toEqual([{ dtype: "i64", dims }]);
    expect(profile.runs).toBeGreaterThanOrEqual(5);
    for (const { leastMs, medianMs } of profile.steps) expect(medianMs).toBeGreaterThanOrEqual(leastMs);
    expect(profile.medianRunMs).toBeGreaterThanOrEqual(profile.leastRunMs);
    expect(profile.timeline).toHaveLength(profile.steps.length);
    expect(profile.memory!.arenaBytes).toBeGreaterThan(0);
    expect(loadModel(saved).graph.nodeCount).toBe(profile.steps.length);
  });

  it("counts the executions of a body, whose time is not its owner's", async () => {
    const text = `(x: f32[2]) -> (y) {
      y = Loop<body=(i: i64[], go: bool[], v: f32[2]) -> (g, w) { g = Identity(go) w = Softplus(v) }>($n: i64[] = {4}, $t: bool[] = {1}, x) }`;
    const { steps, timeline } = await startRuntime().profileNodes(file(text), { path: jsonl({ x: [1, 2] }) }, session);
    const inner = steps.findIndex(({ op }) => op === "Softplus");
    expect(steps[inner]!.calls).toBe(4);
    expect(timeline.filter(({ step }) => step === inner)).toHaveLength(4);
  });

  it("refuses data without samples", async () => {
    const model = file("(x: f32[2]) -> (y) { y = Erf(x) }");
    const data = { path: jsonl({ x: [1, 2] }), indices: [] };
    expect((await faultOf(() => startRuntime().profileNodes(model, data, session))).code).toBe("DATASET_EMPTY");
  });
});

describe("a profile that was written", () => {
  const node = (name: string, start: number, ms: number, inUse: number, delta: number) =>
    `{"cat" : "Node","pid" :1,"tid" :1,"dur" :${1000 * ms},"ts" :${1000 * start},"ph" : "X","name" :"${name}_kernel_time","args" : {"node_index" : "${name.length}","provider" : "CPUExecutionProvider","op_name" : "Relu","mem_bytes_in_use" : "${inUse}","mem_in_use_delta" : "${delta}","mem_arena_held" : "900","input_type_shape" : [{"float":[1,2]},{"uint8":[]}],"output_type_shape" : [{"float16":[3]}]}},`;
  const run = (ms: number) =>
    `{"cat" : "Session","pid" :1,"tid" :1,"dur" :${1000 * ms},"ts" :0,"ph" : "X","name" :"model_run","args" : {}},`;
  const read = (...lines: string[]) => {
    const path = join(temporaryFolder(), "profile.json");
    writeFileSync(path, ["[", ...lines, "]"].join("\n"));
    return readNodeProfile(path);
  };

  it("gives least and middle of the runs after the first, and the timeline of the quickest", async () => {
    const profile = await read(
      ...[node("a", 0, 50, 150, 50), run(60)],
      ...[node("a", 0, 3, 200, 0), node("bb", 4, 1, 200, 0), run(9)],
      ...[node("a", 0, 2, 200, 0), node("bb", 3, 2, 200, 0), run(5)],
      ...[node("a", 0, 4, 200, 0), node("bb", 5, 3, 200, 0), run(8)],
    );
    expect(profile).toMatchObject({ runs: 3, leastRunMs: 5, medianRunMs: 8 });
    expect(profile.steps.map(({ name, leastMs, medianMs }) => [name, leastMs, medianMs])).toEqual([
      ["a", 2, 3],
      ["bb", 1, 2],
    ]);
    expect(profile.timeline).toEqual([
      { step: 0, startMs: 0, ms: 2 },
      { step: 1, startMs: 3, ms: 2 },
    ]);
    expect(profile.steps[0]!.inputs).toEqual([
      { dtype: "f32", dims: [1, 2] },
      { dtype: "u8", dims: [] },
    ]);
    expect(profile.steps[0]!.outputs).toEqual([{ dtype: "f16", dims: [3] }]);
  });

  it("reads memory off the first run, whose tensors come one by one, and the plan off the last", async () => {
    const { memory } = await read(
      ...[node("a", 0, 1, 150, 50), node("bb", 1, 1, 180, 30), node("ccc", 2, 1, 120, -60), run(5)],
      ...[node("a", 0, 1, 220, 0), run(5)],
    );
    expect(memory).toEqual({ peakBytes: 80, plannedBytes: 120, arenaBytes: 900 });
  });

  it("says nothing of memory where the runtime does not", async () => {
    const bare = node("a", 0, 1, 1, 1).replace(/"mem_\w+" : "\d+",/g, "");
    expect((await read(bare, run(2), bare, run(2))).memory).toBeNull();
  });
});

import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, nodesWithin } from "../../../src/ir/index.js";
import { runFuse } from "../../../src/pipeline/prepare/fuse.js";
import type { RunResult } from "../../../src/pipeline/result.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { Runtime } from "../../../src/runtime/port.js";
import { modelFile } from "../../support/model-file.js";
import { fuseConfig, graphConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

const TEXT = `(x: f32[N,2,5,5]) -> (y) {
  i = Identity(x)
  c = Conv(i, $w: f32[3,2,3,3])
  y = Relu(c)
}`;

async function fuse(
  text: string,
  runtimeSpecific: boolean,
  on: Runtime = paced(1),
): Promise<{ result: RunResult; ops: string[]; domains: string[] }> {
  const folder = temporaryFolder();
  const output = join(folder, "out.onnx");
  const config = fuseConfig(modelFile(folder, text), output, { graph: graphConfig({ runtimeSpecific }) });
  const result = await runFuse({ ...config, recipe: "fuse" }, realContext(on));
  const model = loadModel(output);
  return { result, ops: [...nodesWithin(model.graph)].map(({ opName }) => opName), domains: [...model.opsets.keys()] };
}

/** Every run takes one millisecond, those of the second model of a race as many as are given: no load of the machine decides. */
const paced = (secondMs: number): Runtime => {
  let timers = 0;
  return Object.assign(Object.create(runtime) as Runtime, {
    async timer(job: Parameters<Runtime["timer"]>[0]) {
      const isSecond = timers++ % 2 === 1;
      const timer = await runtime.timer(job);
      return Object.assign(Object.create(timer) as typeof timer, {
        loadMs: timer.loadMs,
        firstRunMs: timer.firstRunMs,
        measure: async (runs: number) => (await timer.measure(runs)).map(() => (isSecond ? secondMs : 1)),
        peakRssBytes: () => timer.peakRssBytes(),
        close: () => timer.close(),
      });
    },
  });
};

describe("fuse --runtime-specific", () => {
  it("uses operators of the runtime's own domain, imports it, and says so", async () => {
    const { result, ops, domains } = await fuse(TEXT, true);
    expect(ops).toEqual(["com.microsoft::FusedConv"]);
    expect(domains).toEqual(["", "com.microsoft"]);
    expect(result.runtimeSpecific).toMatchObject({ kept: true, made: 1, nodes: 1, portableNodes: 2 });
    expect(result.verdict.summary).toMatch(
      /^2 rewrites; 1 operators? of com\.microsoft, .*: the file runs on ONNX Runtime only$/,
    );
    expect(result.passes.find(({ name }) => name === "fuse-conv-activation")?.applied).toBe(1);
    expect(result.passes.filter(({ name }) => name === "eliminate-identity")).toMatchObject([{ applied: 1 }]);
  });

  it("says that the target takes none of it", async () => {
    const folder = temporaryFolder();
    const graph = graphConfig({ runtimeSpecific: true, target: "tensorrt" });
    const config = fuseConfig(modelFile(folder, TEXT), join(folder, "out.onnx"), { graph });
    const { warnings } = await runFuse({ ...config, recipe: "fuse" }, realContext(runtime));
    expect(warnings).toContain("tensorrt does not take what --runtime-specific would make of 1 node");
  });

  it("is not what happens without the flag", async () => {
    const { result, ops, domains } = await fuse(TEXT, false);
    expect([ops, domains]).toEqual([["Conv", "Relu"], [""]]);
    expect(result.runtimeSpecific).toBeUndefined();
    expect(result.passes.map(({ name }) => name)).not.toContain("fuse-conv-activation");
  });

  it("imports nothing where there is nothing to fuse", async () => {
    const { result, ops, domains } = await fuse("(x: f32[2]) -> (y) { y = Relu(x) }", true);
    expect([ops, domains]).toEqual([["Relu"], [""]]);
    expect(result.verdict.summary).toBe("nothing to fuse; nothing runtime-specific to fuse");
    expect(result.runtimeSpecific).toMatchObject({ kept: false, made: 0, speedup: null });
  });

  it("writes the portable graph when the other is slower", async () => {
    const { result, ops, domains } = await fuse(TEXT, true, paced(3));
    expect([ops, domains]).toEqual([["Conv", "Relu"], [""]]);
    expect(result.runtimeSpecific?.kept).toBe(false);
    expect(result.runtimeSpecific!.speedupInterval![1]).toBeLessThan(1);
    expect(result.verdict.summary).toContain("the portable graph was kept");
    expect(result.passes.map(({ name }) => name)).not.toContain("fuse-conv-activation");
  });
});

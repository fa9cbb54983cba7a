import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check, loadModel, saveModel, Tensor } from "../../../src/ir/index.js";
import type { PruneConfig } from "../../../src/pipeline/config.js";
import { runPrune } from "../../../src/pipeline/prune/run-prune.js";
import { palette } from "../../../src/report/palette.js";
import { renderText } from "../../../src/report/text.js";
import { startRuntime, temporaryFolder } from "../../runtime/ort/workbench.js";
import { digits, digitsModel, fuseConfig, graphConfig, realContext } from "../../support/real-run.js";
import { limitsOf } from "../../support/run-config.js";
import { runFile } from "../../support/run-model.js";

async function configFor(
  folder: string,
  prune: Partial<PruneConfig["prune"]> = {},
  samples = 40,
): Promise<PruneConfig> {
  const calibration = await digits(folder, samples);
  const evaluation = await digits(folder, 100, 400);
  return {
    ...fuseConfig(digitsModel, join(folder, "pruned.onnx"), {
      data: { calibration, eval: evaluation, metric: { kind: "builtin", name: "top1" } },
    }),
    limits: limitsOf({ maxDrop: "none" }),
    prune: {
      targetSpeedup: null,
      keepRatio: null,
      recover: false,
      sparsity: null,
      widths: null,
      goal: "speed",
      selection: { include: [], exclude: [] },
      budgetMs: null,
      ...prune,
    },
  };
}

/** The same net with a second input, which has a default that samples need not give. */
function withDefault(folder: string): string {
  const model = loadModel(digitsModel);
  const { graph } = model;
  const [image] = graph.inputs;
  const type = { dtype: "f32", shape: [1] } as const;
  const gain = graph.addInput("gain", type, { defaultTensor: Tensor.f32([1], [0.5]) });
  const [first] = graph.nodes();
  const outputs = [{ label: "scaled", type: image!.type }];
  const scaled = graph.addNode({ op: "Mul", name: "scale", inputs: [image!, gain], outputs }, first);
  for (const use of [...image!.uses])
    if (use.kind === "input" && use.node !== scaled) graph.setInput(use.node, use.index, scaled.output);
  const path = join(folder, "with-default.onnx");
  saveModel(model, path).commit();
  return path;
}

describe("prune", () => {
  it("halves every group, fits what is left, and keeps what goes in and out", async () => {
    const folder = temporaryFolder();
    const config = await configFor(folder, {
      keepRatio: 0.5,
      selection: { include: ["/stage1/*", "/down1/*", "/stage2/*"], exclude: [] },
    });
    const result = await runPrune(config, realContext(startRuntime()));
    // How fast it is, noise may hide.
    const { output } = config.out;
    const { groups, fitted, unfitted } = result.pruning!;
    expect(groups.filter(({ kept, width }) => kept < width).length).toBeGreaterThan(2);
    expect(fitted.length).toBeGreaterThan(2);
    expect(fitted.every(({ before, after }) => after < before)).toBe(true);
    expect(unfitted.every(({ reason }) => reason.length > 0)).toBe(true);
    expect(result.accuracy!.samples).toBe(100);
    expect(result.accuracy!.candidate).toBeGreaterThan(0.9);
    expect(result.candidates).toHaveLength(1);
    expect(result.candidates[0]!.bytes).toBeLessThan(0.95 * result.model.bytes);
    expect(result.latency).not.toBeNull();
    if (result.verdict.outcome !== "met") return;
    const pruned = loadModel(output!);
    check(pruned.graph);
    const original = loadModel(digitsModel);
    expect(pruned.graph.inputs.map(({ label }) => label)).toEqual(original.graph.inputs.map(({ label }) => label));
    expect(pruned.graph.outputs.map(({ name }) => name)).toEqual(original.graph.outputs.map(({ name }) => name));
    const [image] = original.graph.inputs;
    const feed = Tensor.f32([3, 1, 28, 28], new Float32Array(3 * 784).fill(0.5));
    expect(Object.values(await runFile(output!, { [image!.label]: feed }))[0]!.dims).toEqual([3, 10]);
  }, 240_000);

  it("lets what is left learn from the original, inputs at their defaults, and keeps that only where it is no worse", async () => {
    const folder = temporaryFolder();
    const options = { keepRatio: 0.25, recover: true, selection: { include: ["/stage2/*"], exclude: [] } };
    const config = { ...(await configFor(folder, options)), model: withDefault(folder) };
    const result = await runPrune(config, realContext(startRuntime()));
    const recovery = result.pruning!.recovery!;
    expect(result.stages.map(({ stage }) => stage)).toContain("recover");
    if ("reason" in recovery) expect(recovery.reason).toMatch(/made it worse/);
    else {
      expect(recovery.blocked).toEqual([]);
      expect(recovery.after).toBeLessThanOrEqual(recovery.before);
    }
    expect(renderText(result, palette(false))).toMatch(/learn/);
  }, 600_000);

  it("searches for a net that is accurate, and lists what it tried", async () => {
    const folder = temporaryFolder();
    const config = {
      ...(await configFor(folder, { budgetMs: 1, selection: { include: ["/stage1/*", "/down1/*"], exclude: [] } })),
      limits: limitsOf({ maxDrop: { percent: 5 } }),
    };
    const result = await runPrune(config, realContext(startRuntime()));
    expect(result.candidates.length).toBeGreaterThan(0);
    expect(result.pruning!.pareto.every(({ speedup }) => speedup > 0)).toBe(true);
    expect(existsSync(config.out.output!)).toBe(result.verdict.outcome === "met");
  }, 240_000);

  it("leaves out what is not selected", async () => {
    const folder = temporaryFolder();
    const config = await configFor(folder, { keepRatio: 0.5, selection: { include: [], exclude: ["op:Conv"] } });
    const result = await runPrune(config, realContext(startRuntime()));
    const narrowed = result.pruning?.groups.filter(({ kept, width }) => kept < width) ?? [];
    expect(narrowed.filter(({ kind }) => kind === "channels")).toEqual([]);
  }, 240_000);

  it("puts zeros where they are missed least: closer to the original than the smallest weights left out", async () => {
    const folder = temporaryFolder();
    const config = {
      ...(await configFor(folder, { sparsity: { kind: "pattern", kept: 2, of: 4 }, goal: "size" })),
      graph: graphConfig({ target: "tensorrt" }),
    };
    const result = await runPrune(config, realContext(startRuntime()));
    const { sparsity, fitted } = result.pruning!;
    expect(sparsity).toMatchObject({ asked: "2:4" });
    expect(sparsity!.zeros / sparsity!.weights).toBeGreaterThan(0.45);
    expect(sparsity!.compressedBytes.after).toBeLessThan(0.7 * sparsity!.compressedBytes.before);
    expect(fitted.length).toBeGreaterThan(2);
    const missed = (which: "before" | "after") => fitted.reduce((sum, each) => sum + each[which], 0);
    expect(missed("after")).toBeLessThan(0.4 * missed("before"));
    expect(result.accuracy!.candidate).toBeGreaterThan(0.9);
    expect(result.warnings.join()).toMatch(/TensorRT.*Ampere.*not measured/);
    expect(result.latency).not.toBeNull();
    expect(renderText(result, palette(false))).toMatch(/compressed \(gzip\)/);
    // Unless noise made it look slower.
    if (result.verdict.outcome !== "met") return;
    const sparse = loadModel(config.out.output!);
    check(sparse.graph);
    for (const node of sparse.graph.nodes()) {
      const weight = node.inputs[1]?.constant;
      if (node.op !== "Conv" || !weight || weight.dims[1]! % 4 !== 0) continue;
      const [rows = 0, channels = 0, ...kernel] = weight.dims;
      const places = kernel.reduce((product, size) => product * size, 1);
      const values = weight.f32();
      for (let four = 0; four < (rows * channels) / 4; four++) {
        for (let place = 0; place < places; place++) {
          const zeros = [0, 1, 2, 3].filter((c) => values[(4 * four + c) * places + place] === 0);
          expect(zeros.length).toBeGreaterThanOrEqual(2);
        }
      }
    }
  }, 240_000);

  it("ends ranking and fits when its time is over, and names what was left out", async () => {
    const config = await configFor(temporaryFolder(), { keepRatio: 0.5, budgetMs: 1 });
    const result = await runPrune(config, realContext(startRuntime()));
    const { fitted, unfitted } = result.pruning!;
    expect(fitted).toEqual([]);
    expect(unfitted.length).toBeGreaterThan(2);
    expect(unfitted.every(({ reason }) => reason.includes("--budget"))).toBe(true);
    expect(result.warnings.join()).toMatch(/too short to look at all groups: of (\d+) of \1/);
    expect(result.latency).not.toBeNull();
  }, 120_000);

  it.each([
    ["without samples", { calibration: null }, "CALIBRATION_NEEDED"],
    ["with ten", {}, "SAMPLES_TOO_FEW"],
  ])("refuses %s", async (_, data, code) => {
    const folder = temporaryFolder();
    const config = await configFor(folder, { keepRatio: 0.5 }, 10);
    const run = runPrune({ ...config, data: { ...config.data, ...data } }, realContext(startRuntime()));
    await expect(run).rejects.toMatchObject({ code });
    expect(existsSync(config.out.output!)).toBe(false);
  });

  it("refuses to judge by what it fitted: samples of both files are not fitted, and the rest is too little", async () => {
    const folder = temporaryFolder();
    const { data, ...config } = await configFor(folder, { keepRatio: 0.5 });
    const run = runPrune(
      { ...config, data: { ...data, eval: await digits(folder, 100, 20) } },
      realContext(startRuntime()),
    );
    await expect(run).rejects.toMatchObject({ code: "SAMPLES_TOO_FEW", fields: { samples: 20 } });
  });

  it("refuses a selector that means nothing", async () => {
    const config = await configFor(temporaryFolder(), { selection: { include: ["no/such/node"], exclude: [] } });
    await expect(runPrune(config, realContext(startRuntime()))).rejects.toMatchObject({ code: "SELECTOR_EMPTY" });
  });
});

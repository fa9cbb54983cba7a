import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check, loadModel, parseModel, saveModel } from "../../../src/ir/index.js";
import type { OptimizeConfig } from "../../../src/pipeline/config.js";
import { runOptimize } from "../../../src/pipeline/search/optimize.js";
import { runOptimizePruned, selectionIn } from "../../../src/pipeline/search/optimize-pruned.js";
import { palette } from "../../../src/report/palette.js";
import { renderText } from "../../../src/report/text.js";
import { startRuntime, temporaryFolder } from "../../runtime/ort/workbench.js";
import { modelFile } from "../../support/model-file.js";
import { digits, digitsModel, optimizeConfig, realContext } from "../../support/real-run.js";
import { limitsOf } from "../../support/run-config.js";

/** @param budgetMs as little as there is, where nothing has to come of the search */
async function configFor(folder: string, budgetMs = 1): Promise<OptimizeConfig> {
  const calibration = await digits(folder, 40);
  const evaluation = await digits(folder, 60, 400);
  return {
    ...optimizeConfig(digitsModel, join(folder, "out.onnx"), { budgetMs }),
    data: { calibration, eval: evaluation, metric: { kind: "builtin", name: "top1" } },
    limits: limitsOf({ maxDrop: { percent: 10 } }),
  };
}

describe("optimize --prune", () => {
  it("judges every way as a whole against the original, and delivers the best that meets the limits", async () => {
    const folder = temporaryFolder();
    const config = await configFor(folder, 120_000);
    const result = await runOptimizePruned(config, realContext(startRuntime()));
    expect(result.command).toBe("optimize");
    expect(result.model.path).toBe(digitsModel);
    const listed = result.pareto!;
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.every(({ speedup, commands }) => speedup > 0 && commands.length > 0)).toBe(true);
    expect(result.stages.map(({ stage }) => stage)).toEqual(expect.arrayContaining(["prune", "quantize", "bench"]));
    expect(result.candidates.some(({ name }) => name.startsWith("pruned "))).toBe(true);
    expect(readdirSync(folder).filter((name) => /journal|best/.test(name))).toEqual([]);
    expect(renderText(result, palette(false))).toContain("files that no other exceeds");
    expect(existsSync(config.out.output!)).toBe(result.verdict.outcome === "met");
    if (result.verdict.outcome !== "met") return;
    expect(listed.filter(({ chosen }) => chosen)).toHaveLength(1);
    const [own, original] = [loadModel(config.out.output!), loadModel(digitsModel)];
    check(own.graph);
    expect(own.graph.inputs.map(({ label }) => label)).toEqual(original.graph.inputs.map(({ label }) => label));
    expect(own.graph.outputs.map(({ name }) => name)).toEqual(original.graph.outputs.map(({ name }) => name));
  }, 400_000);

  it("knows what was included and excluded by the nodes that are left of it", () => {
    const whole = parseModel(`(x: f32[1,8]) -> (y) {
      a = MatMul(x, $v: f32[8,8])
      b = Relu(a)
      y = MatMul(b, $w: f32[8,8])
    }`);
    const narrower = parseModel("(x: f32[1,8]) -> (y) { a = MatMul(x, $v: f32[8,8]) y = Relu(a) }");
    for (const { graph } of [whole, narrower]) for (const node of graph.nodes()) node.name = `/${node.output.label}`;
    whole.graph.firstNode!.provenance = ["/before"];
    const meant = (include: string[], exclude: string[]) =>
      selectionIn(
        narrower,
        { prepared: { model: whole } } as never,
        { quantize: { selection: { include, exclude } } } as never,
      );
    expect(meant([], ["/before", "/b"])).toEqual({ include: [], exclude: ["/a"] });
    expect(meant(["op:MatMul"], [])).toEqual({ include: ["/a", "/y"], exclude: [] });
    expect(meant(["/b"], [])).toBeNull();
  });

  it("narrows only what is selected", async () => {
    const config = await configFor(temporaryFolder());
    const selection = { include: [], exclude: ["*"] };
    const none = { ...config, quantize: { ...config.quantize, selection } };
    const { warnings, pruning } = await runOptimizePruned(none, realContext(startRuntime()));
    expect(pruning).toBeUndefined();
    expect(warnings.some((warning) => warning.startsWith("not pruned"))).toBe(true);
  }, 240_000);

  it("needs a limit on accuracy", async () => {
    const config = { ...(await configFor(temporaryFolder())), limits: limitsOf({ maxDrop: "none" }) };
    await expect(async () => runOptimizePruned(config, realContext(startRuntime()))).rejects.toMatchObject({
      code: "FLAG_INVALID",
    });
  });
});

describe("--baseline", () => {
  it("is what accuracy, speed and size are held against", async () => {
    const folder = temporaryFolder();
    const config = await configFor(folder);
    const model = join(folder, "copy.onnx");
    saveModel(loadModel(digitsModel), model).commit();
    const result = await runOptimize({ ...config, model, baseline: digitsModel }, realContext(startRuntime()));
    expect(result.model.path).toBe(model);
    expect(result.baseline).toMatchObject({ path: digitsModel });
    expect(renderText(result, palette(false))).toContain("before is digits.onnx");
  }, 240_000);

  it("refuses a model that takes or gives something else", async () => {
    const folder = temporaryFolder();
    const config = await configFor(folder);
    const other = modelFile(folder, "(image: f32[N,1,28,28]) -> (other) { other = Relu(image) }", {
      name: "other.onnx",
    });
    const run = runOptimize({ ...config, baseline: other }, realContext(startRuntime()));
    await expect(run).rejects.toMatchObject({ code: "MODELS_DIFFER" });
  });
});

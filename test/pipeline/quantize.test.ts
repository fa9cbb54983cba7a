import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel, nodesWithin, opsetOf, saveModel } from "../../src/ir/index.js";
import { mergeRangesFiles, runCalibrate } from "../../src/pipeline/calibrate/calibrate.js";
import type { QuantizeConfig } from "../../src/pipeline/config.js";
import { explainResult } from "../../src/pipeline/explain/explain-result.js";
import { runFp16 } from "../../src/pipeline/fp16/fp16.js";
import { runFuse } from "../../src/pipeline/prepare/fuse.js";
import { runOptimize, runQuantize } from "../../src/pipeline/search/optimize.js";
import { readRanges } from "../../src/quantization/ranges-file.js";
import { ortRuntime } from "../../src/runtime/ort/index.js";
import type { Runtime, SessionOptions } from "../../src/runtime/port.js";
import { faultOf } from "../support/dataset.js";
import { differenceOf, FakeRuntime } from "../support/fake-runtime.js";
import { modelFile } from "../support/model-file.js";
import { f32Npy, npz } from "../support/npz.js";
import {
  digits,
  digitsModel,
  fuseConfig,
  graphConfig,
  optimizeConfig,
  realContext,
  sha256,
} from "../support/real-run.js";
import { limitsOf } from "../support/run-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const runtime = ortRuntime();
afterAll(() => runtime.close());

/** A folder, samples to calibrate with, others to judge by, and an output's path. */
async function scene() {
  const folder = temporaryFolder();
  const calibration = await digits(folder, 20);
  const evaluation = await digits(folder, 30, 100);
  return { folder, calibration, evaluation, output: join(folder, "out.onnx"), context: realContext(runtime) };
}

const opsOf = (path: string): Set<string> => new Set([...nodesWithin(loadModel(path).graph)].map(({ op }) => op));
const classes = { kind: "builtin", name: "top1" } as const;

describe("quantize", () => {
  it("makes integers of a model in half precision, with inputs and outputs of the same types", async () => {
    const { output, calibration, evaluation, folder, context } = await scene();
    const half = join(folder, "half.onnx");
    const asHalf = { target: "f16", convertIo: true, selection: { include: [], exclude: [] } } as const;
    await runFp16({ ...fuseConfig(digitsModel, half), ...asHalf }, realContext(runtime));
    const data = { calibration, eval: evaluation, metric: classes };
    const result = await runQuantize(optimizeConfig(half, output, {}, { data }), context);
    expect(result.verdict).toMatchObject({ status: "pass", outcome: "met" });
    expect(result.quantization).toMatchObject({ mode: "static" });
    expect(result.quantization!.nodes).toBeGreaterThan(0);
    expect(result.passes.find(({ name }) => name === "widen-half")!.applied).toBe(1);
    const session = { provider: "cpu", threads: 1, allowFallback: false, optimization: "disabled" } as const;
    const { inputs, outputs } = await runtime.describe(output, session);
    expect([...inputs, ...outputs].map(({ dtype }) => dtype)).toEqual(["f16", "f16"]);
  });

  it("makes integers of what ONNX Runtime's own operators hold, and stores in half precision again what stays float", async () => {
    const { output, folder, context } = await scene();
    const model = modelFile(
      folder,
      `(x: f32[N,5,64]) -> (y) {
        h = Cast<to=10>(x)
        a = com.microsoft::Attention<num_heads=2>(h, $w: f16[64,192], $b: f16[192])
        s = com.microsoft::SkipLayerNormalization(a, h, $g: f16[64], $o: f16[64])
        p = MatMul(s, $kept: f16[64,64])
        y = Cast<to=1>(p)
      }`,
    );
    const samples = join(folder, "x.npz");
    writeFileSync(
      samples,
      npz({
        x: f32Npy(
          [8, 5, 64],
          Array.from({ length: 2560 }, (_, i) => Math.sin(i * i)),
        ),
      }),
    );
    const data = { calibration: samples, eval: samples, metric: null };
    const kept = [...loadModel(model).graph.nodes()].findLast((node) => node.is("MatMul"))!.displayName;
    const quantize = { mode: "dynamic", selection: { include: [], exclude: [kept] } } as const;
    await runQuantize(
      optimizeConfig(model, output, quantize, { data, limits: limitsOf({ maxDrop: "none" }) }),
      context,
    );
    const { graph } = loadModel(output);
    const nodes = [...graph.nodes()];
    expect(nodes.filter((node) => node.is("MatMulInteger"))).toHaveLength(3);
    expect(nodes.filter(({ domain }) => domain !== "")).toEqual([]);
    expect([...graph.constants].find(({ label }) => label === "kept")!.dtype).toBe("f16");
  });

  it("writes a smaller model that is as accurate, and the same bytes each time", async () => {
    const { output, calibration, evaluation, folder } = await scene();
    const again = join(folder, "again.onnx");
    const data = { calibration, eval: evaluation, metric: classes };
    for (const path of [output, again]) {
      const result = await runQuantize(optimizeConfig(digitsModel, path, {}, { data }), realContext(runtime));
      expect(result.verdict).toMatchObject({ status: "pass", outcome: "met" });
      expect(result.output!.bytes).toBeLessThan(result.model.bytes / 2);
      expect(result.accuracy!.candidate).toBeGreaterThan(0.9);
      expect(result.quantization).toMatchObject({ mode: "static", method: "minmax", calibration: { samples: 20 } });
      expect(result.quantization!.nodes).toBeGreaterThan(0);
    }
    expect(opsOf(output)).toContain("QuantizeLinear");
    expect(sha256(again)).toBe(sha256(output));
  });

  it("says which tensors held no numbers in the calibration data, and why nodes compute in float that it stores as integers", async () => {
    const folder = temporaryFolder();
    const model = modelFile(
      folder,
      `(x: f32[1,32]) -> (a, b) {
      l = Log(x)\n a = MatMul(l, $w: f32[32,64])\n b = MatMul(x, $v: f32[32,64]) }`,
    );
    const calibration = join(folder, "x.npz");
    const values = Float32Array.from({ length: 48 * 32 }, (_, i) => 1.5 + Math.sin(i));
    // Of one sample, and none to judge by.
    values[2 * 32] = 0;
    writeFileSync(calibration, npz({ x: f32Npy([48, 32], [...values]) }));
    const data = { calibration, eval: null, metric: null };
    const quantize = { mode: "static", goal: "size" } as const;
    const config = optimizeConfig(model, join(folder, "out.onnx"), quantize, {
      data,
      limits: limitsOf({ maxDrop: "none" }),
    });
    const result = await runQuantize(config, realContext(runtime));
    expect(result.warnings.join()).toMatch(/1 of \d tensors held NaN or infinity, .* the first of them l /);
    expect(result.quantization!.forms).toContainEqual({ node: "MatMul:b", form: "static" });
    const reason = expect.stringMatching(/^l held \d+ NaN or infinite values during calibration$/);
    expect(result.quantization!.stored).toEqual([{ node: "MatMul:a", op: "MatMul", reason }]);
    const told = explainResult("r.json", JSON.stringify(result));
    expect(told.float.map((each) => each.reason)).toContainEqual(
      expect.stringMatching(/^its weights alone are integers: l held/),
    );
  });

  it("stores weights where nothing can run on integers, with 16 bits where errors grow", async () => {
    const folder = temporaryFolder();
    const text = `(x: f32[8,1,64]) -> (y) {
      h = LSTM<hidden_size=64>(x, $w: f32[1,256,64], $r: f32[1,256,64])
      y = Neg(h) }`;
    const model = modelFile(folder, text);
    const output = join(folder, "out.onnx");
    const quantize = { mode: "auto", goal: "size" } as const;
    const limits = limitsOf({ maxDrop: "none" });
    const result = await runQuantize(optimizeConfig(model, output, quantize, { limits }), realContext(runtime));
    expect(result.quantization).toMatchObject({ mode: "weights", bits: 16, forms: [{ form: "weights16" }] });
    expect(result.output!.bytes).toBeLessThan(0.55 * result.model.bytes);
    const again = await runQuantize(optimizeConfig(output, join(folder, "2.onnx"), quantize), realContext(runtime));
    expect(again.verdict.summary).toContain("quantized already");
  });

  it.each([false, true])(
    "judges and tells the size of what it writes, with weights beside it: %s",
    async (externalData) => {
      const { folder, context } = await scene();
      const model = modelFile(
        folder,
        "(x: f32[2,64]) -> (y) { a = MatMul(x, $w: f32[64,64]) b = Relu(a) y = MatMul(b, $v: f32[64,64]) }",
      );
      const limits = limitsOf({ maxDrop: "none", maxSizeBytes: 1e6 });
      const out = { output: join(folder, "named.onnx"), externalData, keepRejected: false };
      const config = { ...optimizeConfig(model, null, { mode: "weights" }, { limits }), out };
      const { output, candidates, verdict } = await runQuantize(config, context);
      expect(candidates.find(({ chosen }) => chosen)!.bytes).toBe(output!.bytes);
      expect(verdict.reasons.find(({ limit }) => limit === "max-size")!.got).toBe(output!.bytes);
    },
  );

  it("says so where weights of 4 bits were asked for and others are faster or more accurate", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,64]) -> (y) { y = MatMul(x, $w: f32[64,64]) }");
    const samples = join(folder, "x.npz");
    writeFileSync(
      samples,
      npz({
        x: f32Npy(
          [12, 2, 64],
          Array.from({ length: 12 * 128 }, (_, i) => Math.sin(i)),
        ),
      }),
    );
    const data = { calibration: samples, eval: null, metric: null };
    const limits = limitsOf({ maxDrop: "none" });
    const warningsOf = async (quantize: Partial<QuantizeConfig>): Promise<readonly string[]> => {
      const result = await runQuantize(optimizeConfig(model, output, quantize, { data, limits }), context);
      expect(result.verdict.outcome).toBe("met");
      return result.warnings.filter((warning) => warning.startsWith("--bits"));
    };
    expect(await warningsOf({ bits: 4 })).toEqual([expect.stringContaining("--mode weights")]);
    expect(await warningsOf({ bits: 4, mode: "weights" })).toEqual([]);
    expect(await warningsOf({ bits: 8 })).toEqual([]);
  });

  it("says which corrections it tried, and keeps those that other samples confirm", async () => {
    const { output, calibration, evaluation, context } = await scene();
    const data = { calibration, eval: evaluation, metric: { kind: "builtin", name: "sqnr" } as const };
    const limits = limitsOf({ maxDrop: "none" });
    const config = optimizeConfig(
      digitsModel,
      output,
      { corrections: ["equalize", "means", "outputs"] },
      { data, limits },
    );
    const { quantization, verdict } = await runQuantize(config, context);
    expect(verdict.outcome).toBe("met");
    const tried = quantization!.corrections!;
    expect(tried.map(({ correction }) => correction)).toEqual(expect.arrayContaining(["equalize", "means"]));
    for (const { isKept, beforeDb, afterDb, beforePooledDb, afterPooledDb } of tried) {
      const gain = (afterDb! - beforeDb! + afterPooledDb! - beforePooledDb!) / 2;
      expect(gain >= 0.05).toBe(isKept);
    }
    expect(quantization!.notes).toContainEqual(expect.stringContaining("correction equalize"));
  });

  it.each([
    ["stores what static integers leave float, where size counts", false, "weights16"],
    ["has the runtime's own integers beside static ones, where they are asked for", true, "dynamic"],
  ] as const)("%s", async (_, runtimeSpecific, form) => {
    const folder = temporaryFolder();
    const text = `(x: f32[4,64]) -> (y) {
      a = MatMul(x, $w: f32[64,64])
      b = Relu(a)
      c = Unsqueeze(b, $axes: i64[1] = {0})
      y = LSTM<hidden_size=64>(c, $v: f32[1,256,64], $r: f32[1,256,64]) }`;
    const model = modelFile(folder, text);
    const samples = join(folder, "x.npz");
    writeFileSync(
      samples,
      npz({
        x: f32Npy(
          [12, 4, 64],
          Array.from({ length: 12 * 256 }, (_, i) => Math.sin(i)),
        ),
      }),
    );
    const data = { calibration: samples, eval: null, metric: null };
    const limits = limitsOf({ maxDrop: "none" });
    const graph = graphConfig({ runtimeSpecific });
    const config = optimizeConfig(model, join(folder, "out.onnx"), {}, { data, limits, graph });
    const result = await runQuantize(config, realContext(runtime));
    expect(result.quantization!.mode).toBe("mixed");
    expect([...result.quantization!.forms!].sort((a, b) => b.node.localeCompare(a.node))).toEqual([
      { node: expect.stringContaining("MatMul"), form: "static" },
      { node: expect.stringContaining("LSTM"), form },
    ]);
  });

  it.each([
    [undefined, "auto", ["dynamic", "weights16"]],
    ["openvino", "weights", ["weights8"]],
  ] as const)("with the operators of the runtime alone, target %s", async (target, mode, forms) => {
    const text = `(x: f32[4,8,32]) -> (y) {
      c = Conv(x, $u: f32[64,8,3])
      y = LSTM<hidden_size=32>(c, $v: f32[1,128,30], $r: f32[1,128,32]) }`;
    const model = modelFile(temporaryFolder(), text);
    const graph = graphConfig({ runtimeSpecific: true, ...(target && { target }) });
    const limits = limitsOf({ maxDrop: "none" });
    const out = join(temporaryFolder(), "out.onnx");
    const config = optimizeConfig(model, out, { mode, goal: "size" }, { limits, graph });
    const { quantization, candidates, warnings } = await runQuantize(config, realContext(runtime));
    expect(candidates!.length).toBeGreaterThan(0);
    expect(new Set(quantization!.forms!.map(({ form }) => form))).toEqual(new Set(forms));
    expect(warnings.some((warning) => warning.includes("--runtime-specific changes nothing"))).toBe(
      target !== undefined,
    );
  });

  it("leaves no output and says so when accuracy is missed; keeps it only when told to", async () => {
    const { output, calibration, evaluation } = await scene();
    // No integer model gives the same numbers.
    const data = { calibration, eval: evaluation, metric: { kind: "builtin", name: "mse" } as const };
    const limits = limitsOf({ maxDrop: { absolute: 0 } });
    const config = optimizeConfig(digitsModel, output, { searchMs: 1 }, { data, limits });
    const result = await runQuantize(config, realContext(runtime));
    expect(result.verdict.outcome).toBe("accuracy");
    expect(result.output).toBeNull();
    expect(existsSync(output)).toBe(false);
    const rejected = output.replace(".onnx", ".rejected.onnx");
    expect(existsSync(rejected)).toBe(false);
    const kept = await runQuantize({ ...config, out: { ...config.out, keepRejected: true } }, realContext(runtime));
    expect(kept.output!.path).toBe(rejected);
    expect(existsSync(output)).toBe(false);
    expect(opsOf(rejected)).toContain("QuantizeLinear");
  });

  it.each(["dynamic", "weights"] as const)("%s mode needs no data, and says that nothing was proven", async (mode) => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[1,64]) -> (y) { h = Gemm(x, $w: f32[64,64]) y = Relu(h) }");
    const result = await runQuantize(optimizeConfig(model, output, { mode }), context);
    expect(result.verdict.outcome).toBe("met");
    expect(result.quantization!.mode).toBe(mode);
    expect(result.accuracy!.kind).toBe("smoke");
    expect(result.warnings.join()).toContain("smoke test");
  });

  it("names the data where all that it calibrates on is NaN inside the model", async () => {
    const folder = temporaryFolder();
    const model = modelFile(folder, "(x: f32[1,64]) -> (y) { n = Log(x) y = Gemm(n, $w: f32[64,64]) }");
    const path = join(folder, "negative.npz");
    const rows = Array.from({ length: 4 }, (_, i) => Float32Array.from({ length: 64 }, (_, j) => -1 - i - j));
    writeFileSync(
      path,
      npz({
        x: f32Npy(
          [4, 64],
          rows.flatMap((row) => [...row]),
        ),
      }),
    );
    const data = { calibration: path, eval: null, metric: null };
    const config = optimizeConfig(model, join(folder, "out.onnx"), { mode: "static", goal: "speed" }, { data });
    const { verdict } = await runQuantize(config, realContext(runtime));
    expect(verdict.summary).toContain(`no node of the model can be quantized: with ${path}`);
  });

  it("static mode without samples is refused", async () => {
    const fault = await faultOf(() => runQuantize(optimizeConfig(digitsModel, null), realContext(runtime)));
    expect(fault.code).toBe("CALIBRATION_NEEDED");
  });

  it("does nothing to a model that is quantized already", async () => {
    const { output, folder, context } = await scene();
    await runQuantize(optimizeConfig(digitsModel, output, { mode: "weights" }), context);
    const second = join(folder, "second.onnx");
    const result = await runQuantize(optimizeConfig(output, second, { mode: "dynamic" }), context);
    expect(result.verdict.outcome).toBe("no-gain");
    expect(result.verdict.summary).toContain("quantized already");
    expect(existsSync(second)).toBe(false);
  });

  it("quantizes the rest of a model that is quantized in part, where it is named", async () => {
    const { output, folder, calibration, context } = await scene();
    const data = { calibration, eval: null, metric: null };
    const limits = limitsOf({ maxDrop: "none" });
    const heavy = [...nodesWithin(loadModel(digitsModel).graph)].filter(({ op }) => op === "Conv" || op === "Gemm");
    // The Gemm behind it is too small for a gain.
    const last = heavy.at(-2)!.displayName;
    const without = { mode: "static", selection: { include: [], exclude: [last] }, goal: "size" } as const;
    const first = await runQuantize(optimizeConfig(digitsModel, output, without, { data, limits }), context);
    const second = join(folder, "second.onnx");
    const left = await runQuantize(optimizeConfig(output, second, { mode: "static" }, { data }), context);
    expect(left.verdict.summary).toContain("a node with weights is float: name those");
    const named = { mode: "static", selection: { include: [last], exclude: [] }, goal: "size" } as const;
    const result = await runQuantize(optimizeConfig(output, second, named, { data, limits }), context);
    expect(result.verdict.outcome).toBe("met");
    expect(result.quantization!.nodes).toBe(1);
    expect(result.output!.bytes).toBeLessThan(first.output!.bytes);
  });

  it("quantizes a model that answers a weight and an input as well, which stay what they are", async () => {
    const { folder, output, context, calibration } = await scene();
    const model = loadModel(digitsModel);
    const weight = model.graph.constants.find(({ uses }) => uses.length > 0)!;
    model.graph.addOutput("weight", weight);
    model.graph.addOutput("given", model.graph.inputs[0]!);
    const path = join(folder, "outputs.onnx");
    saveModel(model, path).commit();
    const data = { calibration, eval: null, metric: null };
    const limits = limitsOf({ maxDrop: "none" });
    const quantize = { mode: "static", goal: "size" } as const;
    const result = await runQuantize(optimizeConfig(path, output, quantize, { data, limits }), context);
    expect(result.quantization).toMatchObject({ mode: "static" });
    const same = result.difference.filter(({ maxAbs }) => maxAbs === 0).map(({ output: name }) => name);
    expect(same).toEqual(expect.arrayContaining(["weight", "given"]));
  });

  it("does nothing to a model without products", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,3]) -> (y) { a = Tanh(x)\n y = Relu(a) }");
    const result = await runQuantize(optimizeConfig(model, output, { mode: "auto" }), context);
    expect(result.verdict).toMatchObject({ outcome: "no-gain" });
    expect(result.verdict.summary).toContain("no node of the model can be quantized");
    expect(existsSync(output)).toBe(false);
  });

  it("makes and times nothing where no integers pay by the table, and says why of each", async () => {
    const { folder, output, context, calibration } = await scene();
    const text = `(image: f32[N,1,28,28]) -> (y) {
      f = Flatten(image)\n a = MatMul(f, $w: f32[784,2])\n y = MatMul(a, $v: f32[2,3]) }`;
    const model = modelFile(folder, text);
    // Its table is the same wherever this runs.
    const graph = graphConfig({ target: "ort-cpu-vnni" });
    const data = { calibration, eval: null, metric: null };
    const quantize = { mode: "static", goal: "speed" } as const;
    const result = await runQuantize(optimizeConfig(model, output, quantize, { graph, data }), context);
    expect(result.verdict.outcome).toBe("no-gain");
    expect(result.verdict.summary).toMatch(/static integers pay nowhere .* at 0\.\d\dx of their speed$/);
    expect(result).toMatchObject({ candidates: [], latency: null, output: null });
    const { float, regions } = result.quantization!;
    expect(float).toHaveLength(2);
    for (const { reason } of float) expect(reason).toMatch(/^does not pay: .* as integers/);
    expect(regions!.map(({ form }) => form)).toEqual(["float", "float"]);
    // What was left out stays told of.
    const selection = { include: [], exclude: [float[0]!.node] };
    const less = await runQuantize(
      optimizeConfig(model, output, { ...quantize, selection }, { graph, data }),
      realContext(runtime),
    );
    expect(less.quantization!.float.map(({ reason }) => reason)).toEqual([
      "left out with --exclude",
      expect.stringMatching(/^does not pay: /),
    ]);
    expect(less.quantization!.regions).toHaveLength(1);
    // What size is wanted for is made all the same.
    const small = await runQuantize(optimizeConfig(model, output, { mode: "static" }, { graph, data }), context);
    expect(small.candidates.length).toBeGreaterThan(0);
  });

  it("optimize times nothing where it finds nothing, and says so with the reason of each node", async () => {
    const { folder, output, calibration } = await scene();
    const graph = graphConfig({ target: "ort-cpu-vnni" });
    const quantize = { mode: "static", goal: "speed" } as const;
    const model = modelFile(
      folder,
      `(image: f32[N,1,28,28]) -> (y) {
      f = Flatten(image)\n a = MatMul(f, $w: f32[784,2])\n y = MatMul(a, $v: f32[2,3]) }`,
    );
    const config = optimizeConfig(model, output, quantize, { graph, data: { calibration, eval: null, metric: null } });
    const result = await runOptimize(config, realContext(runtime));
    expect(result).toMatchObject({ candidates: [], latency: null, output: null, quantization: null });
    expect(result.verdict).toMatchObject({ outcome: "no-gain", reasons: [] });
    expect(result.verdict.summary).toMatch(
      /^nothing was found that pays: no rewrite applies; static integers pay nowhere/,
    );
    expect(result.stages.map(({ stage }) => stage)).not.toContain("verify");
    expect(result.shrinkableBytes).toBe(4 * 784 * 2);
    expect(result.unquantized!.float.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^does not pay: .* as integers/),
      expect.stringMatching(/^does not pay: .* as integers/),
    ]);
    const told = explainResult("r.json", JSON.stringify(result));
    expect(told.float).toEqual(result.unquantized!.float);
    expect(told.regions).toHaveLength(2);
    // A rewrite that applies makes another file, which is timed; what no integers are for is told all the same.
    const other = modelFile(
      folder,
      `(image: f32[N,1,28,28]) -> (y) {
      f = Flatten(image)\n i = Identity(f)\n a = MatMul(i, $w: f32[784,2])\n y = MatMul(a, $v: f32[2,3]) }`,
    );
    const fused = await runOptimize({ ...config, model: other }, realContext(runtime));
    expect(fused.candidates.map(({ name }) => name)).toEqual(["float32 fused"]);
    expect(fused.candidates[0]).toMatchObject({ floatNodes: 2, quantizedNodes: 0 });
    expect(fused.unquantized!.float).toHaveLength(2);
    expect(fused.unquantized!.regions).toHaveLength(2);
  });

  it("does nothing to a model whose opset is to stay below its operators", async () => {
    const { folder, output, context, calibration } = await scene();
    const model = modelFile(folder, "(image: f32[N,1,28,28]) -> (y) { y = Conv(image, $w: f32[4,1,3,3]) }", {
      opset: 11,
    });
    const graph = graphConfig({ keepOpset: true });
    const data = { calibration, eval: null, metric: null };
    const result = await runQuantize(optimizeConfig(model, output, {}, { graph, data }), context);
    expect(result.verdict.outcome).toBe("no-gain");
    expect(result.verdict.summary).toContain("opset stays at 11");
  });

  it("refuses weights that are no numbers", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,2]) -> (y) { y = MatMul(x, $w: f32[2,2] = {1,nan,0,2}) }");
    const fault = await faultOf(() => runQuantize(optimizeConfig(model, output, { mode: "dynamic" }), context));
    expect(fault.code).toBe("MODEL_NOT_FINITE");
    expect(fault.message).toContain('"w"');
  });

  it("finds out before the long work that a selector matches nothing", async () => {
    const { output, calibration, context } = await scene();
    const data = { calibration, eval: null, metric: null };
    const selection = { include: [], exclude: ["nosuch"] };
    const fault = await faultOf(() =>
      runQuantize(optimizeConfig(digitsModel, output, { selection }, { data }), context),
    );
    expect(fault.code).toBe("SELECTOR_EMPTY");
    expect(context.events.filter((event) => event.type === "stage").map(({ stage }) => stage)).not.toContain(
      "calibrate",
    );
  });

  it("leaves nodes float that were excluded, with the reason", async () => {
    const { output, calibration, context } = await scene();
    const data = { calibration, eval: null, metric: null };
    const selection = { include: [], exclude: ["op:Gemm"] };
    const result = await runQuantize(optimizeConfig(digitsModel, output, { selection }, { data }), context);
    expect(result.quantization!.float.map(({ reason }) => reason)).toContain("left out with --exclude op:Gemm");
  });
});

describe("optimize", () => {
  it("writes a model whatever way is smallest, and lists the others", async () => {
    const { output, calibration, evaluation, context } = await scene();
    const data = { calibration, eval: evaluation, metric: classes };
    const result = await runOptimize(optimizeConfig(digitsModel, output, { mode: "auto" }, { data }), context);
    expect(result.verdict.outcome).toBe("met");
    expect(result.candidates.filter(({ chosen }) => chosen)).toHaveLength(1);
    const names = result.candidates.map(({ name }) => name);
    for (const name of ["float32 fused", "float16", "int8 weights"]) expect(names).toContain(name);
    const least = Math.min(...result.candidates.map(({ bytes }) => bytes));
    expect(result.output!.bytes).toBeLessThanOrEqual(least * 1.03);
  });

  it("keeps in float32 what half precision has no numbers for", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(
      folder,
      `(x: f32[2,64]) -> (y) {
      h = MatMul(x, $w: f32[64,64])\n s = Add(h, $k: f32[1] = {200000})\n r = Relu(s)\n y = MatMul(r, $v: f32[64,64]) }`,
    );
    const limits = limitsOf({ maxDrop: "none" });
    const calibration = join(folder, "x.npz");
    const values = Array.from({ length: 32 * 128 }, (_, i) => Math.sin(i * i));
    writeFileSync(calibration, npz({ x: f32Npy([32, 2, 64], values) }));
    const data = { calibration, eval: null, metric: null };
    const config = optimizeConfig(model, output, { mode: "weights", goal: "size" }, { data, limits });
    const { candidates } = await runOptimize(config, context);
    // Sums beyond 65,504: 76 dB where they are rounded to float16 all the same.
    expect(candidates.find(({ name }) => name === "float16")!.sqnrDb!).toBeGreaterThan(90);
  });

  it("tells of a raised opset where what it writes is in float", async () => {
    const { folder, output, context } = await scene();
    // Two weights become one, in an operator that its opset does not have.
    const model = modelFile(
      folder,
      `(x: f32[2,64]) -> (y) {
      w = Add($a: f32[64,64], $b: f32[64,64])\n h = MatMul(x, w)\n s = Sigmoid(h)\n m = Mul(h, s)\n y = Relu(m) }`,
      { opset: 9 },
    );
    const selection = { include: [], exclude: ["op:MatMul"] };
    const quantize = { mode: "dynamic", goal: "size", selection } as const;
    const limits = limitsOf({ maxDrop: "none" });
    const result = await runOptimize(optimizeConfig(model, output, quantize, { limits }), context);
    expect(result.candidates.find(({ chosen }) => chosen)!.name).toBe("float32 fused");
    const opset = opsetOf(loadModel(output));
    expect(opset).toBeGreaterThan(9);
    expect(result.verdict.summary).toContain(`opset 9 raised to ${opset}`);
  });
});

describe("calibrate", () => {
  it("says that there is nothing to find ranges of", async () => {
    const { folder, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,8]) -> (y) { y = Relu(x) }");
    const calibration = join(folder, "x.npz");
    writeFileSync(calibration, npz({ x: f32Npy([4, 2, 8], new Array(64).fill(1)) }));
    const data = { calibration, eval: null, metric: null };
    const config = { ...fuseConfig(model, join(folder, "ranges.json"), { data }), shard: null };
    expect((await runCalibrate(config, context)).warnings.join()).toContain("the file holds no ranges");
  });

  it("gives in parts what it gives at once, and what quantize finds by itself", async () => {
    const { folder, output, calibration, evaluation, context } = await scene();
    const data = { calibration, eval: evaluation, metric: classes };
    const part = async (name: string, shard: { index: number; of: number } | null): Promise<string> => {
      const path = join(folder, name);
      await runCalibrate({ ...fuseConfig(digitsModel, path, { data }), shard }, context);
      return path;
    };
    const whole = await part("whole.json", null);
    const parts = [await part("2.json", { index: 2, of: 3 }), await part("1.json", { index: 1, of: 3 })];
    const fault = await faultOf(() => mergeRangesFiles(parts, join(folder, "two.json")));
    expect(fault.code).toBe("RANGES_PARTS");
    parts.push(await part("3.json", { index: 3, of: 3 }));
    const merged = mergeRangesFiles(parts, join(folder, "merged.json"));
    expect(merged.taps).toEqual(readRanges(whole).taps);
    expect(merged.parts.map(({ index }) => index)).toEqual([1, 2, 3]);

    const byRanges = join(folder, "by-ranges.onnx");
    await runQuantize(optimizeConfig(digitsModel, output, {}, { data }), context);
    const ranges = join(folder, "merged.json");
    const without = { ...data, calibration: null };
    const result = await runQuantize(optimizeConfig(digitsModel, byRanges, { ranges }, { data: without }), context);
    expect(result.verdict.outcome).toBe("met");
    expect(sha256(byRanges)).toBe(sha256(output));
  });

  it("makes ranges from which the same samples choose the same methods; without samples it is percentile", async () => {
    const { folder, output, calibration, evaluation, context } = await scene();
    const data = { calibration, eval: evaluation, metric: classes };
    const ranges = join(folder, "ranges.json");
    await runCalibrate({ ...fuseConfig(digitsModel, ranges, { data }), shard: null }, context);
    await runQuantize(optimizeConfig(digitsModel, output, { method: null }, { data }), context);
    const both = join(folder, "both.onnx");
    const judged = await runQuantize(optimizeConfig(digitsModel, both, { method: null, ranges }, { data }), context);
    expect(judged.warnings.join()).not.toContain("accuracy looks better");
    expect(sha256(both)).toBe(sha256(output));

    const same = { ranges, method: "minmax" } as const;
    const seen = optimizeConfig(digitsModel, join(folder, "seen.onnx"), same, { data: { ...data, eval: null } });
    expect((await runQuantize(seen, context)).warnings.join()).toContain("of the data that accuracy is judged by too");

    const alone = optimizeConfig(digitsModel, join(folder, "alone.onnx"), { method: null, ranges });
    expect((await runQuantize(alone, context)).quantization!.method).toBe("percentile");
  });

  it("gives the ranges of one sample for samples of many lengths", async () => {
    const { folder, context } = await scene();
    // Sums of few whole eighths are exact, so that it does not matter how many rows a product has.
    const model = modelFile(
      folder,
      "(x: f32[N,L,4]) -> (y) { h = MatMul(x, $w: f32[4,4] = {1,-2,3,0,2,1,-1,1,0,0,1,2,-3,1,2,1})\n r = Relu(h)\n y = MatMul(r, $w) }",
    );
    const rows = (count: number, from: number): number[][] =>
      Array.from({ length: count }, (_, i) => [0, 1, 2, 3].map((j) => ((((from + i) * 37 + j * 11) % 101) - 50) / 8));
    const lengths = [8, 512, 77, 9, 300, 13];
    const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((sum, length) => sum + length, 0));
    const samples = lengths.map((length, i) => rows(length, starts[i]!));
    const observed = async (name: string, x: number[][][]) => {
      const calibration = join(folder, `${name}.jsonl`);
      writeFileSync(calibration, x.map((sample) => `${JSON.stringify({ x: [sample] })}\n`).join(""));
      const data = { calibration, eval: null, metric: null };
      const path = join(folder, `${name}.json`);
      await runCalibrate({ ...fuseConfig(model, path, { data }), shard: null }, context);
      return readRanges(path).taps.map(({ samples: _, minSum, maxSum, summed, ...seen }) => seen);
    };
    const mixed = await observed("mixed", samples);
    expect(mixed.map(({ count }) => count)).toEqual([4 * 919, 4 * 919]);
    expect(mixed).toEqual(await observed("whole", [samples.flat()]));
  });

  it("makes ranges that no other model takes", async () => {
    const { folder, output, calibration, context } = await scene();
    const data = { calibration, eval: null, metric: null };
    const ranges = join(folder, "ranges.json");
    await runCalibrate({ ...fuseConfig(digitsModel, ranges, { data }), shard: null }, context);
    const other = modelFile(folder, "(image: f32[N,1,28,28]) -> (y) { y = Conv(image, $w: f32[4,1,3,3]) }");
    const fault = await faultOf(() => runQuantize(optimizeConfig(other, output, { ranges }), context));
    expect([fault.code, fault.kind]).toEqual(["RANGES_FOREIGN", "input"]);
    const newer = { ...context, toolVersion: "9.9.9" };
    const stale = await faultOf(() => runQuantize(optimizeConfig(digitsModel, output, { ranges }), newer));
    expect(stale.message).toContain("by version 0.0.0");
  });

  it("warns of a single sample, and tells it of more", async () => {
    const { folder } = await scene();
    const warned = async (count: number, judged: boolean): Promise<string> => {
      const calibration = await digits(folder, count, 10 * count);
      const data = { calibration, eval: judged ? await digits(folder, 3, 200) : null, metric: null };
      const context = realContext(runtime);
      await runCalibrate({ ...fuseConfig(digitsModel, join(folder, "r.json"), { data }), shard: null }, context);
      return context.events.flatMap((event) => (event.type === "warning" ? [event.warning] : [])).join("\n");
    };
    expect(await warned(1, false)).toMatch(/holds a single sample: .* judged by the same one\. Give 32 or more/);
    expect(await warned(1, true)).toMatch(/holds a single sample: .* does not show\. Give 32 or more/);
    expect(await warned(2, false)).not.toContain("a single sample");
  });

  it("refuses parts of different data", async () => {
    const { folder, context } = await scene();
    const part = async (index: number, from: number): Promise<string> => {
      const data = { calibration: await digits(folder, 4, from), eval: null, metric: null };
      const path = join(folder, `part-${index}-${from}.json`);
      await runCalibrate({ ...fuseConfig(digitsModel, path, { data }), shard: { index, of: 2 } }, context);
      return path;
    };
    const [one, two, other] = [await part(1, 0), await part(2, 0), await part(2, 50)];
    const fault = await faultOf(() => mergeRangesFiles([one, other], join(folder, "r.json")));
    expect([fault.code, fault.message]).toEqual([
      "RANGES_FOREIGN",
      "part 2/2 was calibrated on other data than part 1/2",
    ]);
    expect(mergeRangesFiles([two, one], join(folder, "r.json")).parts).toHaveLength(2);
  });

  it("refuses more parts than samples", async () => {
    const { folder, context } = await scene();
    const data = { calibration: await digits(folder, 2), eval: null, metric: null };
    const config = { ...fuseConfig(digitsModel, join(folder, "r.json"), { data }), shard: { index: 3, of: 3 } };
    expect((await faultOf(() => runCalibrate(config, context))).code).toBe("SHARD_EMPTY");
  });
});

describe("fuse and fp16", () => {
  it("write the same bytes each time", async () => {
    const { folder, context } = await scene();
    const half = { target: "f16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    const written = async (name: string): Promise<string[]> => {
      const [fused, narrow] = [join(folder, `${name}.onnx`), join(folder, `${name}16.onnx`)];
      const results = [
        await runFuse({ ...fuseConfig(digitsModel, fused), recipe: "fuse" }, context),
        await runFp16({ ...fuseConfig(digitsModel, narrow), ...half }, context),
      ];
      expect(results.map(({ verdict }) => verdict.outcome)).toEqual(["met", "met"]);
      return [sha256(fused), sha256(narrow)];
    };
    expect(await written("a")).toEqual(await written("b"));
  });

  it("fold says so when there is nothing to do, and writes the model anyway", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,3]) -> (y) { y = Tanh(x) }");
    const result = await runFuse({ ...fuseConfig(model, output), recipe: "fold" }, context);
    expect(result.verdict.summary).toBe("nothing to fold");
    expect(opsOf(output)).toEqual(new Set(["Tanh"]));
  });

  it("fp16 changes inputs and outputs too when told to", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,8]) -> (y) { y = MatMul(x, $w: f32[8,8]) }");
    const half = { target: "f16", convertIo: true, selection: { include: [], exclude: [] } } as const;
    const result = await runFp16({ ...fuseConfig(model, output), ...half }, context);
    expect(result.verdict.outcome).toBe("met");
    const { inputs, outputs } = loadModel(output).graph;
    expect([inputs[0]!.dtype, outputs[0]!.value.dtype]).toEqual(["f16", "f16"]);
  });

  it("fp16 says that inputs were made up, and in which sizes", async () => {
    const { folder, output, context } = await scene();
    const half = { target: "f16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    const warnings = async (shape: string): Promise<readonly string[]> => {
      const model = modelFile(folder, `(x: f32[${shape}]) -> (y) { y = MatMul(x, $w: f32[8,8]) }`);
      return (await runFp16({ ...fuseConfig(model, output), ...half }, context)).warnings;
    };
    const open = (await warnings("N,8")).find((each) => each.includes("made-up inputs"));
    expect(open).toMatch(/sizes that the model leaves open \(x 1x8.*--shape/);
    const fixed = (await warnings("2,8")).find((each) => each.includes("made-up inputs"));
    expect(fixed).toBe("run on made-up inputs: give samples with --eval");
  });

  it("fp16 says what to do where the runtime has no kernel for bfloat16, and writes it unrun when told to", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,8]) -> (y) { y = Relu(x) }");
    const half = { target: "bf16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    const fault = await faultOf(() => runFp16({ ...fuseConfig(model, output), ...half }, context));
    expect(fault).toMatchObject({ code: "MODEL_REJECTED", hint: expect.stringContaining("leave out --bf16") });
    expect(existsSync(output)).toBe(false);
    const unrun = { ...fuseConfig(model, output), ...half, graph: graphConfig({ verify: "none" }) };
    expect((await runFp16(unrun, context)).verdict.outcome).toBe("met");
    expect(existsSync(output)).toBe(true);
  });

  it("fp16 raises a model to where operators take bfloat16, unless it is to stay", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(folder, "(x: f32[2,8]) -> (y) { a = Mul(x, $w: f32[8]) y = Relu(a) }", { opset: 9 });
    const half = { target: "bf16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    const made = (graph: Parameters<typeof graphConfig>[0]) =>
      runFp16({ ...fuseConfig(model, output), ...half, graph: graphConfig({ verify: "none", ...graph }) }, context);
    const raised = await made({});
    expect(raised.precision).toMatchObject({ float: [], notes: ["opset 9 raised to 17"] });
    const kept = await made({ keepOpset: true });
    expect(kept.precision!.float.length).toBe(2);
    expect(kept.precision!.notes.join()).not.toContain("raised");
  });

  it("fp16 leaves what goes beyond its range in float, and says why", async () => {
    const { folder, output, context } = await scene();
    const model = modelFile(
      folder,
      `(x: f32[1,64,64]) -> (y) {
        a = Abs(x)
        b = Add(a, $one: f32[] = {30.0})
        m = ReduceMean<axes=[1,2]>(b)
        y = Mul(m, $w: f32[4])
      }`,
    );
    const half = { target: "f16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    const result = await runFp16({ ...fuseConfig(model, output), ...half }, context);
    expect(result.precision!.float).toEqual([
      {
        node: "ReduceMean:m",
        op: "ReduceMean",
        reason: expect.stringMatching(/^on the way it adds up to more than float16 has, .*: 1.3e\+5$/),
      },
    ]);
    expect(result.latency!.runs).toBeGreaterThan(0);
    expect(result.verdict.summary).toMatch(/as fast here/);
    const unseen = { ...fuseConfig(model, output), ...half, graph: graphConfig({ verify: "none" }) };
    expect((await runFp16(unseen, context)).precision!.float).toEqual([]);
  });

  it.each([
    ["new infinities", { maxAbs: Number.POSITIVE_INFINITY }],
    ["new NaN", { nanMismatch: 3 }],
    ["another direction", { cosine: 0.9 }],
  ])("fp16 keeps a model with %s to itself", async (_, facts) => {
    const { folder, output } = await scene();
    const model = modelFile(folder, "(x: f32[2,8]) -> (y) { y = MatMul(x, $w: f32[8,8]) }");
    const fake = new FakeRuntime({}, { compare: () => [differenceOf("y", facts)] });
    // Float16 would be looked at in float first, which this runtime cannot.
    const half = { target: "bf16", convertIo: false, selection: { include: [], exclude: [] } } as const;
    const result = await runFp16({ ...fuseConfig(model, output), ...half }, realContext(fake));
    expect(result.verdict.outcome).toBe("accuracy");
    expect(existsSync(output)).toBe(false);
  });
});

describe("an interrupted run", () => {
  it("stops before its next stage", async () => {
    const { output } = await scene();
    const context = { ...realContext(new FakeRuntime({})), signal: AbortSignal.abort() };
    const fault = await faultOf(() => runQuantize(optimizeConfig(digitsModel, output, { mode: "dynamic" }), context));
    expect(fault.code).toBe("INTERRUPTED");
  });
});

describe("for a place where sums do not saturate, on a processor where they do", () => {
  it("judges exact answers, and times the kernels that are there", async () => {
    const { output, calibration, evaluation, context } = await scene();
    const counted: (boolean | undefined)[] = [];
    const timed: (boolean | undefined)[] = [];
    const note = <J extends { readonly session: SessionOptions }>(list: (boolean | undefined)[], job: J): J => {
      list.push(job.session.isExact);
      return job;
    };
    const seen: Partial<Runtime> = {
      score: (job) => runtime.score(note(counted, job)),
      compare: (job) => runtime.compare(note(counted, job)),
      reduce: (job) => runtime.reduce(note(counted, job)),
      observe: (job) => runtime.observe(note(counted, job)),
      timer: (spec) => runtime.timer(note(timed, spec)),
    };
    const environment = { ...context.environment, platform: "linux-x64", flags: ["avx2"] };
    const data = { calibration, eval: evaluation, metric: classes };
    await runQuantize(
      optimizeConfig(digitsModel, output, {}, { data, graph: graphConfig({ target: "ort-cpu-vnni" }) }),
      { ...context, environment, runtime: { ...runtime, ...seen } },
    );
    expect(counted.length).toBeGreaterThan(2);
    expect(new Set(counted)).toEqual(new Set([true]));
    expect(timed.length).toBeGreaterThan(0);
    expect(new Set(timed)).toEqual(new Set([undefined]));
  });
});

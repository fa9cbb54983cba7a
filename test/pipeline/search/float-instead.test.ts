import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { loadModel } from "../../../src/ir/index.js";
import { finishing } from "../../../src/passes/catalog.js";
import type { Limits, QuantizeConfig } from "../../../src/pipeline/config.js";
import { admitsFloat, type FloatInstead, floatInstead } from "../../../src/pipeline/search/float-instead.js";
import { runQuantize } from "../../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { Runtime } from "../../../src/runtime/port.js";
import { type Behaviour, Stage } from "../../support/candidates.js";
import { type FakeModel, FakeRuntime } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { optimizeConfig, realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime({ workers: 1 });
afterAll(() => runtime.close());

describe("admitsFloat", () => {
  const auto = { mode: "auto", bits: 8, goal: "speed", selection: { include: [], exclude: [] } };
  const rewritten = { passes: [{ name: "fuse-gelu", applied: 1, skipped: [], durationMs: 1 }], path: "" };
  const admits = (quantize: object, isMeasurable = true, prepared = rewritten): boolean =>
    admitsFloat({ quantize: { ...auto, ...quantize } as unknown as QuantizeConfig }, { isMeasurable }, prepared, []);

  it("is so where nobody asked for integers of one kind, a smaller file or another target", () => {
    expect(admits({})).toBe(true);
    expect(admits({ mode: "static" })).toBe(false);
    expect(admits({ mode: "weights" })).toBe(false);
    expect(admits({ bits: 4 })).toBe(false);
    expect(admits({ goal: "size" })).toBe(false);
    expect(admits({ selection: { include: ["op:Conv"], exclude: [] } })).toBe(false);
    expect(admits({}, false)).toBe(false);
  });

  it("is so of what was rewritten alone, or is when a candidate is made of it", () => {
    const path = modelFile(temporaryFolder(), "(x: f32[N,4,8,8]) -> (y) { y = LRN<size=3>(x) }");
    const untouched = { passes: [{ ...rewritten.passes[0]!, applied: 0 }], path };
    const quantize = auto as unknown as QuantizeConfig;
    expect(admits({}, true, untouched)).toBe(false);
    expect(admitsFloat({ quantize }, { isMeasurable: true }, untouched, finishing)).toBe(true);
  });
});

describe("floatInstead", () => {
  const tried = async (
    behaviour: Behaviour,
    { estimate, limits = {} }: { estimate: number; limits?: Partial<Limits> },
  ): Promise<FloatInstead & { readonly isTimed: boolean }> => {
    const stage = new Stage(() => behaviour);
    const { judge, config } = stage.judgeFor(limits);
    const found = await floatInstead(judge, stage.workshopFor([], [], estimate), stage.record, config);
    return { ...found, isTimed: stage.runtime.timed.length > 0 };
  };

  it("is the answer where it is clearly faster", async () => {
    const { answer, candidate } = await tried({ accuracy: 1, ms: 8 }, { estimate: 1.2 });
    expect(answer?.ruling.verdict.outcome).toBe("met");
    expect(answer?.candidate).toBe(candidate);
    expect(candidate.note).toBe("");
  });

  it("is none where a race shows that it gains too little", async () => {
    const { answer, candidate, isTimed } = await tried({ accuracy: 1, ms: 9.3 }, { estimate: 1.2 });
    expect([answer, isTimed]).toEqual([null, true]);
    expect(candidate.note).toBe("without integers a gain takes 1.1x: the file is no smaller");
  });

  it("is not raced where its profile promises too little, or it misses the limit on accuracy", async () => {
    const slow = await tried({ accuracy: 1, ms: 5 }, { estimate: 1.05 });
    expect([slow.answer, slow.isTimed]).toEqual([null, false]);
    const wrong = await tried({ accuracy: 0.9, ms: 5 }, { estimate: 2, limits: { maxDrop: { percent: 1 } } });
    expect([wrong.answer, wrong.isTimed]).toEqual([null, false]);
  });

  it("is none where another limit is missed", async () => {
    const { answer, isTimed } = await tried({ accuracy: 1, ms: 5 }, { estimate: 2, limits: { minSpeedup: 3 } });
    expect([answer, isTimed]).toEqual([null, true]);
  });

  it("is none where the runtime refuses it", async () => {
    const stage = new Stage(() => ({ accuracy: 1, ms: 5 }));
    const { judge, config } = stage.judgeFor();
    const refused = { sqnrDb: Number.NEGATIVE_INFINITY, note: "the runtime refuses it: it is too odd" };
    const found = await floatInstead(judge, stage.workshopFor([], [], 2, refused), stage.record, config);
    expect(found.answer).toBeNull();
    expect(found.candidate.note).toBe(refused.note);
    expect(stage.runtime.timed).toEqual([]);
  });
});

describe("quantize", () => {
  /** Of which no node can be an integer one. */
  const text = "(x: f32[4,64]) -> (y) { a = Neg(x) b = Neg(a) c = Abs(b) y = Neg(c) }";

  const quantized = async (ms: number, goal: "speed" | "size" = "speed") => {
    const folder = temporaryFolder();
    const output = join(folder, "out.onnx");
    const model = modelFile(folder, text);
    const models: Record<string, FakeModel> = {};
    const timers = new FakeRuntime(models, {});
    const timed: Runtime = {
      ...runtime,
      // Races alone: a profile of so few nodes is chance.
      nodeTimes: async () => Promise.reject(new InferOptError("PROFILE_EMPTY", "runtime", "nothing")),
      timer: (spec) => {
        models[spec.model] = { scores: [], latency: () => (loadModel(spec.model).graph.nodeCount > 2 ? 10 : ms) };
        return timers.timer(spec);
      },
    };
    const context = { ...realContext(timed), now: () => timers.nowMs };
    const config = optimizeConfig(model, output, { mode: "auto", goal }, { runtime: runtimeConfig({ benchMs: 300 }) });
    const result = await runQuantize(config, context);
    return { result, written: existsSync(output) ? loadModel(output) : null };
  };

  it("answers with the rewritten model where no integers gain, and that does", async () => {
    const { result, written } = await quantized(5);
    expect(result.verdict.outcome).toBe("met");
    expect(result.verdict.summary).toMatch(
      /; the rewrites alone, without integers: no node of the model can be quantized/,
    );
    expect(result.quantization).toBeNull();
    expect(result.unquantized?.why).toMatch(/no node of the model can be quantized/);
    expect(written?.graph.nodeCount).toBe(2);
  });

  it("keeps the original where that gains too little, or a smaller file was asked for", async () => {
    const little = await quantized(9.5);
    expect([little.result.verdict.outcome, little.written]).toEqual(["no-gain", null]);
    const size = await quantized(5, "size");
    expect([size.result.verdict.outcome, size.written]).toEqual(["no-gain", null]);
  });
});

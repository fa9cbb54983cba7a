import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadModel } from "../../../src/ir/index.js";
import { finishing } from "../../../src/passes/catalog.js";
import type { Candidate } from "../../../src/pipeline/candidates/candidate.js";
import type { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import type { Limits, QuantizeConfig } from "../../../src/pipeline/config.js";
import type { Verdict } from "../../../src/pipeline/result.js";
import {
  admitsFloat,
  type FloatInstead,
  floatInstead,
  mayBeBehindFloat,
  missesLimit,
  whyInFloat,
} from "../../../src/pipeline/search/float-instead.js";
import type { Judged } from "../../../src/pipeline/search/judge-candidate.js";
import { runQuantize } from "../../../src/pipeline/search/optimize.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { Runtime } from "../../../src/runtime/port.js";
import { type Behaviour, Stage, staticVariant } from "../../support/candidates.js";
import { type FakeModel, FakeRuntime } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { optimizeConfig, realContext } from "../../support/real-run.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
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
  const profiled: Candidate["times"] = { float: [], own: [] };
  const tried = async (
    behaviour: Behaviour,
    {
      estimate,
      limits = {},
      times = profiled,
    }: { estimate: number; limits?: Partial<Limits>; times?: Candidate["times"] },
  ): Promise<FloatInstead & { readonly isTimed: boolean }> => {
    const stage = new Stage(() => behaviour);
    const { judge, config } = stage.judgeFor(limits);
    const found = await floatInstead(judge, stage.workshopFor([], [], { estimate, times }), stage.record, config, []);
    return { ...found, isTimed: stage.runtime.timed.length > 0 };
  };

  it("is the answer where it is clearly faster", async () => {
    const { judged, isAnswer, candidate } = await tried({ accuracy: 1, ms: 8 }, { estimate: 1.2 });
    expect(isAnswer).toBe(true);
    expect(judged?.ruling.verdict.outcome).toBe("met");
    expect(judged?.candidate).toBe(candidate);
    expect(candidate.note).toBe("");
  });

  it("is none where a race shows that it gains too little", async () => {
    const found = await tried({ accuracy: 1, ms: 9.3 }, { estimate: 1.2 });
    const { candidate, judged, isAnswer, isTimed } = found;
    expect([judged?.ruling.verdict.outcome, isAnswer, isTimed]).toEqual(["met", false, true]);
    expect(missesLimit(found)).toBe(false);
    expect(candidate.note).toBe("without integers a gain takes 1.1x: the file is no smaller");
  });

  it("is not raced where its profile promises too little or is missing, or it misses the limit on accuracy", async () => {
    const slow = await tried({ accuracy: 1, ms: 5 }, { estimate: 1.05 });
    expect([slow.judged, slow.isAnswer, slow.isTimed]).toEqual([null, false, false]);
    expect(slow.candidate.note).toBe("without integers a gain takes 1.1x: the file is no smaller");
    const tiny = await tried({ accuracy: 1, ms: 5 }, { estimate: 2, times: null });
    expect([tiny.judged, tiny.isTimed]).toEqual([null, false]);
    const wrong = await tried({ accuracy: 0.9, ms: 5 }, { estimate: 2, limits: { maxDrop: { percent: 1 } } });
    expect([wrong.judged?.ruling.verdict.outcome, wrong.isAnswer, wrong.isTimed]).toEqual(["accuracy", false, false]);
    expect(missesLimit(wrong)).toBe(true);
    expect(wrong.candidate.note).toMatch(/^accuracy limit missed: /);
  });

  it("is none where another limit is missed", async () => {
    const found = await tried({ accuracy: 1, ms: 5 }, { estimate: 2, limits: { minSpeedup: 3 } });
    expect([found.isAnswer, found.isTimed, missesLimit(found)]).toEqual([false, true, true]);
    expect(found.candidate.note).toMatch(/^min-speedup missed: /);
  });

  it("is none where the runtime refuses it", async () => {
    const stage = new Stage(() => ({ accuracy: 1, ms: 5 }));
    const { judge, config } = stage.judgeFor();
    const refused = { sqnrDb: Number.NEGATIVE_INFINITY, note: "the runtime refuses it: it is too odd" };
    const found = await floatInstead(
      judge,
      stage.workshopFor([], [], { estimate: 2, times: profiled, error: refused }),
      stage.record,
      config,
      [],
    );
    expect([found.judged, found.isAnswer]).toEqual([null, false]);
    expect(found.candidate.note).toBe(refused.note);
    expect(stage.runtime.timed).toEqual([]);
  });
});

describe("mayBeBehindFloat", () => {
  const stage = new Stage();
  const beside = (estimatesBeside: "original" | "rewritten") => ({ estimatesBeside }) as Workshop;
  const judged = (outcome: Verdict["outcome"], limit: string, estimate = 1.2): Judged => ({
    candidate: { ...stage.candidate("integers", staticVariant, { accuracy: 1, ms: 5 }), estimate },
    latency: null,
    ruling: {
      warnings: [],
      verdict: {
        ...{ status: "fail", outcome, summary: outcome },
        reasons: [{ limit, wanted: 1, got: 1, text: "", status: outcome === "met" ? "met" : "missed" }],
      },
    },
  });

  it("is so where speed alone is missed or not certain", () => {
    expect(mayBeBehindFloat(judged("no-gain", "gain"), beside("rewritten"))).toBe(true);
    expect(mayBeBehindFloat(judged("inconclusive", "gain"), beside("rewritten"))).toBe(true);
    expect(mayBeBehindFloat(judged("latency", "min-speedup"), beside("original"))).toBe(true);
    expect(mayBeBehindFloat(judged("accuracy", "max-drop"), beside("rewritten"))).toBe(false);
    expect(mayBeBehindFloat(judged("inconclusive", "max-drop"), beside("rewritten"))).toBe(false);
  });

  it("is so where integers are estimated to be slower than the rewritten model", () => {
    expect(mayBeBehindFloat(judged("met", "gain"), beside("rewritten"))).toBe(false);
    expect(mayBeBehindFloat(judged("met", "gain", 0.7), beside("rewritten"))).toBe(true);
    expect(mayBeBehindFloat(judged("met", "gain", 0.7), beside("original"))).toBe(false);
  });

  it("is so where they gain less beside it than any gain takes", () => {
    expect(mayBeBehindFloat(judged("met", "gain", 1.01), beside("rewritten"))).toBe(true);
    expect(mayBeBehindFloat(judged("met", "gain", 1.03), beside("rewritten"))).toBe(false);
  });

  it("ends with float where that is an answer, and faster than integers that are one", () => {
    const own = { ...judged("met", "gain", 0.7), candidate: { ...judged("met", "gain").candidate, speedup: 2 } };
    const float = (speedup: number, isAnswer = true): FloatInstead => ({
      candidate: { ...own.candidate, speedup },
      judged: own,
      isAnswer,
    });
    expect(whyInFloat(float(3), own)).toBe("2.00x as fast with them");
    expect(whyInFloat(float(1.5), own)).toBeNull();
    expect(whyInFloat(float(1.98), own)).toBe("2.00x as fast with them");
    expect(whyInFloat(float(1.95), own)).toBeNull();
    expect(whyInFloat(float(3, false), own)).toBeNull();
    expect(whyInFloat(float(1.2), judged("no-gain", "gain"))).toBe("no-gain");
  });
});

describe("quantize", () => {
  /** Of which no node can be an integer one. */
  const text = "(x: f32[4,64]) -> (y) { a = Neg(x) b = Neg(a) c = Abs(b) y = Neg(c) }";

  const quantized = async (
    ms: number,
    {
      goal = "speed",
      minSpeedup = null,
      given = text,
    }: { goal?: "speed" | "size"; minSpeedup?: number | null; given?: string } = {},
  ) => {
    const folder = temporaryFolder();
    const output = join(folder, "out.onnx");
    const model = modelFile(folder, given);
    const models: Record<string, FakeModel> = {};
    const timers = new FakeRuntime(models, {});
    const takes = (path: string): number => (loadModel(path).graph.nodeCount > 2 ? 10 : ms);
    const timed: Runtime = {
      ...runtime,
      nodeTimes: async (paths) => paths.map((path) => [{ name: "all", op: "All", ms: takes(path) }]),
      timer: (spec) => {
        models[spec.model] = { scores: [], latency: () => takes(spec.model) };
        return timers.timer(spec);
      },
    };
    const context = { ...realContext(timed), now: () => timers.nowMs };
    const config = optimizeConfig(
      model,
      output,
      { mode: "auto", goal },
      {
        runtime: runtimeConfig({ benchMs: 300 }),
        limits: limitsOf({ minSpeedup, maxDrop: "none" }),
      },
    );
    const result = await runQuantize(config, context);
    return { result, written: existsSync(output) ? loadModel(output) : null, files: readdirSync(folder) };
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
    const size = await quantized(5, { goal: "size" });
    expect([size.result.verdict.outcome, size.written]).toEqual(["no-gain", null]);
    expect(little.files).toEqual(["model.onnx"]);
    expect(little.result.candidates).toMatchObject([{ name: "float32 fused", chosen: false }]);
  });

  it("tells the limit that it misses", async () => {
    const { result, written } = await quantized(5, { minSpeedup: 3 });
    expect([result.verdict.outcome, written]).toEqual(["latency", null]);
    expect(result.verdict.reasons.map(({ limit }) => limit)).toContain("min-speedup");
  });

  it("answers with it where integers gain nothing, too", async () => {
    // Of more than two nodes are the original and what has integers in it.
    const given = "(x: f32[4,64]) -> (y) { a = Neg(x) b = Neg(a) c = Abs(b) y = MatMul(c, $w: f32[64,64]) }";
    const { result, written } = await quantized(5, { given });
    expect(result.verdict.outcome).toBe("met");
    expect(result.quantization).toBeNull();
    expect(result.verdict.summary).toMatch(/; the rewrites alone, without integers: no gain: /);
    expect(written?.graph.nodeCount).toBe(2);
  });
});

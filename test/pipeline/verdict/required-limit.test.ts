import { describe, expect, it } from "vitest";
import type { DropLimit, PruneConfig } from "../../../src/pipeline/config.js";
import { runGate } from "../../../src/pipeline/gate/gate.js";
import { runPrune } from "../../../src/pipeline/prune/run-prune.js";
import { runOptimize, runQuantize } from "../../../src/pipeline/search/optimize.js";
import { runOptimizePruned } from "../../../src/pipeline/search/optimize-pruned.js";
import { requireLimit } from "../../../src/pipeline/verdict/required-limit.js";
import { faultOf } from "../../support/dataset.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { optimizeConfig } from "../../support/real-run.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";

const dataOf = (name: "sqnr" | "mse" | "cosine", evaluation: string | null = "eval.npz") => ({
  ...{ calibration: null, eval: evaluation },
  metric: { kind: "builtin", name } as const,
});

describe("requireLimit", () => {
  const require_ = (data: Parameters<typeof requireLimit>[0]["data"], maxDrop: DropLimit | null = null) =>
    requireLimit({ data, limits: limitsOf({ maxDrop }) });

  it("refuses metrics of which 1 % is none that can be met, and says how to write one", () => {
    expect(() => require_(dataOf("sqnr"))).toThrow("--metric sqnr needs a --max-drop");
    expect(() => require_(dataOf("mse"))).toThrow("--metric mse needs a --max-drop");
    expect(() => require_({ ...dataOf("sqnr", null), calibration: "samples.npz" })).toThrow("100 dB");
  });

  it("takes whatever limit is given, and 1 % of other metrics", () => {
    for (const limit of [{ absolute: 75 }, { percent: 80 }, "none"] as const) {
      expect(() => require_(dataOf("sqnr"), limit)).not.toThrow();
    }
    expect(() => require_(dataOf("cosine"))).not.toThrow();
    expect(() => require_({ ...dataOf("sqnr"), metric: null })).not.toThrow();
    expect(() => require_({ ...dataOf("sqnr"), metric: { kind: "module", path: "/m.mjs" } })).not.toThrow();
  });

  it("asks for none where inputs are made up, which judge nothing", () => {
    expect(() => require_(dataOf("sqnr", null))).not.toThrow();
  });
});

describe("commands that hold models against limits", () => {
  const data = dataOf("sqnr");
  const config = optimizeConfig("m.onnx", "out.onnx", {}, { data });
  const pruned: PruneConfig = {
    ...config,
    prune: {
      ...{ targetSpeedup: 2, keepRatio: null, widths: null, sparsity: null, goal: "speed", recover: false },
      ...{ selection: { include: [], exclude: [] }, budgetMs: null },
    },
  };
  const { limits } = config;
  const gated = { baseline: "a.onnx", candidate: "b.onnx", data, limits, inconclusive: "fail" } as const;

  it.each([
    ["quantize", (context) => runQuantize(config, context)],
    ["optimize", (context) => runOptimize(config, context)],
    ["optimize --prune", (context) => runOptimizePruned(config, context)],
    ["prune", (context) => runPrune(pruned, context)],
    [
      "prune --sparsity",
      (context) => runPrune({ ...pruned, prune: { ...pruned.prune, sparsity: 0.5 } } as never, context),
    ],
    ["gate", (context) => runGate({ ...gated, runtime: runtimeConfig() }, context)],
  ] as const satisfies readonly (readonly [string, (context: ReturnType<typeof fakeContext>) => Promise<unknown>])[])(
    "%s refuses before any work",
    async (_, run) => {
      const fault = await faultOf(() => run(fakeContext(new FakeRuntime({}))));
      expect(fault).toMatchObject({ code: "LIMIT_MISSING", kind: "usage", fields: { metric: "sqnr" } });
    },
  );
});

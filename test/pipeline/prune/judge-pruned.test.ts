import { describe, expect, it } from "vitest";
import type { PruneConfig } from "../../../src/pipeline/config.js";
import type { Intake } from "../../../src/pipeline/intake.js";
import { PrunedJudge } from "../../../src/pipeline/prune/judge-pruned.js";
import type { PrunedFile } from "../../../src/pipeline/prune/pruned-file.js";
import { RunRecord } from "../../../src/pipeline/run-record.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";

/** Races of a net that is so much faster, in runs that differ by half, towards a target. */
function races(speedup: number, targetSpeedup: number | null, budgetMs: number | null = null) {
  const of = (ms: number) => ({ latency: (chance: { next(): number }) => ms * (0.75 + chance.next() / 2) });
  const runtime = new FakeRuntime({ "old.onnx": of(8), "new.onnx": of(8 / speedup) });
  const context = fakeContext(runtime);
  const config = {
    model: "old.onnx",
    limits: limitsOf(),
    runtime: runtimeConfig(),
    prune: { targetSpeedup, budgetMs },
  } as PruneConfig;
  const intake = { trial: { path: "d.npz" } } as Intake;
  const judge = new PrunedJudge(config, intake, new RunRecord("prune", context));
  const race = async (aim: number | null) => {
    const before = runtime.nowMs;
    await judge.race({ path: "new.onnx" } as PrunedFile, "a net", aim);
    return { ms: runtime.nowMs - before, times: context.events.filter(({ type }) => type === "stage").length };
  };
  return { race };
}

describe("a race of a pruned net", () => {
  it("goes on for longer where the net reaches the target and the interval does not", async () => {
    const { ms, times } = await races(1.3, 1.24).race(null);
    expect(times).toBe(2);
    expect(ms).toBeGreaterThan(2.5 * 2000);
  });

  it.each([
    ["the interval reaches it too", 2, 1.24, null, null],
    ["the net is too slow", 1.1, 1.24, null, null],
    ["nothing was asked for", 1.25, null, null, null],
    ["it decides nothing yet", 1.3, 1.24, null, 1.24],
    ["there is no time left for it", 1.3, 1.24, 3000, null],
  ] as const)("is run once where %s", async (_, speedup, target, budgetMs, aim) => {
    expect((await races(speedup, target, budgetMs).race(aim)).times).toBe(1);
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseModel, saveModel, Tensor } from "../../../src/ir/index.js";
import type { TrainJob } from "../../../src/runtime/train-job.js";
import { input } from "../../support/dataset.js";
import { jsonl, session, startRuntime, temporaryFolder } from "./workbench.js";

/** w' = w - rate * mean(w - x), and the distance of w from what is held out. */
const STEP = `(x: f32[2,1], w: f32[1], rate: f32[]) -> (next) {
  d = Sub(w, x)
  m = ReduceMean<keepdims=0>(d)
  s = Mul(m, rate)
  next = Sub(w, s)
}`;
const CHECK = "(x: f32[2,1], w: f32[1]) -> (loss) { d = Sub(w, x) a = Abs(d) loss = ReduceMean<keepdims=0>(a) }";

function saved(name: string, text: string): string {
  const path = join(temporaryFolder(), name);
  saveModel(parseModel(text, { opset: 17 }), path).commit();
  return path;
}

const rows = (...values: number[]): string => jsonl(...values.map((value) => ({ x: [[value]] })));

function job(rates: readonly number[], more: Partial<TrainJob> = {}): TrainJob {
  return {
    step: saved("step.onnx", STEP),
    check: saved("check.onnx", CHECK),
    inputs: [input("x", "f32", ["N", 1])],
    data: { path: rows(1, 3, 5, 7) },
    heldOut: { path: rows(4, 4, 4) },
    batches: rates.map((_, i) => (i % 2 === 0 ? [0, 3] : [1, 2])),
    told: rates.map((rate) => new Map([["rate", Tensor.scalar("f32", rate)]])),
    state: new Map([["w", Tensor.f32([1], [0])]]),
    carried: { w: "next" },
    kept: ["w"],
    loss: "loss",
    every: 1,
    patience: 3,
    session,
    ...more,
  };
}

describe("train", () => {
  it("carries the state from step to step, and gives back the best", async () => {
    const seen: number[] = [];
    const result = await startRuntime().train(job([0.5, 0.5, 0.5], { onProgress: (done) => seen.push(done) }));
    expect(result.history).toEqual([
      { step: 0, loss: 4 },
      { step: 1, loss: 2 },
      { step: 2, loss: 1 },
      { step: 3, loss: 0.5 },
    ]);
    expect(result.step).toBe(3);
    expect([...result.best.get("w")!.f32()]).toEqual([3.5]);
    expect(seen.slice(-3)).toEqual([1, 2, 3]);
  });

  it("keeps what it started from when every step makes it worse, and stops", async () => {
    const result = await startRuntime().train(job([-1, -1, -1, -1, -1]));
    expect(result.step).toBe(0);
    expect([...result.best.get("w")!.f32()]).toEqual([0]);
    expect(result.history.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
  });

  it("stops at weights that are no numbers any more", async () => {
    const result = await startRuntime().train(job([0.5, Number.NaN, 0.5]));
    expect(result.step).toBe(1);
    expect(result.history.length).toBe(3);
    expect([...result.best.get("w")!.f32()]).toEqual([2]);
  });

  it("looks at held-out samples every so many steps, and after the last", async () => {
    const result = await startRuntime().train(job([0.5, 0.5, 0.5], { every: 2 }));
    expect(result.history.map(({ step }) => step)).toEqual([0, 2, 3]);
  });
});

import { expect, it } from "vitest";
import { budgetOverrun } from "../../src/pipeline/budget-overrun.js";
import { RunRecord } from "../../src/pipeline/run-record.js";
import { FakeRuntime, fakeContext } from "../support/fake-runtime.js";

const stages = [
  { stage: "load", wallMs: 300 },
  { stage: "calibrate", wallMs: 8000 },
  { stage: "bench", wallMs: 2500 },
  { stage: "quantize", wallMs: 1000 },
  { stage: "calibrate", wallMs: 4200 },
];

it("a run that took longer says by how much, and what took the most", () => {
  const text = budgetOverrun(16_000, 10_000, stages);
  expect(text).toMatch(/^the run took 16 s, 6\.0 s more than --budget 10s: /);
  expect(text).toContain("(calibrate 12 s, bench 2.5 s, quantize 1.0 s)");
});

it("one that kept to its time, or nearly so, says nothing", () => {
  expect(budgetOverrun(9000, 10_000, stages)).toBeNull();
  expect(budgetOverrun(10_150, 10_000, stages)).toBeNull();
  expect(budgetOverrun(121_000, 120_000, stages)).toBeNull();
});

it("the result has it once, whatever results of parts were made before", async () => {
  const verdict = { status: "pass", outcome: "met", reasons: [], summary: "" } as const;
  const findings = { model: { path: "m.onnx", sha256: "", bytes: 1, nodes: 1 }, verdict };
  const runtime = new FakeRuntime({});
  const record = new RunRecord("optimize", fakeContext(runtime), 1000);
  await record.stage("bench", () => void (runtime.nowMs += 900));
  expect(record.result(findings).warnings).toEqual([]);
  await record.stage("bench", () => void (runtime.nowMs += 1000));
  expect(record.result(findings).warnings).toHaveLength(1);
  await record.stage("bench", () => void (runtime.nowMs += 1000));
  expect(record.result(findings).warnings).toEqual([expect.stringContaining("2.9 s, 1.9 s more than --budget 1s")]);
});

it.each([
  [1, "1ms"],
  [1500, "1.5s"],
  [60_000, "60s"],
  [1_200_000, "20m"],
])("says a budget of %i ms as it was given", (budgetMs, word) => {
  expect(budgetOverrun(9 * budgetMs + 30_000, budgetMs, stages)).toContain(`more than --budget ${word}: `);
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type DatasetRef, storedById } from "../../../src/dataset/index.js";
import type { MetricRef } from "../../../src/metric/index.js";
import type { ScoreJob } from "../../../src/runtime/port.js";
import { faultOf } from "../../support/dataset.js";
import {
  constant,
  jsonl,
  node,
  port,
  reshaping,
  scaling,
  session,
  startRuntime,
  temporaryFolder,
  writeFile,
  writeModel,
} from "./workbench.js";

const samples = [1, 2, 3].map((x) => ({ x: [[x, 0]], labels: x }));
const mse: MetricRef = { kind: "builtin", name: "mse" };

const metricModule = (body: string): MetricRef => ({
  kind: "module",
  path: writeFile(
    "metric.mjs",
    `export const name = "mine"; export const higherIsBetter = false;
     export function score(outputs, labels, sample, reference) { ${body} }`,
  ),
});
const firstOutput = () => metricModule("return outputs.y.data[0]");

describe("score", () => {
  it("scores every model on every sample, against the first", async () => {
    const result = await startRuntime().score({
      models: [scaling(1), scaling(2), scaling(1)],
      data: { path: jsonl(...samples) },
      metric: metricModule("return Math.abs(outputs.y.data[0] - reference.y.data[0])"),
      session,
    });
    expect(result.metric).toEqual({ name: "mine", higherIsBetter: false });
    expect(result.scores.map((row) => [...row])).toEqual([
      [0, 0, 0],
      [1, 2, 3],
      [0, 0, 0],
    ]);
  });

  it("scores candidates in turn as it scores them together", async () => {
    const runtime = startRuntime();
    const job = {
      models: [scaling(1), scaling(2), scaling(4)],
      data: { path: jsonl(...samples), indices: [2, 0] },
      metric: metricModule("return labels * 100 + outputs.y.data[0] - reference.y.data[0]"),
      session,
    };
    const result = await runtime.score({ ...job, isInTurn: true });
    expect(result.scores.map((row) => [...row])).toEqual([
      [300, 100],
      [303, 101],
      [309, 103],
    ]);
    expect(result).toEqual(await runtime.score(job));
  });

  it.each([1, 2])(
    "tells the energy of the baseline's answers, of those that are known already too (workers: %i)",
    async (workers) => {
      const runtime = startRuntime({ workers });
      const job = {
        models: [scaling(2), scaling(1)],
        data: { path: jsonl(...samples) },
        metric: { kind: "builtin", name: "sqnr" } as const,
        ...{ session, isInTurn: true },
      };
      const first = await runtime.score({ ...job, withEnergies: true });
      expect([...first.energies!]).toEqual([4, 16, 36]);
      expect(await runtime.score({ ...job, withEnergies: true })).toEqual(first);
      expect(await runtime.score(job)).not.toHaveProperty("energies");
    },
  );

  it.each([1, 2])("scores some outputs apart, each side with energies of its own (workers: %i)", async (workers) => {
    const runtime = startRuntime({ workers });
    const twoFold = (by: number, inner: number): string =>
      writeModel({
        node: [node("Mul", ["x", "by"], ["y"]), node("Mul", ["x", "inner"], ["h"])],
        initializer: [
          constant("by", "f32", [], new Float32Array([by])),
          constant("inner", "f32", [], new Float32Array([inner])),
        ],
        input: [port("x", "f32", [1, 2])],
        output: [port("y", "f32", [1, 2]), port("h", "f32", [1, 2])],
      });
    const job = {
      models: [twoFold(2, 10), twoFold(1, 9)],
      data: { path: jsonl(...samples) },
      metric: mse,
      ...{ session, isInTurn: true, withEnergies: true },
    };
    for (const _ of ["measured", "known"]) {
      const { scores, energies, apart } = await runtime.score({ ...job, apart: ["h"] });
      expect(scores.map((row) => [...row])).toEqual([
        [0, 0, 0],
        [0.5, 2, 4.5],
      ]);
      expect([...energies!]).toEqual([4, 16, 36]);
      expect(apart!.scores).toEqual(scores);
      expect([...apart!.energies!]).toEqual([100, 400, 900]);
    }
    const together = await runtime.score(job);
    expect(together).not.toHaveProperty("apart");
    expect([...together.energies!]).toEqual([104, 416, 936]);
  });

  it("scores models that are too large to lie side by side as it scores small ones", async () => {
    const runtime = startRuntime({ workers: 1 });
    const job = {
      models: [scaling(1), scaling(2), scaling(4)],
      data: { path: jsonl(...samples) },
      session,
      compared: 2,
    };
    const metrics = [metricModule("return labels * 100 + outputs.y.data[0] - reference.y.data[0]"), firstOutput(), mse];
    for (const metric of metrics) {
      for (const baselineScores of [undefined, Float64Array.of(7, 8, 9)]) {
        const asked = { ...job, metric, ...(baselineScores && { baselineScores }) };
        expect(await runtime.score({ ...asked, togetherBytes: 0 })).toEqual(await runtime.score(asked));
      }
    }
    const counts: number[] = [];
    const onProgress = (done: number, total: number) => void counts.push(done, total);
    await runtime.score({ ...job, models: job.models.slice(0, 2), metric: mse, togetherBytes: 0, onProgress });
    expect(counts.at(-2)).toBe(3);
    expect(counts.filter((_, i) => i % 2 === 0)).toEqual(counts.filter((_, i) => i % 2 === 0).sort());
  });

  it("says when a metric ends the process", async () => {
    const job = { models: [scaling(1), scaling(2)], data: { path: jsonl(...samples) }, session };
    const ended = await faultOf(() => startRuntime().score({ ...job, metric: metricModule("process.exit(3)") }));
    expect(ended).toMatchObject({ code: "METRIC_SCORE_FAILED", kind: "input" });
    expect(ended.message).toContain("exit code 3");
  });

  it("refuses a model without an output that can be read", async () => {
    const model = writeModel({
      node: [node("SequenceConstruct", ["x", "x"], ["s"])],
      input: [port("x", "f32", [1, 2])],
      output: [port("s", null, null)],
    });
    const job = { models: [model, model], data: { path: jsonl(...samples) }, metric: mse, session };
    const fault = await faultOf(() => startRuntime().score(job));
    expect(fault).toMatchObject({ code: "OUTPUTS_UNREADABLE", kind: "input" });
    expect(fault.message).toContain('"s"');
  });

  it.each(["toString", "__proto__"])("gives outputs named %s, or says that it cannot", async (name) => {
    const model = writeModel({
      node: [node("Neg", ["x"], [name]), node("Abs", ["x"], ["y"])],
      input: [port("x", "f32", [1, 2])],
      output: [port(name, "f32", [1, 2]), port("y", "f32", [1, 2])],
    });
    const answer = (outputs: readonly string[]) =>
      startRuntime().answer({
        ...{ model, outputs, path: join(temporaryFolder(), "answers"), session },
        data: { path: jsonl(...samples), indices: [0, 1] },
      });
    const refused = { code: "OUTPUTS_UNREADABLE", kind: "input", fields: { outputs: [name] } };
    expect(await faultOf(() => answer(["y"]))).toMatchObject(refused);
    const both = answer([name, "y"]);
    if (name === "toString") await both;
    else expect(await faultOf(() => both)).toMatchObject(refused);
  });

  it("remembers what a baseline answered, and that another is another", async () => {
    const runtime = startRuntime({ workers: 1 });
    const [baseline, other] = [scaling(1), scaling(3)];
    const metric = metricModule("return outputs.y.data[0] - reference.y.data[0]");
    const data = { path: jsonl(...samples) };
    const score = async (first: string, more: Partial<DatasetRef> = {}): Promise<number[]> => {
      const models = [first, scaling(2)];
      const { scores } = await runtime.score({ models, data: { ...data, ...more }, metric, session, isInTurn: true });
      return [...scores[1]!];
    };
    expect(await score(baseline)).toEqual([1, 2, 3]);
    expect(await score(baseline)).toEqual([1, 2, 3]);
    expect(await score(baseline, { indices: [2] })).toEqual([3]);
    expect(await score(other)).toEqual([-1, -2, -3]);
    writeFileSync(baseline, readFileSync(other));
    expect(await score(baseline)).toEqual([-1, -2, -3]);
  });

  it("takes a baseline's answers from where they were kept, and runs it on the other samples", async () => {
    const runtime = startRuntime({ workers: 1 });
    const data = { path: jsonl(...samples) };
    const path = join(temporaryFolder(), "kept");
    const keep = {
      answers: { path, outputs: ["y"] },
      aside: [],
      moments: { path: `${path}-moments`, axes: new Map(), positions: [] },
    };
    // Other answers than the baseline's, to see whose they are.
    await runtime.observe({ model: scaling(100), data: { ...data, indices: [1] }, taps: [], session, keep });
    const models = [scaling(1), scaling(2)];
    const metric = metricModule("return outputs.y.data[0] - reference.y.data[0]");
    const job = { models, data, metric, session, isInTurn: true };
    const { scores } = await runtime.score({ ...job, answers: path });
    expect([...scores[1]!]).toEqual([1, 2 * 2 - 100 * 2, 3]);
    expect([...(await runtime.score(job)).scores[1]!]).toEqual([1, 2, 3]);
  });

  it.each([1, 2])(
    "keeps a baseline's answers for the next job, where the metric looks at them (workers: %i)",
    async (workers) => {
      const runtime = startRuntime({ workers });
      const path = join(temporaryFolder(), "kept");
      const data = { path: jsonl(...samples) };
      const score = async (metric: MetricRef, first: number, more: Partial<ScoreJob>): Promise<number[]> => {
        const models = [scaling(first), scaling(2)];
        return [...(await runtime.score({ models, data, metric, session, ...more })).scores[1]!];
      };
      // One that spoils what it is given, too.
      const metric = metricModule(
        "const seen = reference.y.data[0]; reference.y.data[0] = 0; return outputs.y.data[0] - seen",
      );
      const baselineScores = new Float64Array(3);
      await score(metric, 3, { keepAnswers: path });
      // Another baseline, to see whose answers they are.
      expect(await score(metric, 5, { baselineScores, answers: path })).toEqual([2 - 3, 4 - 6, 6 - 9]);
      expect(await score(metric, 5, { baselineScores })).toEqual([2 - 5, 4 - 10, 6 - 15]);

      const unread = join(temporaryFolder(), "unread");
      await score(firstOutput(), 3, { keepAnswers: unread });
      const kept = storedById(unread).size;
      // Whether a module looks at them its first sample tells.
      expect(kept).toBeLessThanOrEqual(workers);
    },
  );

  it("compares the outputs of the first samples too, where the baseline's scores are known already as well", async () => {
    const runtime = startRuntime();
    const models = [scaling(1), scaling(2), scaling(1)];
    const data = { path: jsonl(...samples) };
    const job = { models, data, metric: firstOutput(), session, compared: 2 };
    const { scores, differences } = await runtime.score(job);
    expect(differences!.map(([y]) => [y!.output, y!.samples, y!.maxAbs])).toEqual([
      ["y", 2, 2],
      ["y", 2, 0],
    ]);
    const again = await runtime.score({ ...job, baselineScores: scores[0]! });
    expect(again).toEqual({ metric: again.metric, scores, usedReference: false, differences });
    const alone = await runtime.compare({ baseline: models[0]!, candidate: models[1]!, data, session });
    expect((await runtime.score({ ...job, compared: 3 })).differences![0]).toEqual(alone);
    expect(await runtime.score({ ...job, compared: 0 })).not.toHaveProperty("differences");
  });

  it("keeps the order of the samples when processes share them", async () => {
    const result = await startRuntime({ workers: 2 }).score({
      models: [scaling(1)],
      data: { path: jsonl(...samples), indices: [2, 0, 1] },
      metric: firstOutput(),
      session,
    });
    expect([...result.scores[0]!]).toEqual([3, 1, 2]);
  });

  it("gives a module labels and inputs", async () => {
    const result = await startRuntime().score({
      models: [scaling(5)],
      data: { path: jsonl(...samples) },
      metric: metricModule("return labels * 100 + sample.x.data[0] * 10 + outputs.y.dims.length"),
      session,
    });
    expect([...result.scores[0]!]).toEqual([112, 222, 332]);
  });

  it("tells whether the metric looked at the reference", async () => {
    const runtime = startRuntime();
    const job = { models: [scaling(1), scaling(2)], data: { path: jsonl(...samples) }, session };
    const without = await runtime.score({ ...job, metric: firstOutput() });
    const looking = await runtime.score({ ...job, metric: metricModule("return reference.y.data[0]") });
    const builtin = await runtime.score({ ...job, metric: mse });
    expect([without, looking, builtin].map(({ usedReference }) => usedReference)).toEqual([false, true, true]);
  });

  it("does not run a baseline whose scores are known", async () => {
    const result = await startRuntime({ workers: 2 }).score({
      models: [reshaping(3), scaling(2)],
      data: { path: jsonl(...samples) },
      metric: firstOutput(),
      baselineScores: Float64Array.of(7, 8, 9),
      session,
    });
    expect(result.scores.map((row) => [...row])).toEqual([
      [7, 8, 9],
      [2, 4, 6],
    ]);
  });

  it("runs it all the same for a metric that turns out to want it", async () => {
    const result = await startRuntime().score({
      models: [scaling(10), scaling(2)],
      data: { path: jsonl(...samples) },
      metric: metricModule("return sample.x.data[0] < 2 ? 0 : reference.y.data[0]"),
      baselineScores: Float64Array.of(7, 8, 9),
      session,
    });
    expect([...result.scores[1]!]).toEqual([0, 20, 30]);
    expect(result.usedReference).toBe(true);
  });

  it("passes on the error of a module, and shows none of its output", async () => {
    const job = {
      models: [scaling(1)],
      data: { path: jsonl(...samples) },
      metric: metricModule("console.error('noise'); throw new Error('no such class')"),
      session,
    };
    await expect(startRuntime().score(job)).rejects.toMatchObject({
      code: "METRIC_SCORE_FAILED",
      message: expect.stringContaining("no such class"),
    });
  });
});

import { copyFileSync, utimesSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { jsonl, node, port, scaling, session, startRuntime, writeModel } from "./workbench.js";

const data = () => ({ path: jsonl({ x: [[3, 4]] }, { x: [[-6, 8]] }) });

describe("compare", () => {
  it("measures how far outputs are apart over all samples", async () => {
    const [difference] = await startRuntime().compare({
      baseline: scaling(1),
      candidate: scaling(1.5),
      data: data(),
      session,
    });
    expect(difference).toMatchObject({ output: "y", maxAbs: 4, maxMagnitude: 8, elements: 4, differing: 4, cosine: 1 });
    expect(difference!.relativeL2).toBeCloseTo(0.5, 12);
    expect(difference!.sqnrDb).toBeCloseTo(20 * Math.log10(2), 12);
  });

  it("finds nothing between a model and itself", async () => {
    const model = scaling(1);
    const [difference] = await startRuntime().compare({ baseline: model, candidate: model, data: data(), session });
    expect(difference).toMatchObject({ maxAbs: 0, relativeL2: 0, sqnrDb: Infinity, differing: 0, mismatch: null });
  });

  it("pairs outputs by the names given", async () => {
    const [difference] = await startRuntime().compare({
      baseline: scaling(1),
      candidate: scaling(1, "renamed"),
      pairs: [["y", "renamed"]],
      data: data(),
      session,
    });
    expect(difference).toMatchObject({ output: "y", differing: 0, elements: 4 });
  });

  it("notes an output that the candidate lacks", async () => {
    const [difference] = await startRuntime().compare({
      baseline: scaling(1),
      candidate: scaling(1, "renamed"),
      data: data(),
      session,
    });
    expect(difference!.mismatch).toBe('the candidate has no output "y"');
  });

  it("leaves out what is no tensor, and says so", async () => {
    const model = writeModel({
      node: [node("SequenceConstruct", ["x", "x"], ["q"]), node("Identity", ["x"], ["y"])],
      input: [port("x", "f32", [1, 2])],
      output: [port("q", null, null), port("y", "f32", [1, 2])],
    });
    const differences = await startRuntime().compare({ baseline: model, candidate: model, data: data(), session });
    expect(differences.map(({ mismatch, elements }) => [mismatch, elements])).toEqual([
      ['"q" of the baseline is no tensor that can be read', 0],
      [null, 4],
    ]);
  });

  describe("on made-up inputs", () => {
    const madeUp = (seed: number) => ({
      path: "random",
      random: { seed, count: 2, signature: [{ name: "x", dtype: "f32" as const, shape: [1, 2] }] },
    });

    it("runs a baseline once for several comparisons, and again on other inputs", async () => {
      const runtime = startRuntime();
      const [baseline, candidate, replaced] = [scaling(1), scaling(2), scaling(2)];
      // To the second: finer times are not set back exactly.
      utimesSync(baseline, 1, 1);
      const differing = async (seed: number) =>
        (await runtime.compare({ baseline, candidate, data: madeUp(seed), session }))[0]!.differing;
      expect(await differing(0)).toBe(4);
      // Another model in its place shows when it is run again; its size and time tell nothing.
      copyFileSync(replaced, baseline);
      utimesSync(baseline, 1, 1);
      expect(await differing(0)).toBe(4);
      expect(await differing(1)).toBe(0);
    });

    it("runs a baseline again when the file is another one", async () => {
      const runtime = startRuntime();
      const [baseline, candidate, replaced] = [scaling(1), scaling(2), scaling(2)];
      const differing = async () =>
        (await runtime.compare({ baseline, candidate, data: madeUp(0), session }))[0]!.differing;
      expect(await differing()).toBe(4);
      copyFileSync(replaced, baseline);
      utimesSync(baseline, 2, 2);
      expect(await differing()).toBe(0);
    });
  });
});

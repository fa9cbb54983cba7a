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
});

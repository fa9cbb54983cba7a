import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  constant,
  jsonl,
  node,
  port,
  scaling,
  session,
  startRuntime,
  temporaryFolder,
  writeModel,
} from "./workbench.js";

const samples = [1, -2, 3.5, 0].map((x) => ({ x: [[x, x / 2]], other: [[1, 10]] }));

/** sum = known + x * 0 + other, of which nothing but `known` comes from before. */
const second = (): string =>
  writeModel({
    node: [node("Add", ["known", "other"], ["sum"])],
    initializer: [constant("unused", "f32", [], new Float32Array([1]))],
    input: [port("known", "f32", [1, 2]), port("other", "f32", [1, 2])],
    output: [port("sum", "f32", [1, 2])],
  });

describe("advance", () => {
  it("keeps outputs of every sample, and goes on from them", async () => {
    const runtime = startRuntime();
    const path = jsonl(...samples);
    const kept = join(temporaryFolder(), "kept");
    const job = { data: { path }, session };
    const first = await runtime.advance({
      ...job,
      model: scaling(2),
      known: new Map(),
      kept: new Map([["y", kept]]),
      sums: ["y"],
      heldOut: 1,
    });
    expect([...first.fitted.get("y")!]).toEqual([5, 2.5]);
    expect([...first.heldOut.get("y")!]).toEqual([0, 0]);
    const next = await runtime.advance({
      ...job,
      model: second(),
      known: new Map([["known", kept]]),
      kept: new Map(),
      sums: ["sum"],
      heldOut: 2,
    });
    expect([...next.fitted.get("sum")!]).toEqual([2 - 4 + 2, 1 - 2 + 20]);
    expect([...next.heldOut.get("sum")!]).toEqual([7 + 2, 3.5 + 20]);
  });

  it("looks at the samples that are named, in their order", async () => {
    const { fitted, heldOut } = await startRuntime().advance({
      model: scaling(1),
      data: { path: jsonl(...samples), indices: [2, 0] },
      known: new Map(),
      kept: new Map(),
      sums: ["y"],
      heldOut: 1,
      session,
    });
    expect([...fitted.get("y")!]).toEqual([3.5, 1.75]);
    expect([...heldOut.get("y")!]).toEqual([1, 0.5]);
  });

  it("says where there is no room to keep anything", async () => {
    const job = startRuntime().advance({
      model: scaling(1),
      data: { path: jsonl(...samples) },
      known: new Map(),
      kept: new Map([["y", join(temporaryFolder(), "missing", "kept")]]),
      sums: [],
      heldOut: 0,
      session,
    });
    await expect(job).rejects.toMatchObject({ code: "SCRATCH_FAILED" });
  });
});

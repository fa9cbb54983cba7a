import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonl, node, port, scaling, session, startRuntime, temporaryFolder, writeModel } from "./workbench.js";

const samples = [1, -2, 3.5, 0].map((x) => ({ x: [[x, x / 2]] }));

describe("reduce", () => {
  it.each([
    ["sum", [5, 2.5]],
    ["min", [-4, -2]],
    ["max", [7, 3.5]],
    ["list", [2, 1, -4, -2, 7, 3.5, 0, 0]],
  ] as const)("combines outputs over samples: %s", async (reduction, expected) => {
    const reduced = await startRuntime({ workers: 2 }).reduce({
      model: scaling(2),
      data: { path: jsonl(...samples) },
      outputs: new Map([["y", reduction]]),
      session,
    });
    expect([...reduced.keys()]).toEqual(["y"]);
    expect([...reduced.get("y")!]).toEqual(expected);
  });

  it("looks at the samples that are named", async () => {
    const reduced = await startRuntime().reduce({
      model: scaling(1),
      data: { path: jsonl(...samples), indices: [2] },
      outputs: new Map([["y", "sum"]]),
      session,
    });
    expect([...reduced.get("y")!]).toEqual([3.5, 1.75]);
  });

  it("takes inputs from answers that were kept, and leaves out samples of which there are none", async () => {
    const runtime = startRuntime();
    const path = jsonl(...samples);
    const kept = join(temporaryFolder(), "kept");
    const none = { path: `${kept}-moments`, axes: new Map(), positions: [] };
    const keep = { answers: { path: kept, outputs: ["y"] }, aside: [], moments: none };
    await runtime.observe({ model: scaling(10), data: { path, indices: [0, 2] }, taps: [], session, keep });
    const model = writeModel({
      node: [node("Sub", ["float", "x"], ["z"])],
      input: [port("x", "f32", [1, 2]), port("float", "f32", [1, 2])],
      output: [port("z", "f32", [1, 2])],
    });
    const answers = { path: kept, inputs: new Map([["float", "y"]]) };
    const outputs = new Map([["z", "list"]] as const);
    const reduced = await runtime.reduce({ model, data: { path }, answers, outputs, session });
    expect([...reduced.get("z")!]).toEqual([9, 4.5, 31.5, 15.75]);
  });
});

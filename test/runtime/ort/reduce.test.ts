import { describe, expect, it } from "vitest";
import { jsonl, scaling, session, startRuntime } from "./workbench.js";

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
});

import { describe, expect, it } from "vitest";
import { commandsFor } from "../../../src/pipeline/reproduce.js";
import { bestFirst, undominated, type Way } from "../../../src/pipeline/search/ways.js";
import { optimizeConfig } from "../../support/real-run.js";
import { limitsOf } from "../../support/run-config.js";

const way = (name: string, speedup: number | null, accuracy: number, bytes: number, outcome = "met"): Way =>
  ({
    name,
    verdict: { outcome },
    latency: speedup === null ? null : { speedup, speedupInterval: [speedup - 0.1, speedup + 0.1] },
    accuracy: { candidate: accuracy, higherIsBetter: true },
    bytes,
    commands: [],
  }) as unknown as Way;
const names = (ways: readonly { readonly name: string }[]): string[] => ways.map(({ name }) => name);

describe("bestFirst", () => {
  const ways = [way("whole", 2, 0.99, 50), way("pruned", 1.5, 0.98, 40), way("both", 3, 0.9, 10, "accuracy")];

  it("is the fastest, or the smallest, of those that meet the limits", () => {
    expect(names(bestFirst(ways, "speed"))).toEqual(["whole", "pruned", "both"]);
    expect(names(bestFirst(ways, "size"))).toEqual(["pruned", "whole", "both"]);
  });

  it("is the first where none does", () => {
    const missed = [way("whole", 2, 0.9, 50, "accuracy"), way("both", 3, 0.9, 10, "accuracy")];
    expect(names(bestFirst(missed, "speed"))).toEqual(["whole", "both"]);
  });
});

describe("undominated", () => {
  it("leaves out what another one exceeds, and what was not timed", () => {
    const whole = way("whole", 2, 0.99, 50);
    const both = way("both", 3, 0.98, 10);
    const listed = undominated([way("worse", 1.5, 0.97, 60), both, way("untimed", null, 1, 1), whole], both);
    expect(names(listed)).toEqual(["whole", "both"]);
    expect(listed.map(({ chosen }) => chosen)).toEqual([false, true]);
  });

  it("keeps those that are equal in all, and tells which miss a limit", () => {
    const [a, b] = [way("a", 2, 0.99, 50), way("b", 2, 0.99, 50, "accuracy")];
    expect(undominated([a, b], b).map(({ meetsLimits, chosen }) => [meetsLimits, chosen])).toEqual([
      [true, false],
      [false, false],
    ]);
  });
});

describe("commandsFor", () => {
  const config = {
    ...optimizeConfig("my model.onnx", "out.onnx", { mode: "auto", goal: "speed" }),
    data: { calibration: "c.npz", eval: "e.npz", metric: { kind: "builtin", name: "top1" } as const },
    limits: limitsOf({ maxDrop: { percent: 0.5 } }),
  };
  const asked = "--calibration c.npz --eval e.npz --metric top1 --max-drop 0.5% --threads 1 --seed 1";

  it("prunes to the widths that were found, and judges the rest against the original", () => {
    expect(commandsFor(config, [48, 32, 0])).toEqual([
      `infer-opt prune 'my model.onnx' -o out.pruned.onnx --widths 48,32,0 ${asked}`,
      `infer-opt optimize out.pruned.onnx -o out.onnx --baseline 'my model.onnx' ${asked}`,
    ]);
  });

  it("is one command for a net that was only pruned, or not at all", () => {
    expect(commandsFor(config, [48], false)).toEqual([
      `infer-opt prune 'my model.onnx' -o out.onnx --widths 48 ${asked}`,
    ]);
    expect(commandsFor(config, null)).toEqual([`infer-opt optimize 'my model.onnx' -o out.onnx ${asked}`]);
  });
});

import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { parseModel } from "../../src/ir/index.js";
import { newTap, observeTensor, type TapStatistics } from "../../src/observe/index.js";
import { crowdedNotes, vanishingShare, whyMixed } from "../../src/quantization/mixed-ranges.js";
import { quantizeStatic } from "../../src/quantization/quantize-static.js";
import { safeTarget } from "../support/quantize-text.js";

function tapOf(name: string, values: ArrayLike<number>): TapStatistics {
  const tap = newTap(name);
  observeTensor(tap, Float32Array.from(values));
  return tap;
}

const head = `(x: f32[1,2,4,4]) -> (y) {
  boxes = Conv(x, $k: f32[2,2,1,1])
  scores = Conv(x, $l: f32[2,2,1,1])
  joined = Concat<axis=1>(boxes, scores)
  y = Conv(joined, $m: f32[2,4,1,1])
}`;

const placement = { neighbours: true, depthwise: true };

function quantized(boxes: number, scores: number, text = head) {
  const model = parseModel(text);
  for (const node of model.graph.nodes()) node.name = node.output.label;
  const taps = new Map(
    Object.entries({ x: 1, boxes, scores, joined: Math.max(boxes, scores), y: 1 }).map(([name, most]) => [
      name,
      tapOf(name, [0, most / 2, most]),
    ]),
  );
  return quantizeStatic(model, { target: safeTarget, choice: { placement, method: "minmax" }, taps });
}

describe("joined branches", () => {
  it("stay float, with what reads them, when one scale would ruin the narrower", () => {
    const { quantized: nodes, float } = quantized(640, 1);
    expect(nodes).toEqual(["boxes", "scores"]);
    expect(float.find(({ node }) => node === "y")?.reason).toContain("would leave the latter 1 of 256 levels");
  });

  it.each([
    [16, 1],
    [1, 1],
    [1, 3],
  ])("become integers with ranges of %d and %d", (boxes, scores) => {
    expect(quantized(boxes, scores).quantized).toEqual(["boxes", "scores", "joined", "y"]);
  });

  it("are no concern of an Add, where the narrower hardly matters", () => {
    const sum = head
      .replace("Concat<axis=1>(boxes, scores)", "Add(boxes, scores)")
      .replace("f32[2,4,1,1]", "f32[2,2,1,1]");
    expect(quantized(640, 1, sum).quantized).toEqual(["boxes", "scores", "joined", "y"]);
  });

  it("are not compared where only one was measured", () => {
    const { graph } = parseModel(head);
    const joined = [...graph.nodes()][2]!;
    expect(whyMixed(joined, ({ label }) => (label === "boxes" ? { low: 0, high: 640 } : null))).toBeNull();
    expect(whyMixed([...graph.nodes()][0]!, () => ({ low: 0, high: 1 }))).toBeNull();
  });
});

describe("crowded ranges", () => {
  const random = seededRandom(3);
  const crowd = Array.from({ length: 1000 }, () => random.normal());
  const alone = tapOf("a", crowd);
  const dwarfed = tapOf("b", [...crowd, 5000]);

  it("are told by the share that becomes 0", () => {
    expect(vanishingShare(alone, { low: alone.min, high: alone.max })).toBeLessThan(0.02);
    expect(vanishingShare(dwarfed, { low: -3, high: 5000 })).toBeGreaterThan(0.98);
    expect(vanishingShare(dwarfed, { low: -3, high: 3 })).toBeLessThan(0.02);
    expect(vanishingShare(tapOf("zeros", [0, 0]), { low: 0, high: 1 })).toBe(0);
  });

  it("are few, the worst first, and quiet for other tensors", () => {
    const taps = new Map(["a", "b"].map((name) => [name, name === "a" ? alone : dwarfed]));
    const ranges = new Map([...taps].map(([name, { min: low, max: high }]) => [name, { low, high }]));
    const notes = crowdedNotes(ranges, taps);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/^b: (98|99) % of its values other than 0 become 0/);
    expect(crowdedNotes(ranges, taps, 0)).toEqual([]);
  });
});

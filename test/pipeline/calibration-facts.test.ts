import { describe, expect, it } from "vitest";
import { chooseRange, newTap, observeTensor, type TapStatistics } from "../../src/observe/index.js";
import { calibrationFacts } from "../../src/pipeline/calibration-facts.js";

function tap(name: string, values: readonly number[]): TapStatistics {
  const statistics = newTap(name);
  observeTensor(statistics, Float32Array.from(values));
  return statistics;
}

const taps = (...all: readonly TapStatistics[]) => new Map(all.map((each) => [each.name, each]));
const spread = Array.from({ length: 1000 }, (_, i) => Math.sin(i) * (i % 97));

describe("calibrationFacts", () => {
  it("has every finite element in a bin, from the least to the largest", () => {
    const { tensors } = calibrationFacts(taps(tap("a", [...spread, Number.NaN])), () => "mse");
    const [{ histogram, elements, min, max }] = tensors as [(typeof tensors)[0]];
    const { from, width, counts } = histogram;
    expect(elements).toBe(1000);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(1000);
    expect(counts.length).toBeLessThanOrEqual(48);
    expect(from).toBeLessThanOrEqual(min);
    expect(from + width * counts.length).toBeGreaterThanOrEqual(max);
  });

  it("has the range of each method as quantization takes it, one that was asked for among them", () => {
    const a = tap("a", spread);
    const { tensors } = calibrationFacts(taps(a), () => "entropy");
    expect(tensors[0]!.chosen).toBe("entropy");
    expect(tensors[0]!.ranges.map(({ method }) => method)).toEqual(["minmax", "percentile", "mse", "entropy"]);
    for (const { method, ...range } of tensors[0]!.ranges) expect(range).toEqual(chooseRange(a, { method }));
  });

  it("keeps those that lose the most where there are very many, in their order", () => {
    const tailed = [...Array.from({ length: 30 }, () => spread).flat(), 1e6];
    const many = Array.from({ length: 300 }, (_, i) => tap(`t${i}`, i % 3 === 0 ? [1, 2] : tailed));
    const { tensors, of } = calibrationFacts(taps(...many), () => "percentile");
    expect(of).toBe(300);
    expect(tensors.map(({ tensor }) => tensor)).toEqual(many.filter((_, i) => i % 3 !== 0).map(({ name }) => name));
  });

  it("leaves out tensors without a finite element", () => {
    expect(calibrationFacts(taps(tap("a", [Number.NaN])), () => null)).toEqual({ tensors: [], of: 0 });
  });
});

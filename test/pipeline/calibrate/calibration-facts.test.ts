import { describe, expect, it } from "vitest";
import { parseModel, type Value } from "../../../src/ir/index.js";
import {
  chooseRange,
  newTap,
  observeTensor,
  type RangeMethod,
  type TapStatistics,
} from "../../../src/observe/index.js";
import { calibrationFacts } from "../../../src/pipeline/calibrate/calibration-facts.js";

function tap(name: string, values: readonly number[]): TapStatistics {
  const statistics = newTap(name);
  observeTensor(statistics, Float32Array.from(values));
  return statistics;
}

const taps = (...all: readonly TapStatistics[]) => new Map(all.map((each) => [each.name, each]));
/** Of these names, each of which nothing bounds. */
const values = (names: readonly string[]): Value[] => {
  const { graph } = parseModel(
    `(${names.map((name) => `${name}: f32[4]`).join(", ")}) -> (y) { y = Sum(${names.join(", ")}) }`,
  );
  return [...graph.inputs];
};
const facts = (all: readonly TapStatistics[], method: RangeMethod | null) =>
  calibrationFacts(values(all.map(({ name }) => name)), taps(...all), () => method);
const spread = Array.from({ length: 1000 }, (_, i) => Math.sin(i) * (i % 97));

describe("calibrationFacts", () => {
  it("has every finite element in a bin, from the least to the largest", () => {
    const { tensors } = facts([tap("a", [...spread, Number.NaN])], "mse");
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
    const { tensors } = facts([a], "entropy");
    expect(tensors[0]!.chosen).toBe("entropy");
    expect(tensors[0]!.ranges.map(({ method }) => method)).toEqual(["minmax", "percentile", "mse", "entropy"]);
    for (const { method, ...range } of tensors[0]!.ranges) expect(range).toEqual(chooseRange(a, { method }));
  });

  it("keeps those that lose the most where there are very many, in their order", () => {
    const tailed = [...Array.from({ length: 30 }, () => spread).flat(), 1e6];
    const many = Array.from({ length: 300 }, (_, i) => tap(`t${i}`, i % 3 === 0 ? [1, 2] : tailed));
    const { tensors, of } = facts(many, "percentile");
    expect(of).toBe(300);
    expect(tensors.map(({ tensor }) => tensor)).toEqual(many.filter((_, i) => i % 3 !== 0).map(({ name }) => name));
  });

  it("takes ranges of what the readers of a tensor tell apart, as quantization does", () => {
    const { graph } = parseModel("(x: f32[4]) -> (y) { a = Neg(x) y = Relu(a) }");
    const a = tap("a", [-1000, ...spread.map(Math.abs)]);
    const { tensors, of } = calibrationFacts(
      [...graph.nodes()].map(({ output }) => output),
      taps(a),
      () => "minmax",
    );
    // y was not observed.
    expect(of).toBe(1);
    expect(tensors[0]).toMatchObject({ tensor: "a", min: -1000 });
    const range = tensors[0]!.ranges.find(({ method }) => method === "minmax")!;
    expect(range.low).toBe(0);
    expect(range.clippedShare).toBe(0);
  });

  it("leaves out tensors without a finite element", () => {
    expect(facts([tap("a", [Number.NaN])], null)).toEqual({ tensors: [], of: 0 });
  });
});

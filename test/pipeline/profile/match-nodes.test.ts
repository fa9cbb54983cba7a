import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { compareNodes, type TimedGraph } from "../../../src/pipeline/profile/match-nodes.js";

/** A graph that is executed as its file has it, unless another text says how; each node takes a millisecond. */
function timed(file: string, executed = file): TimedGraph {
  const model = parseModel(executed);
  const nodes = [...model.graph.nodes()];
  const steps = nodes.map((node) => ({
    ...{ name: node.output.label, op: node.op, provider: "cpu", calls: 1, leastMs: 1, medianMs: 1 },
    ...{ inputs: [], outputs: [] },
  }));
  return { model, nodes, steps, file: parseModel(file) };
}

const sides = (before: TimedGraph, after: TimedGraph) =>
  Object.fromEntries(compareNodes(before, after).map((part) => [part.value, [part.before, part.after]]));

describe("nodes side by side", () => {
  it("are those that make the same tensor", () => {
    const before = timed("(x: f32[4]) -> (y) { s = Sigmoid(x) m = Mul(x, s) y = Neg(m) }");
    const after = timed("(x: f32[4]) -> (y) { m = Swish(x) y = Neg(m) }");
    expect(sides(before, after)).toEqual({ m: [["s", "m"], ["m"]], y: [["y"], ["y"]] });
  });

  it("know a tensor again in integers, and in the runtime's blocked layout", () => {
    const before = timed(
      "(x: f32[4]) -> (y) { a = Relu(x) y = Neg(a) }",
      "(x: f32[4]) -> (y) { a_nchwc = Relu(x) y = Neg(a_nchwc) }",
    );
    const pair = "aq = QuantizeLinear(a, $s: f32[] = {1}, $z: u8[] = {0}) ad = DequantizeLinear(aq, s, z)";
    const after = timed(
      `(x: f32[4]) -> (y) { a = Relu(x) ${pair} y = Neg(ad) }`,
      "(x: f32[4]) -> (y) { aq = QuantRelu(x) y = QuantNeg(aq) }",
    );
    expect(sides(before, after)).toEqual({ a: [["a_nchwc"], ["aq"]], y: [["y"], ["y"]] });
  });

  it("are not those whose names the runtime made up", () => {
    const before = timed(
      "(x: f32[4]) -> (y) { y = Neg(x) }",
      "(x: f32[4]) -> (y) { reorder = Relu(x) y = Neg(reorder) }",
    );
    const after = timed(
      "(x: f32[4]) -> (y) { a = Abs(x) y = Neg(a) }",
      "(x: f32[4]) -> (y) { reorder = Abs(x) y = Neg(reorder) }",
    );
    expect(Object.keys(sides(before, after))).toEqual(["y"]);
  });

  it("add up to both models, also what leads to no tensor of both", () => {
    const before = timed("(x: f32[4]) -> (y, z) { y = Neg(x) z = Abs(x) }");
    const after = timed("(x: f32[4]) -> (y, w) { y = Neg(x) w = Exp(x) }");
    const parts = compareNodes(before, after);
    expect(parts.reduce((sum, { beforeMs }) => sum + beforeMs, 0)).toBe(2);
    expect(parts.reduce((sum, { afterMs }) => sum + afterMs, 0)).toBe(2);
    expect(parts.find(({ value }) => value === "")).toMatchObject({ before: ["z"], after: ["w"] });
  });

  it("come with the greatest change first", () => {
    const before = timed("(x: f32[4]) -> (y) { a = Neg(x) b = Abs(a) c = Exp(b) y = Neg(c) }");
    const after = timed("(x: f32[4]) -> (y) { a = Neg(x) y = Neg(a) }");
    expect(compareNodes(before, after)[0]).toMatchObject({ value: "y", beforeMs: 3, afterMs: 1 });
  });
});

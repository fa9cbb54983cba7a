import { describe, expect, it } from "vitest";
import { type Model, parseModel } from "../../../src/ir/index.js";
import { measuredRisks, type ValueRange } from "../../../src/passes/precision/measured-risks.js";

const range = (min: number, max: number, count = 100): ValueRange => ({ min, max, count });

/** Values of a chain of nodes, typed f32 as the runtime would have said. */
function typed(text: string): Model {
  const model = parseModel(text);
  for (const node of model.graph.nodes()) for (const value of node.outputs) value!.type = { dtype: "f32", shape: null };
  return model;
}

function risksOf(text: string, ranges: Record<string, ValueRange>): Record<string, string> {
  const risks = measuredRisks(typed(text), new Map(Object.entries(ranges)));
  return Object.fromEntries([...risks].map(([node, reason]) => [node.outputs[0]!.label, reason]));
}

const chain = `(x: f32[2,3]) -> (y) {
  a = Tanh(x)
  b = Exp(a)
  y = Tanh(b)
}`;

describe("measuredRisks", () => {
  it("keeps who makes and who reads a value beyond the range, with a margin", () => {
    const ok = range(-1, 1);
    expect(Object.keys(risksOf(chain, { x: ok, a: ok, b: range(0.1, 40_000), y: ok }))).toEqual(["b", "y"]);
    expect(risksOf(chain, { x: ok, a: ok, b: range(0.1, 30_000), y: ok })).toEqual({});
  });

  it("finds the sum inside a mean whose result is small", () => {
    const mean = "(x: f32[1,512,512]) -> (y) {\n  y = ReduceMean<axes=[1,2]>(x)\n}";
    expect(risksOf(mean, { x: range(-1, 4, 262_144), y: range(1, 1, 1) })["y"]).toContain(
      "which ends at 65504: 2.6e+5",
    );
    expect(risksOf(mean, { x: range(-1, 4, 64), y: range(1, 1, 1) })).toEqual({});
  });

  it("knows that a norm adds up squares, and a pool its window", () => {
    const norm = "(x: f32[1,8]) -> (y) {\n  y = ReduceL2<axes=[1]>(x)\n}";
    expect(Object.keys(risksOf(norm, { x: range(-200, 200, 8), y: range(300, 300, 1) }))).toEqual(["y"]);
    const pool = "(x: f32[1,1,64,64]) -> (y) {\n  y = AveragePool<kernel_shape=[32,32]>(x)\n}";
    expect(Object.keys(risksOf(pool, { x: range(0, 90, 4096), y: range(40, 50, 1089) }))).toEqual(["y"]);
  });

  it("keeps divisors that would become zero, and who makes them", () => {
    const ratio = "(x: f32[2], z: f32[2]) -> (y) {\n  d = Exp(z)\n  y = Div(x, d)\n}";
    const ok = range(-1, 1);
    expect(Object.keys(risksOf(ratio, { x: ok, z: ok, d: range(1e-9, 1), y: ok }))).toEqual(["d", "y"]);
    // As a summand it does no harm.
    const sum = ratio.replace("Div", "Add");
    expect(risksOf(sum, { x: ok, z: ok, d: range(1e-9, 1), y: ok })).toEqual({});
  });

  it("keeps values that are all so small that digits are lost, but not zeros", () => {
    const ok = range(-1, 1);
    expect(risksOf(chain, { x: ok, a: range(-1e-6, 1e-6), b: ok, y: ok })["a"]).toContain(
      "float16 loses digits of them: 1.0e-6 at most",
    );
    expect(risksOf(chain, { x: ok, a: range(0, 0), b: ok, y: ok })).toEqual({});
  });

  it("says nothing of what was not seen, or never finite", () => {
    expect(risksOf(chain, {})).toEqual({});
    expect(risksOf(chain, { b: range(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0) })).toEqual({});
  });
});

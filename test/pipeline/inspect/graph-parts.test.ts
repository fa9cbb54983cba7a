/** Which nodes of two graphs belong together. */
import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { describeGraphs } from "../../../src/pipeline/inspect/graph-facts.js";
import { provenanceOf, throughBoth } from "../../../src/pipeline/prepare/provenance.js";
import { defineRewrite, runPasses } from "../../../src/rewrite/index.js";

const before = "(x: f32[4]) -> (y) { k = Neg($c: f32[1] = {1}) s = Sigmoid(x) m = Mul(x, s) y = Add(m, k) }";

describe("parts by what rewrites told", () => {
  it("joins all nodes that one stands for, whatever its tensors are called", () => {
    const after = parseModel("(x: f32[4]) -> (y) { other = Swish(x) y = Add(other, $k: f32[1] = {-1}) }");
    const graphs = describeGraphs(parseModel(before), after, [{ node: "Swish:other", from: ["Sigmoid:s", "Mul:m"] }]);
    expect(graphs.before!.parts).toEqual([0, 1, 1, 2]);
    expect(graphs.after!.parts).toEqual([1, 2]);
  });

  it("gives what stands for nothing to what it leads to, and joins several that stand for the same", () => {
    const after = parseModel(
      "(x: f32[4]) -> (y) { a = Abs(x) b = Exp(x) q = Floor(b) m = Mul(a, q) y = Add(m, $k: f32[1] = {-1}) }",
    );
    const graphs = describeGraphs(parseModel(before), after, [
      { node: "Abs:a", from: ["Sigmoid:s"] },
      { node: "Exp:b", from: ["Sigmoid:s"] },
      { node: "Floor:q", from: [] },
    ]);
    expect(graphs.before!.parts).toEqual([0, 1, 2, 3]);
    expect(graphs.after!.parts).toEqual([1, 1, 2, 2, 3]);
  });

  it("keeps apart what shares a little of what it was made of", () => {
    const layers = parseModel(`(x: f32[4]) -> (y) {
      mask = Neg(x) a = Exp(x) b = Add(a, mask) c = Exp(b) y = Add(c, mask)
    }`);
    const fused = parseModel("(x: f32[4]) -> (y) { b = Abs(x) y = Sign(b) }");
    const { before, after } = describeGraphs(layers, fused, [
      { node: "Abs:b", from: ["Neg:mask", "Exp:a", "Add:b"] },
      { node: "Sign:y", from: ["Neg:mask", "Exp:c", "Add:y"] },
    ]);
    const shared = parseModel("(x: f32[4]) -> (y) { m = Ceil(x) b = Abs(m) y = Sign(b) }");
    const all = ["Neg:mask", "Exp:a", "Add:b", "Exp:c", "Add:y"];
    const withMask = describeGraphs(layers, shared, [
      { node: "Ceil:m", from: all },
      { node: "Abs:b", from: ["Exp:a", "Add:b"] },
      { node: "Sign:y", from: ["Exp:c", "Add:y"] },
    ]);
    expect(withMask.before!.parts).toEqual([1, 2, 2, 3, 3]);
    expect(withMask.after!.parts).toEqual([1, 2, 3]);
    expect(before!.parts).toEqual([1, 1, 1, 2, 2]);
    expect(after!.parts).toEqual([1, 2]);
  });

  it("takes a node of a body for the node that owns it", () => {
    const nested = parseModel(
      "(c: bool[], x: f32[4]) -> (y) { y = If<then_branch = () -> (t) { t = Neg(x) }, else_branch = () -> (e) { e = Abs(x) }>(c) }",
    );
    const graphs = describeGraphs(nested, parseModel("(c: bool[], x: f32[4]) -> (y) { y = Sign(x) }"), [
      { node: "Sign:y", from: ["Neg:t"] },
    ]);
    expect(graphs.before!.parts).toEqual([1]);
    expect(graphs.after!.parts).toEqual([1]);
  });
});

describe("provenanceOf", () => {
  const toSwish = defineRewrite({
    name: "make-swish",
    summary: "",
    numerics: "exact",
    roots: ["Mul"],
    rewrite: (root, { create }) =>
      root.inputs[1]?.producer?.is("Sigmoid") ? create("Swish", [root.inputs[0]!], {}, { domain: "test" }) : null,
  });

  it("knows what a rewrite took together, and leaves out what stayed", async () => {
    const model = parseModel(before);
    await runPasses(model, [toSwish]);
    expect(provenanceOf(model)).toEqual([{ node: "Swish:m", from: ["Sigmoid:s", "Mul:m"] }]);
  });

  it("goes through two steps", () => {
    const first = [
      { node: "ab", from: ["a", "b"] },
      { node: "c2", from: ["c"] },
    ];
    expect(throughBoth(first, [{ node: "abd", from: ["ab", "d"] }])).toEqual([
      { node: "ab", from: ["a", "b"] },
      { node: "c2", from: ["c"] },
      { node: "abd", from: ["a", "b", "d"] },
    ]);
    expect(throughBoth(first, null)).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { nodesWithin, parseModel } from "../../src/ir/index.js";
import { activationMemory } from "../../src/pipeline/activation-memory.js";

/** All results are f32 of the sizes given by label. */
function memory(text: string, sizes: Readonly<Record<string, number>>) {
  const { graph } = parseModel(text);
  for (const node of nodesWithin(graph)) {
    for (const value of node.outputs) {
      const size = value && sizes[value.label];
      if (size) value.type = { dtype: "f32", shape: [size] };
    }
  }
  return activationMemory(graph);
}

describe("what is alive at once", () => {
  it("frees a tensor behind its last reader", () => {
    const found = memory("(x: f32[1]) -> (d) { a = Expand(x, $s: i64[1]) b = Relu(a) c = Relu(b) d = Relu(c) }", {
      ...{ a: 100, b: 50, c: 10, d: 10 },
    })!;
    expect(found).toMatchObject({ totalBytes: 680, peakBytes: 600, unknown: 0, along: [400, 600, 240, 80] });
    expect(found.alive.map(({ name, bytes }) => [name, bytes])).toEqual([
      ["a", 400],
      ["b", 200],
    ]);
  });

  it("keeps what a later node still reads, and outputs of the model", () => {
    const found = memory("(x: f32[1]) -> (b, d) { a = Relu(x) b = Relu(a) c = Relu(b) d = Add(c, a) }", {
      ...{ a: 10, b: 10, c: 10, d: 10 },
    })!;
    expect(found.peakBytes).toBe(160);
    expect(found.alive.map(({ name }) => name).sort()).toEqual(["a", "b", "c", "d"]);
  });

  it("counts a view as the tensor that it shows, for as long as it is read", () => {
    const found = memory("(x: f32[1]) -> (d) { a = Relu(x) b = Flatten(a) c = Neg(x) d = Add(b, c) }", {
      ...{ a: 10, b: 10, c: 10, d: 1 },
    })!;
    expect(found.totalBytes).toBe(84);
    expect(found.peakBytes).toBe(84);
  });

  it("knows that bodies read from outside", () => {
    const text = `(k: bool[], x: f32[1]) -> (y) {
      a = Relu(x) b = Neg(x) c = Neg(b)
      y = If<then_branch=() -> (t) { t = Neg(a) }, else_branch=() -> (a) { }>(k) }`;
    const found = memory(text, { a: 100, b: 10, c: 10, y: 1 })!;
    expect(found.peakNode).toMatch(/Neg/);
    expect(found.peakBytes).toBe(480);
    // What they write inside is in no list.
    expect(found.bodies).toBe(1);
  });

  it("says how many sizes it does not know", () => {
    expect(memory("(x: f32[N]) -> (y) { a = Relu(x) y = Relu(a) }", { y: 2 })).toMatchObject({
      unknown: 1,
      peakBytes: 8,
    });
  });
});

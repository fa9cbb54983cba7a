import { expect, it } from "vitest";
import { parseGraph } from "../../../src/ir/index.js";
import { sizeFacts } from "../../../src/passes/fold/size-facts.js";

it("knows nothing of a value whose stated rank is not that of its rule", () => {
  const graph = parseGraph("(x: f32[2,3]) -> (r, s) { r = Relu(x)\n s = Relu(x) }");
  const [honest, odd] = graph.outputs.map(({ value }) => value);
  odd!.type = { dtype: "f32", shape: [2, 3, 1] };
  expect(sizeFacts().shapeOf(honest!)).toEqual([2, 3]);
  expect(sizeFacts().shapeOf(odd!)).toBeNull();
});

it("follows a chain of any length, of branches that meet again too", () => {
  const steps = Array.from({ length: 2000 }, (_, i) => `a${i + 1} = Add(a${i}, a${i})`);
  const graph = parseGraph(
    `(x: f32[N,3]) -> (y) { a0 = Relu(x)\n ${steps.join("\n")}\n y = Transpose<perm=[1,0]>(a2000) }`,
  );
  const [x] = graph.inputs;
  const [y] = graph.outputs.map(({ value }) => value);
  const { shapeOf } = sizeFacts();
  expect(shapeOf(y)).toEqual([3, shapeOf(x)![0]]);
});

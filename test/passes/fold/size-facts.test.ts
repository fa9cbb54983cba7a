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

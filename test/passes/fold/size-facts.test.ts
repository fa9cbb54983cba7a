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

it("follows numbers through chains of any length, one after the other, also where shapes are known by then", () => {
  const chain = (name: string): string =>
    Array.from({ length: 1000 }, (_, i) => `${name}${i + 1} = Add(${name}${i}, $${name}c${i}: i64[1] = {1})`).join(
      "\n",
    );
  const graph = parseGraph(
    `(x: f32[N,3]) -> (a1000, b1000) { a0 = Shape(x)\n b0 = Shape(x)\n ${chain("a")}\n ${chain("b")} }`,
  );
  const { shapeOf, vectorOf } = sizeFacts();
  for (const node of graph.nodes()) expect(shapeOf(node.output)).toEqual([2]);
  for (const { value } of graph.outputs) expect(vectorOf(value)?.elements[1]).toBe(1003);
});

it("knows the numbers of a vector that is filled with one", () => {
  const filled = (value: string, shape: string): unknown => {
    const graph = parseGraph(`(x: f32[1]) -> (y) { y = ConstantOfShape<value=${value}>($shape: ${shape}) }`);
    return sizeFacts().vectorOf(graph.outputs[0]!.value)?.elements ?? null;
  };
  expect(filled("i64[1] = {7}", "i64[1] = {3}")).toEqual([7, 7, 7]);
  expect(filled("i64[1] = {7}", "i64[1] = {65}")).toBeNull();
  expect(filled("i64[1] = {7}", "i64[2] = {2, 3}")).toBeNull();
  expect(filled("i64[1] = {9223372036854775807}", "i64[1] = {3}")).toBeNull();
  expect(filled("i32[1] = {7}", "i64[1] = {3}")).toBeNull();
  expect(filled("f32[1] = {7}", "i64[1] = {3}")).toBeNull();
});

it("tells how much a Slice takes between bounds that are no safe integers", () => {
  const taken = (start: string, end: string): unknown => {
    const graph = parseGraph(
      `(x: f32[8]) -> (y) { y = Slice(x, $from: i64[1] = {${start}}, $to: i64[1] = {${end}}, $axis: i64[1] = {0}) }`,
    );
    return sizeFacts().shapeOf(graph.outputs[0]!.value);
  };
  expect(taken("3", "9223372036854775807")).toEqual([5]);
  expect(taken("-9223372036854775808", "3")).toEqual([3]);
  expect(taken("-9223372036854775808", "9223372036854775807")).toEqual([8]);
});

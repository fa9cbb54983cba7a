import { describe, expect, it } from "vitest";
import { type Node, nodesWithin, parseModel } from "../../src/ir/index.js";
import { makeNamesUnique, nameAdded } from "../../src/quantization/names.js";
import { keepOutputs, tapValues } from "../../src/rewrite/tap-model.js";

const nested = `(x: f32[2], c: bool) -> (y) {
  a = Neg(x)
  y = If<then_branch=() -> (a2) { a2 = Abs(a) }, else_branch=() -> (b) { b = Neg(a) }>(c)
}`;

describe("makeNamesUnique", () => {
  it("names nodes without a name, and tells two of one name apart, bodies included", () => {
    const model = parseModel(nested);
    const nodes = [...nodesWithin(model.graph)];
    for (const node of nodes) node.name = node.is("Neg") ? "same" : "";
    makeNamesUnique(model);
    expect(nodes.map(({ name }) => name)).toEqual(["same", "If:y", "Abs:a2", "same_1"]);
  });

  it("tells values of one label apart, and keeps what is public", () => {
    const model = parseModel(nested);
    for (const node of nodesWithin(model.graph)) node.output.label = "y";
    makeNamesUnique(model);
    expect([...nodesWithin(model.graph)].map((node) => node.output.label)).toEqual(["y_1", "y", "y_2", "y_3"]);
    expect(model.graph.inputs.map(({ label }) => label)).toEqual(["x", "c"]);
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(["y"]);
  });

  it("keeps the name of an output that an input stands behind free", () => {
    const model = parseModel("(x: f32[2]) -> (y = x, z) { a = Neg(x)\n z = Abs(a) }");
    model.graph.firstNode!.output.label = "y";
    makeNamesUnique(model);
    expect(model.graph.firstNode!.output.label).toBe("y_1");
    expect(model.graph.inputs[0]!.label).toBe("x");
  });

  it("gives values inside no name that every object has, and keeps such public ones", () => {
    const model = parseModel("(x: f32[2]) -> (y) { a = Neg(x)\n y = Abs(a) }");
    const { graph } = model;
    graph.firstNode!.output.label = "constructor";
    graph.inputs[0]!.label = "toString";
    makeNamesUnique(model);
    expect(graph.firstNode!.output.label).toBe("constructor_");
    expect(graph.inputs[0]!.label).toBe("toString");
  });

  it("changes nothing the second time", () => {
    const model = parseModel(nested);
    makeNamesUnique(model);
    const names = () => [...nodesWithin(model.graph)].map(({ name, output }) => [name, output.label]);
    const before = names();
    makeNamesUnique(model);
    expect(names()).toEqual(before);
  });
});

describe("tapValues", () => {
  it("makes values outputs and says by what name; those that are outputs keep theirs", () => {
    const model = parseModel("(x: f32[2]) -> (y) { a = Neg(x)\n y = Abs(a) }");
    const [first, second] = [...model.graph.nodes()];
    const taps = tapValues(model, [model.graph.inputs[0]!, first!.output, second!.output]);
    expect(Object.fromEntries(taps)).toEqual({ x: "x", a: "a", y: "y" });
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(["y", "x", "a"]);
    keepOutputs(model, new Set(["a"]));
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(["a"]);
  });
});

describe("nameAdded", () => {
  it("renames what was added under a name that is taken, in bodies too, and nothing else", () => {
    const model = parseModel(nested);
    const nodes = [...nodesWithin(model.graph)];
    const [first, branch, inner, last] = nodes as [Node, Node, Node, Node];
    first.name = last.name = "a/Cast";
    branch.name = "";
    inner.name = "a/Cast_1";
    nameAdded(model, new Set([first, inner]));
    expect(nodes.map(({ name }) => name)).toEqual(["a/Cast", "", "a/Cast_1", "a/Cast_2"]);
  });

  it("leaves the name of a node that is gone to the one in its place", () => {
    const model = parseModel("(x: f32[2]) -> (y) { a = Neg(x)\n y = Abs(a) }");
    const [known, other] = [...model.graph.nodes()] as [Node, Node];
    const gone = new Set([known, ...parseModel(nested).graph.nodes()]);
    for (const node of gone) node.name = "product";
    known.name = "known";
    other.name = "product";
    nameAdded(model, gone);
    expect(other.name).toBe("product");
  });
});

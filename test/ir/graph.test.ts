import { describe, expect, it } from "vitest";
import {
  attr,
  check,
  Graph,
  type Node,
  nodesWithin,
  parseGraph,
  printGraph,
  Tensor,
  type Value,
} from "../../src/ir/index.js";

const chain = () =>
  parseGraph(`(x: f32[2]) -> (y) {
    a = Relu(x)
    b = Neg(a)
    y = Add(b, a)
  }`);

const nested = () =>
  parseGraph(`(c: bool[], x: f32[2]) -> (y) {
    a = Relu(x)
    y = If<
      then_branch=() -> (t) { t = If<then_branch=() -> (u) { u = Neg(a) }, else_branch=() -> (v = a) {}>(c) },
      else_branch=() -> (e) { e = Add(a, a) }
    >(c)
  }`);

const nodeOf = (graph: Graph, op: string): Node => [...nodesWithin(graph)].find((node) => node.op === op)!;
const ops = (graph: Graph): string[] => [...graph.nodes()].map((node) => node.op);

describe("uses", () => {
  it("count each input of a node, and graph outputs", () => {
    const graph = parseGraph("(x: f32[2]) -> (y, z = x) { y = Add(x, x) }");
    const x = graph.inputs[0]!;
    expect(x.uses.map((use) => (use.kind === "input" ? use.index : use.port.name))).toEqual([0, 1, "z"]);
    expect(graph.firstNode!.output.uses).toHaveLength(1);
  });

  it("count reads and outputs of bodies at any depth", () => {
    const graph = nested();
    const a = graph.firstNode!.output;
    expect(a.useCount).toBe(4);
    expect(a.uses.filter((use) => use.kind === "output")).toHaveLength(1);
    check(graph);
  });

  it("move to the replacement everywhere, and ports keep their names", () => {
    const graph = nested();
    const [a, x] = [graph.firstNode!.output, graph.inputs[1]!];
    graph.replaceUses(a, x);
    expect([a.useCount, x.useCount]).toEqual([0, 5]);
    graph.removeNode(graph.firstNode!);
    check(graph);
    const ports = [...nodesWithin(graph)].flatMap((node) => node.bodies.flatMap((body) => body.outputs));
    expect(ports.find((port) => port.value === x)!.name).toBe("v");
  });

  it("stay with the node that is excepted", () => {
    const graph = chain();
    const [relu, neg] = [...graph.nodes()] as [Node, Node, Node];
    graph.replaceUses(relu.output, graph.inputs[0]!, neg);
    expect(neg.inputs[0]).toBe(relu.output);
    expect(graph.lastNode!.inputs[1]).toBe(graph.inputs[0]);
    check(graph);
  });

  it("of a removed node's bodies are released", () => {
    const graph = nested();
    const [relu, choice] = [...graph.nodes()] as [Node, Node];
    graph.replaceUses(choice.output, relu.output);
    graph.removeNode(choice);
    expect(relu.output.uses.map((use) => use.kind)).toEqual(["output"]);
    check(graph);
  });

  it("is a copy that may be iterated while the graph changes", () => {
    const graph = chain();
    const a = graph.firstNode!.output;
    for (const use of a.uses) if (use.kind === "input") graph.setInput(use.node, use.index, graph.inputs[0]!);
    expect(a.useCount).toBe(0);
  });
});

describe("edits", () => {
  it("refuse to remove what is read", () => {
    const graph = parseGraph("(x: f32[2]) -> (y) { y = Add(x, $w: f32[2]) }");
    expect(() => graph.removeNode(graph.firstNode!)).toThrow(/still read/);
    expect(() => graph.removeConstant(graph.constants[0]!)).toThrow(/still read/);
    expect(() => graph.dropNodeOutput(graph.firstNode!, 0)).toThrow(/still read/);
    check(graph);
  });

  it("refuse places in other graphs before anything changes", () => {
    const [graph, other] = [chain(), chain()];
    expect(() => graph.moveBefore(graph.firstNode!, other.firstNode!)).toThrow(/^internal:/);
    expect(() => graph.moveBefore(other.firstNode!, null)).toThrow(/^internal:/);
    expect(() => graph.addNode({ op: "Abs", inputs: [], outputs: [] }, other.firstNode!)).toThrow(/^internal:/);
    expect(ops(graph)).toEqual(["Relu", "Neg", "Add"]);
    check(graph);
    check(other);
  });

  it("refuse a body that another node owns", () => {
    const graph = nested();
    const { attributes } = graph.lastNode!;
    expect(() => graph.addNode({ op: "If", inputs: [], attributes, outputs: [] })).toThrow(/belongs to/);
    check(graph);
  });

  it("grow inputs as far as they are set", () => {
    const graph = chain();
    graph.setInput(graph.firstNode!, 2, graph.inputs[0]!);
    expect(graph.firstNode!.inputs.map((value) => value?.label ?? null)).toEqual(["x", null, "x"]);
    check(graph);
  });

  it("drop trailing outputs and blank those in between", () => {
    const graph = parseGraph("(x: f32[2]) -> (c) { a, b, c, d = Split(x) }");
    const node = graph.firstNode!;
    graph.dropNodeOutput(node, 1);
    graph.dropNodeOutput(node, 3);
    expect(node.outputs.map((value) => value?.label ?? null)).toEqual(["a", null, "c"]);
    check(graph);
  });

  it("set attributes but not bodies", () => {
    const graph = chain();
    graph.setAttribute(graph.firstNode!, "axis", attr.int(-1));
    expect(graph.firstNode!.int("axis", 0)).toBe(-1);
    expect(() => graph.setAttribute(graph.firstNode!, "body", attr.graph(new Graph()))).toThrow(/^internal:/);
    expect(() => nested().removeAttribute(nested().lastNode!, "then_branch")).toThrow(/^internal:/);
  });
});

describe("iteration", () => {
  const visited = (graph: Graph, at: (node: Node) => void): string[] => {
    const seen: string[] = [];
    for (const node of graph.nodes()) {
      seen.push(node.op);
      at(node);
    }
    return seen;
  };
  const bypass = (graph: Graph, node: Node): void => {
    graph.replaceUses(node.output, node.inputs[0] as Value);
    graph.removeNode(node);
  };

  it("goes on when the current node is removed", () => {
    const graph = chain();
    expect(visited(graph, (node) => node.op !== "Add" && bypass(graph, node))).toEqual(["Relu", "Neg", "Add"]);
    expect(ops(graph)).toEqual(["Add"]);
  });

  it("passes over a later node that is removed", () => {
    const graph = chain();
    expect(visited(graph, (node) => node.op === "Relu" && bypass(graph, nodeOf(graph, "Neg")))).toEqual([
      "Relu",
      "Add",
    ]);
  });

  it("goes on when the current and the next node are removed", () => {
    const graph = chain();
    const both = (node: Node): void => {
      if (node.op !== "Relu") return;
      bypass(graph, node);
      bypass(graph, nodeOf(graph, "Neg"));
    };
    expect(visited(graph, both)).toEqual(["Relu", "Add"]);
  });

  it("visits what is put behind the current node, not what is put in front of it", () => {
    const graph = chain();
    const add = (before: Node | null, op: string) =>
      graph.addNode({ op, inputs: [], outputs: [{ label: op }] }, before);
    const both = (node: Node): void => {
      if (node.op !== "Neg") return;
      add(node, "Before");
      add(node.next, "After");
    };
    expect(visited(graph, both)).toEqual(["Relu", "Neg", "After", "Add"]);
    expect(ops(graph)).toEqual(["Relu", "Before", "Neg", "After", "Add"]);
  });

  it("ends where nodes are added at the end only as long as they are", () => {
    const graph = chain();
    let left = 3;
    visited(graph, () => left-- > 0 && graph.addNode({ op: "More", inputs: [], outputs: [] }));
    expect(graph.nodeCount).toBe(6);
  });
});

it("keeps the order of nodes through moves", () => {
  const graph = parseGraph("(x: f32[2]) -> (b) { a = Relu(x)\n b = Neg(x) }");
  graph.moveBefore(graph.lastNode!, graph.firstNode!);
  expect(ops(graph)).toEqual(["Neg", "Relu"]);
  graph.moveBefore(graph.firstNode!, null);
  expect(ops(graph)).toEqual(["Relu", "Neg"]);
  expect(printGraph(graph)).toContain("b = Neg(x)");
  check(graph);
});

it("types constants by their tensor", () => {
  const value = new Graph().addConstant("w", Tensor.f32([2, 1], [1, 2]));
  expect([value.dtype, value.shape, value.isGraphInput]).toEqual(["f32", [2, 1], false]);
});

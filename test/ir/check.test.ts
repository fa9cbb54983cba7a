import { describe, expect, it } from "vitest";
import { check, Graph, type Node, parseGraph, type Value } from "../../src/ir/index.js";
import { nodeInternals } from "../../src/ir/node.js";
import { linkUse, unlinkUse } from "../../src/ir/value.js";

const sample = () =>
  parseGraph(`(c: bool[], x: f32[2]) -> (y) {
    a = Relu(x)
    b = Neg(a)
    y = If<then_branch=() -> (t) { t = Abs(b) }, else_branch=() -> (e) { e = Neg(b) }>(c)
  }`);

const parts = (graph: Graph) => {
  const [relu, neg, choice] = [...graph.nodes()] as [Node, Node, Node];
  return { relu, neg, choice, x: graph.inputs[1] as Value, body: choice.bodies[0] as Graph };
};

describe("check", () => {
  it("accepts a sound graph", () => {
    check(sample());
  });

  const faults: Record<string, [fault: (graph: Graph) => void, told: RegExp]> = {
    "a read before the value is made": [(g) => g.moveBefore(parts(g).neg, parts(g).relu), /Neg:b reads a before/],
    "a read of a body's value from outside": [
      (g) => g.addNode({ op: "Abs", inputs: [parts(g).body.lastNode!.output], outputs: [] }),
      /reads t before it is made, or from where it cannot be seen/,
    ],
    "a read of another branch's value": [
      (g) => {
        const [one, two] = parts(g).choice.bodies;
        two!.setInput(two!.lastNode!, 0, one!.lastNode!.output);
      },
      /reads t before/,
    ],
    "a read of another model's value": [
      (g) => g.setInput(parts(g).relu, 0, new Graph().addInput("z", null)),
      /reads z/,
    ],
    "a node's value that the body reads too early": [
      (g) => parts(g).body.setInput(parts(g).body.lastNode!, 0, parts(g).choice.output),
      /reads y before/,
    ],
    "an output of an unseen value": [(g) => g.addOutput("z", parts(g).body.lastNode!.output), /output z reads t/],
    "two outputs of one name": [(g) => g.addOutput("y", parts(g).relu.output), /two outputs are called y/],
    "a body of another owner": [(g) => (parts(g).body.owner = parts(g).relu), /has another owner/],
    "a value that forgot a reader": [
      (g) => unlinkUse(parts(g).x, parts(g).x.uses[0]!),
      /x is read 1 times and knows of 0/,
    ],
    "a value that forgot an output": [
      (g) => unlinkUse(parts(g).choice.output, parts(g).choice.output.uses[0]!),
      /y is read 1 times and knows of 0/,
    ],
    "a value that imagines a reader": [
      (g) => linkUse(parts(g).x, { kind: "input", node: parts(g).neg, index: 0 }),
      /x thinks that Neg:b reads it/,
    ],
    "a value that imagines an output": [
      (g) => linkUse(parts(g).x, { kind: "output", graph: g, port: { name: "q", value: parts(g).x, info: null } }),
      /x thinks that output q reads it/,
    ],
    "a reader that was removed": [
      (g) => {
        const { neg, x } = parts(g);
        const gone = g.addNode({ op: "Abs", inputs: [x], outputs: [] }, neg);
        const [use] = x.uses.slice(-1);
        g.removeNode(gone);
        nodeInternals(gone).inputs[0] = x;
        linkUse(x, use!);
      },
      /x thinks that Abs/,
    ],
    "a node that is taken for removed": [(g) => (nodeInternals(parts(g).neg).attached = false), /Abs:t reads b before/],
    "a constant that is read after it is removed": [
      (g) => {
        const w = g.addConstant("w", parseGraph("() -> ($k: f32[1]) {}").constants[0]!.constant!);
        g.removeConstant(w);
        g.setInput(parts(g).relu, 1, w);
      },
      /reads w/,
    ],
  };
  it.each(Object.entries(faults))("finds %s", (_, [fault, told]) => {
    const graph = sample();
    fault(graph);
    expect(() => check(graph)).toThrow(told);
    expect(() => check(graph)).toThrow(/^internal: /);
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { check, countNodes, type Model, opsetOf, parseModel, printGraph } from "../../src/ir/index.js";
import { defineGraphPass, defineRewrite, type PassEvent, PassFailure, runPasses } from "../../src/rewrite/index.js";

const TEXT = `(x: f32[2]) -> (y) {
  a = Relu(x)
  b = Relu(a)
  y = Exp(b)
}`;
const model = (): Model => parseModel(TEXT);

const reluToAbs = defineRewrite({
  name: "relu-to-abs",
  summary: "For tests",
  numerics: "lossy",
  roots: ["Relu"],
  rewrite: (relu, { create }) => create("Abs", [relu.inputs[0]!]),
});

describe("runPasses", () => {
  it("applies a rewrite at every root and reports how often", async () => {
    const subject = model();
    const [report] = await runPasses(subject, [reluToAbs], { check: true, clock: () => 0 });
    expect(report).toEqual({ name: "relu-to-abs", applied: 2, skipped: [], durationMs: 0 });
    expect([...subject.graph.nodes()].map(({ op }) => op)).toEqual(["Abs", "Abs", "Exp"]);
  });

  it("keeps the root's label, name and origin on the node that replaces it", async () => {
    const subject = model();
    subject.graph.firstNode!.name = "first";
    await runPasses(subject, [reluToAbs]);
    const node = subject.graph.firstNode!;
    expect([node.name, node.output.label, node.provenance]).toEqual(["first", "a", ["Relu:a"]]);
  });

  it("runs what runs last when the others are done, and not again", async () => {
    const back = { ...reluToAbs, roots: ["Abs"], name: "abs-to-relu", runsLast: true as const };
    const subject = model();
    const reports = await runPasses(subject, [
      { ...back, rewrite: (abs, { create }) => create("Relu", [abs.inputs[0]!]) },
      reluToAbs,
    ]);
    expect(reports.map(({ name, applied }) => [name, applied])).toEqual([
      ["abs-to-relu", 2],
      ["relu-to-abs", 2],
    ]);
    expect([...subject.graph.nodes()].map(({ op }) => op)).toEqual(["Relu", "Relu", "Exp"]);
  });

  it("stops after the applications that the caller allows", async () => {
    const subject = model();
    await runPasses(subject, [reluToAbs], { maxApplications: new Map([["relu-to-abs", 1]]) });
    expect([...subject.graph.nodes()].map(({ op }) => op)).toEqual(["Abs", "Relu", "Exp"]);
  });

  it("leaves the nodes that the caller names, and goes on with the next, in a pass over the whole graph as well", async () => {
    const isBarred = (_: string, node: string): boolean => node === "Relu:a";
    const wholesale = defineGraphPass({
      name: "wholesale",
      summary: "For tests",
      numerics: "lossy",
      run({ model: { graph }, claim }) {
        for (const node of graph.nodes()) {
          if (!node.is("Relu") || !claim(node.displayName)) continue;
          graph.replaceUses(node.output, node.inputs[0]!);
          graph.removeNode(node);
        }
      },
    });
    for (const pass of [reluToAbs, wholesale]) {
      const subject = model();
      const [report] = await runPasses(subject, [pass], { check: true, isBarred });
      expect(report!.applied).toBe(1);
      expect([...subject.graph.nodes()].map(({ displayName }) => displayName)).toContain("Relu:a");
    }
  });

  it("withdraws what a rewrite made before it declined, and keeps the reason once", async () => {
    const subject = model();
    const before = printGraph(subject.graph);
    const hesitant = defineRewrite({
      ...reluToAbs,
      rewrite(relu, { create, skip }) {
        const first = create("Abs", [relu.inputs[0]!]);
        create("Neg", [first.output]);
        return skip("on second thoughts");
      },
    });
    const [report] = await runPasses(subject, [hesitant], { check: true });
    expect(printGraph(subject.graph)).toBe(before);
    check(subject.graph);
    expect(report!.skipped).toEqual([
      { node: "Relu:a", reason: "on second thoughts" },
      { node: "Relu:b", reason: "on second thoughts" },
    ]);
  });

  it("withdraws what a failing rewrite made, and names pass and node", async () => {
    const subject = model();
    const before = printGraph(subject.graph);
    const broken = defineRewrite({
      ...reluToAbs,
      rewrite(relu, { create }) {
        create("Abs", [relu.inputs[0]!]);
        throw new Error("internal: oops");
      },
    });
    const failure = await runPasses(subject, [broken]).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(PassFailure);
    expect(failure).toMatchObject({ pass: "relu-to-abs", node: "Relu:a" });
    expect(printGraph(subject.graph)).toBe(before);
  });

  it("refuses a replacement of another type", async () => {
    const subject = parseModel("(x: f32[2]) -> (y) { a = Relu(x) y = Exp(a) }");
    subject.graph.firstNode!.output.type = { dtype: "f32", shape: [2] };
    const wrong = defineRewrite({ ...reluToAbs, rewrite: (relu, { create }) => create("IsNaN", [relu.inputs[0]!]) });
    await expect(runPasses(subject, [wrong])).rejects.toThrow("gives f32, its replacement bool");
  });

  it("removes the nodes and constants that a rewrite leaves behind", async () => {
    const subject = parseModel("(x: f32[2]) -> (y) { a = Add(x, $c: f32[2]) y = Relu(a) }");
    const past = defineRewrite({
      ...reluToAbs,
      rewrite: (relu, { create }) => create("Abs", [relu.inputs[0]!.producer!.inputs[0]!]),
    });
    await runPasses(subject, [past], { check: true });
    expect([countNodes(subject.graph), subject.graph.constants.length]).toEqual([1, 0]);
    expect(subject.graph.firstNode!.provenance).toEqual(["Add:a", "Relu:y"]);
  });

  it("replaces further values that a new node makes, and imports its domain", async () => {
    const subject = parseModel(`(x: f32[2], z: f32[2]) -> (y, t) {
      a = Add(x, z)
      t = Tanh(a)
      y = Relu(a)
    }`);
    const both = defineRewrite({
      ...reluToAbs,
      rewrite(relu, { create, alsoReplace }) {
        const sum = relu.inputs[0]!;
        const options = { domain: "com.example", labels: [relu.output.label, null, "sum"], before: sum.producer! };
        const made = create("SumAndRelu", sum.producer!.inputs, {}, options);
        alsoReplace(sum, made.outputs[2]!);
        return [made.outputs[0]!];
      },
    });
    await runPasses(subject, [both], { check: true });
    expect(printGraph(subject.graph)).toBe(`(x: f32[2], z: f32[2]) -> (y, t) {
  y, _, a = com.example::SumAndRelu(x, z)
  t = Tanh(a)
}`);
    expect([...subject.opsets]).toEqual([
      ["", 17],
      ["com.example", 1],
    ]);
  });

  it("makes no operator that is a function of the model", async () => {
    const subject: Model = { ...model(), functions: new Set(["::Abs"]) };
    const [report] = await runPasses(subject, [reluToAbs]);
    expect(report!.applied).toBe(0);
    expect(report!.skipped[0]!.reason).toBe("the model has a function of its own called Abs");
  });

  it("stops at the cap when passes undo each other", async () => {
    const back = defineRewrite({
      ...reluToAbs,
      name: "abs-to-relu",
      roots: ["Abs"],
      rewrite: (abs, { create }) => create("Relu", [abs.inputs[0]!]),
    });
    const reports = await runPasses(model(), [reluToAbs, back], { maxRounds: 3 });
    expect(reports.map(({ applied }) => applied)).toEqual([6, 6]);
  });

  it("rewrites inside bodies", async () => {
    const subject = parseModel(`(x: f32[2], c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { t = Relu(x) }, else_branch=() -> (e) { e = Neg(x) }>(c)
    }`);
    await runPasses(subject, [reluToAbs], { check: true });
    expect(printGraph(subject.graph)).toContain("t = Abs(x)");
  });

  describe("a rewrite that needs a later opset", () => {
    const needy = defineRewrite({ ...reluToAbs, minOpset: 10 });
    const raised: number[] = [];
    const raise = (subject: Model, version: number): null => {
      raised.push(version);
      subject.opsets.set("", version);
      return null;
    };
    beforeEach(() => void raised.splice(0));

    it("is left out when nobody may raise it", async () => {
      const [report] = await runPasses(parseModel(TEXT, { opset: 9 }), [needy]);
      expect(report).toMatchObject({ applied: 0, skipped: [] });
    });

    it("raises it once, and runs", async () => {
      const subject = parseModel(TEXT, { opset: 9 });
      const seen: number[] = [];
      const noting = defineRewrite({
        ...needy,
        rewrite: (root, context) => {
          seen.push(context.opset);
          return needy.rewrite(root, context);
        },
      });
      const [report] = await runPasses(subject, [noting], { raiseOpset: raise, check: true });
      expect([report!.applied, raised, opsetOf(subject), seen]).toEqual([2, [10], 10, [10, 10, 10]]);
    });

    it("leaves the opset and the graph where it has nothing to do", async () => {
      const subject = parseModel(TEXT, { opset: 9 });
      const before = printGraph(subject.graph);
      const picky = defineRewrite({
        ...needy,
        rewrite(root, { create, skip }) {
          create("Abs", [root.inputs[0]!]);
          return skip("not this one");
        },
      });
      const [report] = await runPasses(subject, [picky], { raiseOpset: raise });
      expect(report!.skipped.map(({ reason }) => reason)).toEqual(["not this one", "not this one"]);
      expect([raised, opsetOf(subject), printGraph(subject.graph)]).toEqual([[], 9, before]);
      check(subject.graph);
    });

    it("says at each node why the opset stays, having asked once a round", async () => {
      const subject = parseModel(TEXT, { opset: 9 });
      let asked = 0;
      const raiseOpset = () => `Foo cannot follow (${++asked})`;
      const [report] = await runPasses(subject, [needy], { raiseOpset });
      expect(report).toMatchObject({
        applied: 0,
        skipped: [
          { node: "Relu:a", reason: "needs opset 10: Foo cannot follow (1)" },
          { node: "Relu:b", reason: "needs opset 10: Foo cannot follow (1)" },
        ],
      });
    });

    it("raises nothing when it is allowed no application", async () => {
      const subject = parseModel(TEXT, { opset: 9 });
      await runPasses(subject, [needy], { raiseOpset: raise, maxApplications: new Map([["relu-to-abs", 0]]) });
      expect([raised, opsetOf(subject)]).toEqual([[], 9]);
    });

    it("names pass and node when it fails while it is tried out", async () => {
      const broken = defineRewrite({
        ...needy,
        rewrite: () => {
          throw new Error("internal: oops");
        },
      });
      const failure = runPasses(parseModel(TEXT, { opset: 9 }), [broken], { raiseOpset: raise });
      await expect(failure).rejects.toMatchObject({ pass: "relu-to-abs", node: "Relu:a" });
    });
  });

  it("runs only the passes it is told to, in their order", async () => {
    const ran: string[] = [];
    const passes = ["a", "b", "c"].map((name) =>
      defineGraphPass({ name, summary: "For tests", numerics: "exact", run: () => void ran.push(name) }),
    );
    await runPasses(model(), passes, { skip: ["b"] });
    await runPasses(model(), passes, { only: ["c", "b"] });
    expect(ran).toEqual(["a", "c", "b", "c"]);
  });

  it("refuses a pass name that nobody has, with the nearest one", async () => {
    await expect(runPasses(model(), [reluToAbs], { skip: ["relu-to-ab"] })).rejects.toMatchObject({
      code: "PASS_UNKNOWN",
      hint: 'Did you mean "relu-to-abs"? `infer-opt passes` lists them.',
      fields: { pass: "relu-to-ab" },
    });
  });

  it("tells what happens as it happens", async () => {
    const events: PassEvent[] = [];
    await runPasses(model(), [reluToAbs], { onEvent: (event) => events.push(event), clock: () => 0 });
    expect(events.map(({ type, ...rest }) => [type, "node" in rest ? rest.node : rest.applied])).toEqual([
      ["applied", "Relu:a"],
      ["applied", "Relu:b"],
      ["pass", 2],
      ["pass", 0],
    ]);
  });

  it("names the pass that broke the graph", async () => {
    const vandal = defineGraphPass({
      name: "vandal",
      summary: "For tests",
      numerics: "exact",
      run({ model: { graph }, claim }) {
        claim("everything");
        graph.moveBefore(graph.lastNode!, graph.firstNode);
      },
    });
    await expect(runPasses(model(), [vandal], { check: true })).rejects.toMatchObject({ pass: "vandal" });
  });
});

import { describe, expect, it } from "vitest";
import { check, fromOnnx, type Graph, parseModel, toOnnx } from "../../../src/ir/index.js";
import type { GraphProto } from "../../../src/onnx/index.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import { long } from "../../onnx/build.js";

/** Node lines of what is written: `output = Op(input)`, with those of bodies below. */
function written(text: string, edit: (graph: Graph) => void = () => {}): string[] {
  const model = parseModel(text);
  edit(model.graph);
  check(model.graph);
  return linesOf(toOnnx(model).graph!);
}

function linesOf(graph: GraphProto): string[] {
  const names = (infos: { name?: string }[] | undefined) => (infos ?? []).map(({ name }) => name).join(",");
  const nodes = graph.node!.flatMap((node) => [
    `${node.output!.join(",")} = ${node.op_type}(${node.input!.join(",")})`,
    ...(node.attribute?.flatMap(({ g }) => (g ? linesOf(g).map((line) => `  ${line}`) : [])) ?? []),
  ]);
  const constants = names(graph.initializer);
  return [`${names(graph.input)} -> ${names(graph.output)}${constants && ` with ${constants}`}`, ...nodes];
}

describe("types", () => {
  it("of a body's inputs stay as the file has them where less is known now", () => {
    const text = `(x: f32[2], n: i64[], c: bool[]) -> (y) {
      y = Loop<body=(i: i64[], k: bool[], s: f32[2]) -> (k, t) { t = Neg(s) }>(n, c, x)
    }`;
    const model = parseModel(text);
    const body = () => toOnnx(model).graph!.node![0]!.attribute![0]!.g!;
    const state = model.graph.firstNode!.bodies[0]!.inputs[2]!;
    state.info = body().input![2]!;
    state.type = { dtype: "f32", shape: null };
    expect(body().input![2]!.type!.tensor_type!.shape!.dim).toHaveLength(1);
  });
});

describe("outputs", () => {
  it("are listed as often as the file lists them, and those of bodies once a place", () => {
    const twice = [{ name: "t" }, { name: "t" }];
    const neg = { op_type: "Neg", input: ["x"], output: ["t"] };
    const branch = { name: "then_branch", type: 5, g: { name: "b", node: [neg], output: twice } };
    const node = [neg, { op_type: "If", input: ["c"], output: ["a", "b"], attribute: [branch] }];
    const model = fromOnnx({
      ...{ path: "", sizeBytes: 0, ranges: [] },
      message: {
        ir_version: long(8),
        opset_import: [{ domain: "", version: long(17) }],
        graph: { name: "g", node, input: [{ name: "x" }, { name: "c" }], output: [...twice, { name: "a" }, twice[0]!] },
      },
    });
    expect(linesOf(toOnnx(model).graph!)).toEqual([
      "x,c -> t,t,a,t",
      "t = Neg(x)",
      "a,b = If(c)",
      "   -> t_1,t_1_1",
      "  t_1 = Neg(x)",
      "  t_1_1 = Identity(t_1)",
    ]);
  });
});

describe("names", () => {
  it("of values behind ports are the ports'", () => {
    expect(written("(x: f32[2]) -> (result = a) { a = Relu(x) }")).toEqual(["x -> result", "result = Relu(x)"]);
    expect(written("(x: f32[2]) -> (result = $w: f32[2]) {}")).toEqual(["x -> result with result"]);
  });

  it("are made unique in one graph", () => {
    const lines = written("(x: f32[2]) -> (y) { y = Add(x, $a: f32[2]) }", (graph) => {
      const other = graph.addConstant("a", graph.constants[0]!.constant!);
      graph.setInput(graph.firstNode!, 2, other);
      graph.addNode({ op: "Abs", inputs: [other], outputs: [{ label: "y" }, { label: "" }] });
    });
    expect(lines).toEqual(["x -> y with a,a_1", "y = Add(x,a,a_1)", "y_1,value_1 = Abs(a_1)"]);
  });

  it("of ports stay in bodies of operators of other domains, unless the body reads what they would hide", () => {
    const text = (read: string): string => `(c: bool[], x: f32[2]) -> (z) {
      z = "com.example::Search"<body=(x: f32[2]) -> (c = y) { y = Neg(${read}) }>(c)
    }`;
    expect(written(text("x"))).toEqual(["c,x -> z", "z = Search(c)", "  x -> c", "  c = Neg(x)"]);
    const model = fromOnnx({ path: "", sizeBytes: 0, ranges: [], message: toOnnx(parseModel(text("x"))) });
    makeNamesUnique(model);
    expect(linesOf(toOnnx(model).graph!)).toContain("  x -> c");
    expect(
      written(text("x"), ({ inputs, firstNode }) => {
        const inner = firstNode!.bodies[0]!;
        inner.setInput(inner.firstNode!, 0, inputs[1]!);
      }),
    ).toEqual(["c,x -> z", "z = Search(c)", "  x_1 -> c", "  c = Neg(x)"]);
  });

  it("of bodies avoid those around them, also those that come later", () => {
    const lines = written(`(c: bool[]) -> (z) {
      y = If<then_branch=() -> (z) { y = Neg(c)\n z = Abs(y) }, else_branch=() -> (c = e) { e = Neg(c) }>(c)
      z = Abs(y)
    }`);
    expect(lines).toEqual([
      "c -> z",
      "y = If(c)",
      "   -> z_1",
      "  y_1 = Neg(c)",
      "  z_1 = Abs(y_1)",
      "   -> c_1",
      "  c_1 = Neg(c)",
      "z = Abs(y)",
    ]);
  });

  it("are kept where a body and its sibling use the same", () => {
    const lines = written(`(c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { t = Neg(c) }, else_branch=() -> (t) { t = Abs(c) }>(c)
    }`);
    expect(lines).toEqual(["c -> y", "y = If(c)", "   -> t", "  t = Neg(c)", "   -> t", "  t = Abs(c)"]);
  });

  it("of an input that a body's port has taken give way", () => {
    const lines = written("(n: i64[]) -> (y) { y = Loop<body=(v: f32[2]) -> (v) {}>(n) }", (graph) => {
      const body = graph.firstNode!.bodies[0]!;
      body.replaceUses(body.inputs[0]!, graph.inputs[0]!);
    });
    expect(lines).toEqual(["n -> y", "y = Loop(n)", "  v_1 -> v", "  v = Identity(n)"]);
  });

  it("of the main graph's inputs are public: an output of that name must be the input", () => {
    const clash = () =>
      written("(x: f32[2]) -> (x) { a = Relu(x) }", (graph) =>
        graph.replaceUses(graph.inputs[0]!, graph.firstNode!.output, graph.firstNode!),
      );
    expect(clash).toThrow(/internal: the output x is not the input/);
  });
});

describe("an Identity is put", () => {
  it("between an input and a port of another name", () => {
    expect(written("(x: f32[2]) -> (y = x) {}")).toEqual(["x -> y", "y = Identity(x)"]);
    expect(written("(x: f32[2]) -> (x) {}")).toEqual(["x -> x"]);
  });

  it("before every further port of one value", () => {
    expect(written("(x: f32[2]) -> (a, b = a, c = a) { a = Relu(x) }")).toEqual([
      "x -> a,b,c",
      "a = Relu(x)",
      "b = Identity(a)",
      "c = Identity(a)",
    ]);
  });

  it("into a body that hands an outer value on, even under its own name", () => {
    const lines = written("(c: bool[]) -> (y) { y = If<then_branch=() -> (c) {}, else_branch=() -> (e = c) {}>(c) }");
    expect(lines).toEqual(["c -> y", "y = If(c)", "   -> c_1", "  c_1 = Identity(c)", "   -> e", "  e = Identity(c)"]);
  });
});

import { describe, expect, it } from "vitest";
import { check, fromOnnx, loadModel, printGraph } from "../../../src/ir/index.js";
import type { AttributeProto, GraphProto, ModelProto, NodeProto } from "../../../src/onnx/index.js";
import { codeOf, FLOAT, floats, long, modelFile, modelOf, valueInfo } from "../../onnx/build.js";

const load = (graph: GraphProto, more: ModelProto = {}) => loadModel(modelFile(graph, more));

const relu = (input: string, output: string): NodeProto => ({ op_type: "Relu", input: [input], output: [output] });
const body = (g: GraphProto): AttributeProto => ({ name: "then_branch", type: 5, g: { name: "b", ...g } });

describe("fromOnnx", () => {
  it("puts nodes into execution order, also by what their bodies read", () => {
    const { graph } = load({
      input: [valueInfo("x")],
      output: [valueInfo("d")],
      node: [
        {
          op_type: "If",
          input: ["c"],
          output: ["d"],
          attribute: [body({ node: [relu("b", "t")], output: [valueInfo("t")] })],
        },
        { op_type: "Not", input: ["b"], output: ["c"] },
        relu("a", "b"),
        relu("x", "a"),
      ],
    });
    check(graph);
    expect([...graph.nodes()].map((node) => node.output.label)).toEqual(["a", "b", "c", "d"]);
  });

  it("keeps the order of nodes that are in order", () => {
    const node = [relu("x", "b"), relu("x", "a"), relu("b", "c")];
    const { graph } = load({ input: [valueInfo("x")], node, output: [valueInfo("c")] });
    expect([...graph.nodes()].map((each) => each.output.label)).toEqual(["b", "a", "c"]);
  });

  it("sorts long chains without running out of stack", () => {
    const node = Array.from({ length: 20_000 }, (_, i) => relu(`v${i}`, `v${i + 1}`)).reverse();
    const { graph } = load({ input: [valueInfo("v0")], node });
    expect(graph.lastNode!.output.label).toBe("v20000");
  });

  it("takes a model that lists an output twice, and a body that does", () => {
    const twice = [valueInfo("t"), valueInfo("t")];
    const named = load({ input: [valueInfo("x")], node: [relu("x", "t")], output: twice });
    check(named.graph);
    expect(named.graph.outputs.map(({ name }) => name)).toEqual(["t"]);
    const node = {
      ...{ op_type: "If", input: ["c"], output: ["a", "b"] },
      attribute: [body({ node: [relu("x", "t")], output: twice })],
    };
    const { graph } = load({ input: [valueInfo("c"), valueInfo("x")], node: [node], output: [valueInfo("a")] });
    check(graph);
    expect(graph.lastNode!.bodies[0]!.outputs.map(({ name }) => name)).toEqual(["t", "t_1"]);
  });

  const refused: Record<string, [GraphProto, string]> = {
    "a cycle": [{ node: [relu("a", "b"), relu("b", "a")] }, "GRAPH_CYCLE"],
    "a node that reads itself": [{ node: [relu("a", "a")] }, "GRAPH_CYCLE"],
    "a name that nothing produces": [{ node: [relu("none", "a")] }, "GRAPH_DANGLING"],
    "a name that only a body of another node produces": [
      {
        node: [
          { op_type: "If", output: ["y"], attribute: [body({ initializer: [floats("in", 1)] })] },
          relu("in", "z"),
        ],
      },
      "GRAPH_DANGLING",
    ],
    "an output that nothing produces": [{ output: [valueInfo("y")] }, "GRAPH_DANGLING"],
    "two nodes that produce one name": [
      { input: [valueInfo("x")], node: [relu("x", "a"), relu("x", "a")] },
      "GRAPH_DUPLICATE",
    ],
    "two inputs of one name": [{ input: [valueInfo("x"), valueInfo("x")] }, "GRAPH_DUPLICATE"],
    "two initializers of one name": [{ initializer: [floats("w", 1), floats("w", 1)] }, "GRAPH_DUPLICATE"],
    "two defaults of one input": [
      { input: [valueInfo("w", [1])], initializer: [floats("w", 1), floats("w", 1)] },
      "GRAPH_DUPLICATE",
    ],
    "a node that produces an input": [{ input: [valueInfo("x")], node: [relu("x", "x")] }, "GRAPH_DUPLICATE"],
    "an input without a name": [{ input: [{}] }, "GRAPH_INVALID"],
    "a node without an operator": [{ node: [{ output: ["y"] }] }, "GRAPH_INVALID"],
    "two attributes of one name": [
      { node: [{ op_type: "If", output: ["y"], attribute: [body({}), body({})] }] },
      "GRAPH_INVALID",
    ],
  };
  it.each(Object.entries(refused))("refuses %s", (_, [graph, code]) => {
    expect(codeOf(() => load(graph))).toBe(code);
  });

  it("lets a body's name hide one around it", () => {
    const { graph } = load({
      input: [valueInfo("x")],
      node: [
        relu("x", "a"),
        {
          op_type: "If",
          input: ["x"],
          output: ["y"],
          attribute: [body({ initializer: [floats("a", 1)], node: [relu("a", "t")], output: [valueInfo("t")] })],
        },
      ],
      output: [valueInfo("y")],
    });
    check(graph);
    expect(graph.lastNode!.bodies[0]!.firstNode!.inputs[0]!.constant!.dims).toEqual([1]);
  });

  it("lets a body name one output twice, as loops that collect what they carry do", () => {
    const g = { input: [valueInfo("v")], output: [valueInfo("v"), valueInfo("v")] };
    const { graph } = load({ node: [{ op_type: "Loop", output: ["y"], attribute: [body(g)] }] });
    check(graph);
    expect(graph.firstNode!.bodies[0]!.outputs.map(({ name }) => name)).toEqual(["v", "v_1"]);
  });

  it("takes initializers that are inputs for constants before IR version 4, and for defaults since", () => {
    const graph = { input: [valueInfo("x"), valueInfo("w")], initializer: [floats("w", 2)], node: [] };
    const old = load(graph, { ir_version: long(3) }).graph;
    expect([old.inputs.map((v) => v.label), old.constants.map((v) => v.label)]).toEqual([["x"], ["w"]]);
    const now = load(graph, { ir_version: long(4) }).graph;
    expect(now.inputs.map((v) => [v.label, v.constant, v.origin.defaultTensor?.dims])).toEqual([
      ["x", null, undefined],
      ["w", null, [2]],
    ]);
  });

  it("reads ai.onnx and the empty domain as one", () => {
    const model = load(
      { node: [{ ...relu("", "y"), domain: "ai.onnx" }] },
      { opset_import: [{ domain: "ai.onnx", version: long(13) }] },
    );
    expect(model.opsets).toEqual(new Map([["", 13]]));
    expect(model.graph.firstNode!.is("Relu")).toBe(true);
  });

  it("finds the type of an attribute that does not say it, as old files do not", () => {
    const attribute: AttributeProto[] = [
      { name: "f", f: 1.5 },
      { name: "i", i: long(0) },
      { name: "s", s: new Uint8Array([65]) },
      { name: "ints", ints: [long(1)] },
      { name: "floats", floats: [1] },
      { name: "t", t: floats("", 1) },
    ];
    const node = load({ node: [{ op_type: "Op", output: ["y"], attribute }] }).graph.firstNode!;
    expect([...node.attributes.values()].map(({ type }) => type)).toEqual([
      "float",
      "int",
      "string",
      "ints",
      "floats",
      "tensor",
    ]);
  });
});

describe("Constant nodes", () => {
  const constant = (attribute: AttributeProto, more: NodeProto = {}): GraphProto => ({
    node: [{ op_type: "Constant", output: ["k"], attribute: [attribute], ...more }],
    output: [{ name: "k" }],
  });
  const text = (t: string): Uint8Array => new TextEncoder().encode(t);

  it.each<[AttributeProto, string]>([
    [{ name: "value", type: 4, t: floats("", 2) }, "f32[2] = {0.0, 1.0}"],
    [{ name: "value_float", type: 1, f: 2.5 }, "f32[] = {2.5}"],
    [{ name: "value_int", type: 2, i: long(-(2n ** 63n)) }, "i64[] = {-9223372036854775808}"],
    [{ name: "value_string", type: 3, s: text("a") }, 'string[] = {"a"}'],
    [{ name: "value_floats", type: 6, floats: [1, 2] }, "f32[2] = {1.0, 2.0}"],
    [{ name: "value_ints", type: 7, ints: [long(3)] }, "i64[1] = {3}"],
    [{ name: "value_strings", type: 8, strings: [text("a"), text("b")] }, 'string[2] = {"a", "b"}'],
    [{ name: "value_ints", type: 7 }, "i64[0] = {}"],
    [{ name: "value_float", f: 2.5 }, "f32[] = {2.5}"],
  ])("%# become constants: %o", (attribute, shown) => {
    const { graph } = load(constant(attribute));
    expect(graph.nodeCount).toBe(0);
    expect(printGraph(graph)).toContain(`$k: ${shown}`);
  });

  it.each<[string, AttributeProto, NodeProto]>([
    [
      "sparse",
      { name: "sparse_value", type: 11, sparse_tensor: { values: floats("", 1), indices: floats("", 1) } },
      {},
    ],
    ["of another type than their name says", { name: "value_float", type: 2, i: long(1) }, {}],
    ["of a function's attribute", { name: "value", type: 4, ref_attr_name: "a" }, {}],
    ["of another domain", { name: "value_int", type: 2, i: long(1) }, { domain: "mine" }],
  ])("stay nodes when they are %s", (_, attribute, more) => {
    expect(load(constant(attribute, more)).graph.nodeCount).toBe(1);
  });

  it("without an output are no constants of no name", () => {
    const node = [1, 2].map((i) => ({
      op_type: "Constant",
      output: [""],
      attribute: [{ name: "value_int", type: 2, i: long(i) }],
    }));
    expect(load({ node }).graph.constants).toEqual([]);
  });

  it("hand their metadata on once, however often they are read", () => {
    const props = [{ key: "k", value: "v" }];
    const message = modelOf(
      constant({ name: "value", type: 4, t: floats("", 2) }, { metadata_props: props, doc_string: "d" }),
    );
    const wire = { path: "", sizeBytes: 0, message, ranges: [] };
    for (let i = 0; i < 2; i++) {
      expect(fromOnnx(wire).graph.constants[0]!.constant!.extras).toMatchObject({
        metadata_props: props,
        doc_string: "d",
      });
    }
  });
});

it("knows sparse initializers by the name of their values", () => {
  const { graph } = load({
    sparse_initializer: [
      { values: floats("s", 2), indices: { dims: [long(2)], data_type: 7, raw_data: new Uint8Array(16) } },
    ],
    node: [relu("s", "y")],
  });
  check(graph);
  expect([graph.constants[0]!.label, graph.constants[0]!.constant, FLOAT]).toEqual(["s", null, 1]);
});

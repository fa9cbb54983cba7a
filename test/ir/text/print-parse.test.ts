import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import {
  attr,
  check,
  type DType,
  Graph,
  loadModel,
  parseGraph,
  parseModel,
  printGraph,
  Tensor,
  type Value,
} from "../../../src/ir/index.js";

/** Prints, parses and prints again. */
function expectStable(graph: Graph): void {
  const text = printGraph(graph);
  const again = parseGraph(text);
  check(again);
  expect(printGraph(again)).toBe(text);
}

const fixtures = fileURLToPath(new URL("../../../fixtures/models/", import.meta.url));
// Sparse tensors are shown by name only.
const readable = readdirSync(fixtures).filter((name) => name.endsWith(".onnx") && name !== "sparse.onnx");

const oddName = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "x/y:0",
    "_",
    "f32",
    "inf",
    "nan",
    "1",
    "a-",
    "a:",
    "/a/",
    "",
    '"',
    "a b",
    "é",
    "$a",
    "->",
    "?",
  ),
  fc.string({ maxLength: 6 }),
);
const symbol = fc.oneof(fc.nat(4), fc.constant(null), fc.constantFrom("N", "2*N", "floor(N/2) + 1", "?", "_", "3"));
const inputType = fc.option(
  fc.record({
    dtype: fc.constantFrom<DType>("f32", "i64", "bool", "c64"),
    shape: fc.option(fc.array(symbol, { maxLength: 3 })),
  }),
);
const float = fc.float();
const int = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 4 }), { minLength: 1, maxLength: 3 });

const tensor = fc.oneof(
  fc.array(float, { maxLength: 9 }).map((values) => Tensor.f32([values.length], values)),
  fc.array(int, { maxLength: 9 }).map((values) => Tensor.i64([values.length], values)),
  fc.array(fc.double(), { maxLength: 3 }).map((v) => Tensor.ofArray("f64", [v.length], Float64Array.from(v))),
  fc.uint16Array({ minLength: 1, maxLength: 3 }).map((v) =>
    Tensor.ofArray(
      "f16",
      [v.length],
      v.map((each) => ((each & 0x7c00) === 0x7c00 ? 0x7c00 : each)),
    ),
  ),
  fc.uint8Array({ minLength: 1, maxLength: 1 }).map((v) => Tensor.fromBytes("i4", [2], v)),
  texts.map((each) => Tensor.strings([each.length], each.map(bytes))),
  fc.constant(Tensor.scalar("f32", -0)),
);
const attribute = fc.oneof(
  float.map(attr.float),
  int.map(attr.int),
  fc.string({ unit: "grapheme" }).map(attr.string),
  fc.array(float, { maxLength: 3 }).map(attr.floats),
  fc.array(int, { maxLength: 3 }).map(attr.ints),
  texts.map((each) => ({ type: "strings" as const, value: each.map(bytes) })),
  tensor.map(attr.tensor),
  fc.array(tensor, { minLength: 1, maxLength: 2 }).map((value) => ({ type: "tensors" as const, value })),
);

interface NodeRecipe {
  readonly labels: (string | null)[];
  readonly reads: number[];
  readonly constant: Tensor | null;
  readonly attributes: [string, ReturnType<typeof attr.int>][];
  readonly bodies: NodeRecipe[][];
  readonly domain: string;
}
const { nodes } = fc.letrec<{ nodes: NodeRecipe[]; node: NodeRecipe }>((tie) => ({
  nodes: fc.array(tie("node"), { maxLength: 4, depthIdentifier: "body" }),
  node: fc.record({
    labels: fc.array(fc.option(oddName), { minLength: 1, maxLength: 2 }),
    reads: fc.array(fc.nat(20), { maxLength: 3 }),
    constant: fc.option(tensor),
    attributes: fc.uniqueArray(fc.tuple(oddName, attribute), {
      selector: ([name]) => name,
      maxLength: 3,
    }) as fc.Arbitrary<NodeRecipe["attributes"]>,
    bodies: fc.oneof(
      { maxDepth: 2, depthIdentifier: "body" },
      fc.constant<NodeRecipe[][]>([]),
      fc.array(tie("nodes"), { minLength: 1, maxLength: 2 }),
    ),
    domain: fc.constantFrom("", "com.microsoft", "my domain"),
  }),
}));

/** Builds a graph; a read picks one of the values that can be seen, outer ones included. */
function build(inputs: { name: string; type: Value["type"] }[], recipes: NodeRecipe[], outer: readonly Value[]): Graph {
  const graph = new Graph();
  const seen = [...outer, ...inputs.map(({ name, type }) => graph.addInput(name, type))];
  for (const recipe of recipes) {
    if (recipe.constant) seen.push(graph.addConstant("k", recipe.constant));
    const node = graph.addNode({
      op: "Op",
      domain: recipe.domain,
      inputs: recipe.reads.map((at) => (seen.length > 0 && at % 5 !== 4 ? seen[at % seen.length]! : null)),
      attributes: [
        ...recipe.attributes,
        ...recipe.bodies.map((body, i) => [`~body${i}`, attr.graph(build([], body, seen))] as const),
      ],
      outputs: recipe.labels.map((label) => (label === null ? null : { label })),
    });
    for (const value of node.outputs) if (value) seen.push(value);
  }
  for (const [i, value] of seen.slice(-2).entries()) graph.addOutput(i === 0 ? "out" : value.label || "last", value);
  if (graph.outputs.length === 2 && graph.outputs[0]!.name === graph.outputs[1]!.name) graph.removeOutput("out");
  return graph;
}

describe("print and parse", () => {
  it.each(readable)("agree on %s", (name) => {
    expectStable(loadModel(`${fixtures}${name}`).graph);
  });

  it("agree on any graph", () => {
    const input = fc.record({ name: oddName, type: inputType });
    fc.assert(
      fc.property(fc.array(input, { maxLength: 3 }), nodes, (inputs, recipes) => {
        const graph = build(inputs, recipes, []);
        if (new Set(graph.outputs.map(({ name }) => name)).size === graph.outputs.length) expectStable(graph);
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it("agree on lists of bodies", () => {
    const graph = new Graph();
    const w = graph.addConstant("w", Tensor.f32([1], [1]));
    const bodies = [new Graph(), new Graph()];
    for (const body of bodies) body.addOutput("o", w);
    graph.addNode({
      op: "Op",
      inputs: [w],
      attributes: { all: { type: "graphs", value: bodies } },
      outputs: [{ label: "y" }],
    });
    expectStable(graph);
    const owner = parseGraph(printGraph(graph)).constants.map((value) => value.label);
    expect(owner).toEqual(["w"]);
  });

  it("keep a constant with its graph when a body reads it first", () => {
    const text = `(c: bool[]) -> (y) {
  $w: f32[1] = {2.0}
  i = If<else_branch=() -> (e) {
    e = Neg($w)
  }, then_branch=() -> (t) {
    t = Abs($w)
  }>(c)
  y = Add(i, $w)
}`;
    const graph = parseGraph(text);
    expect(graph.constants.map((value) => value.useCount)).toEqual([3]);
    expect(printGraph(graph)).toBe(text);
  });

  it("write a double with all its digits", () => {
    const graph = parseGraph("() -> (y) { y = Op($d: f64[2] = {0.1, 0.10000000149011612}) }");
    const values = new Float64Array(graph.constants[0]!.constant!.bytes().slice().buffer);
    expect([...values]).toEqual([0.1, Math.fround(0.1)]);
    expectStable(graph);
  });
});

describe("printGraph", () => {
  it("shows types on demand, as comments that parse passes over", () => {
    const graph = loadModel(`${fixtures}digits.onnx`).graph;
    const text = printGraph(graph, { types: true });
    expect(text).toMatch(/# f32\[/);
    expect(printGraph(parseGraph(text))).toBe(printGraph(graph));
  });

  it("shows values up to the number asked for", () => {
    const graph = parseGraph("() -> (y) { y = Op($d: i64[3] = {1, 2, 3}) }");
    expect(printGraph(graph, { valuesUpTo: 2 })).toContain("$d: i64[3])");
    expect(printGraph(graph, { valuesUpTo: 3 })).toContain("$d: i64[3] = {1, 2, 3})");
  });
});

describe("parseGraph", () => {
  const faults: [text: string, line: number, column: number, told: RegExp][] = [
    ["", 1, 1, /expected "\("/],
    ["(x) -> (y) {\n  y = Relu(z)\n}", 2, 12, /z is not defined/],
    ["(x) -> (z) {\n  y = Relu(x)\n}", 1, 9, /z is not defined/],
    ["(x, x) -> () {}", 1, 5, /x is defined twice/],
    ["(x) -> () {\n  y = Neg(x)\n  y = Abs(x)\n}", 3, 3, /y is defined twice/],
    ["(x) -> (x, x) {}", 1, 12, /two outputs are called x/],
    ["(x: f99[2]) -> () {}", 1, 5, /f99 is no element type/],
    ["(x) -> () { y = Op<a=b>(x) }", 1, 22, /expected an integer, found b/],
    ["(x) -> () { y = Op<a=1.2.3>(x) }", 1, 22, /expected a number/],
    ["(x) -> () { y = Op<a=[1, q]>(x) }", 1, 26, /expected an integer, found q/],
    ['(x) -> () { y = Op<a="\\q">(x) }', 1, 22, /no JSON string/],
    ['(x) -> () { y = Op<a=["s", 1]>(x) }', 1, 28, /in quotes/],
    ["(x) -> () { y = Op($w: f32[2] = {1, 2, 3}) }", 1, 24, /2 values are needed, 3 are given/],
    ["(x) -> () { y = Op($w: f32[N]) }", 1, 24, /known dimensions/],
    ["(x) -> () { y = Op($w: f32[99999999999]) }", 1, 24, /more than/],
    ["(x) -> () { y = Op($w: i64[1] = {1.5}) }", 1, 34, /expected an integer/],
    ["(x) -> () { y = Op($w: c64[1] = {1}) }", 1, 24, /values of c64/],
    ["(x) -> () { y = Op(x) } more", 1, 25, /expected the end/],
    ["(x) -> (y", 1, 10, /expected more/],
    ["(x) -> () { y = Op(x) @ }", 1, 23, /cannot read "@ }"/],
    ["(x) -> (y = _) {}", 1, 13, /an output needs a value/],
  ];
  it.each(faults)("says where %j is wrong", (text, line, column, told) => {
    try {
      parseGraph(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(InferOptError);
      const { code, message, fields } = error as InferOptError;
      expect([code, fields["line"], fields["column"]]).toEqual(["GRAPH_TEXT", line, column]);
      expect(message).toMatch(told);
    }
  });

  it("refuses bodies without end instead of running out of stack", () => {
    expect(() => parseGraph("() -> () { y = If<b=".repeat(20_000))).toThrow(
      expect.objectContaining({ code: "GRAPH_TEXT" }),
    );
  });

  it("refuses any text in words", () => {
    const word = fc.constantFrom(...'() -> { } < > [ ] , : = $ $w x y f32 i64 1 -1.5 inf "s" _ Relu ? # \n'.split(" "));
    fc.assert(
      fc.property(fc.array(word), (words) => {
        try {
          parseGraph(words.join(" "));
        } catch (error) {
          expect(error).toBeInstanceOf(InferOptError);
        }
      }),
      { seed: 5, numRuns: 1500 },
    );
  });

  it("gives constants without values some of the seed's, the same each time", () => {
    const text = "() -> (y) { y = Op($w: f32[4]) }";
    const values = (seed: number) => [...parseGraph(text, { seed }).constants[0]!.constant!.f32()];
    expect(values(1)).toEqual(values(1));
    expect(values(1)).not.toEqual(values(2));
  });

  it("imports the domains of its operators", () => {
    expect(parseModel("() -> (y) { y = com.microsoft::Gelu() }").opsets).toEqual(
      new Map([
        ["", 17],
        ["com.microsoft", 1],
      ]),
    );
  });

  it("stretches one value over a tensor", () => {
    const graph = parseGraph("() -> (y) { y = Op($w: i8[2,2] = {-3}) }");
    expect(graph.constants[0]!.constant!.integers()).toEqual([-3, -3, -3, -3]);
  });
});

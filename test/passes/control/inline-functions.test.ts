import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin, parseModel } from "../../../src/ir/index.js";
import { inlineFunctions } from "../../../src/passes/control/inline-functions.js";
import { runPasses } from "../../../src/rewrite/index.js";
import { runModel, seededFeeds } from "../../support/run-model.js";
import { expectSame } from "../../support/test-rewrite.js";

const imports = (version: number) => [
  { domain: "", version },
  { domain: "local", version: 1 },
];
const float = (name: string, f: number) => ({ name, type: 1, f });
const reference = (name: string, to: string) => ({ name, type: 1, ref_attr_name: to });

const scaled = {
  name: "Scaled",
  domain: "local",
  input: ["a", "lower"],
  output: ["b"],
  attribute: ["beta"],
  attribute_proto: [float("alpha", 0.5)],
  opset_import: imports(17),
  node: [
    { op_type: "Elu", name: "elu", input: ["a"], output: ["e"], attribute: [reference("alpha", "alpha")] },
    { op_type: "Constant", output: ["k"], attribute: [reference("value_float", "beta")] },
    { op_type: "Mul", input: ["e", "k"], output: ["m"], metadata_props: [{ key: "from", value: "here" }] },
    { op_type: "Clip", input: ["m", "lower"], output: ["b"] },
  ],
};

const branching = {
  name: "Branching",
  domain: "local",
  input: ["a", "c"],
  output: ["b"],
  attribute_proto: [float("alpha", 0.1)],
  opset_import: imports(17),
  node: [
    {
      op_type: "If",
      input: ["c"],
      output: ["b"],
      attribute: [
        {
          name: "then_branch",
          type: 5,
          g: {
            name: "t",
            node: [{ op_type: "LeakyRelu", input: ["a"], output: ["x"], attribute: [reference("alpha", "alpha")] }],
            output: [{ name: "x" }],
          },
        },
        {
          name: "else_branch",
          type: 5,
          g: {
            name: "e",
            node: [{ op_type: "Nested", domain: "local", input: ["a"], output: ["x"] }],
            output: [{ name: "x" }],
          },
        },
      ],
    },
  ],
};

const nested = {
  name: "Nested",
  domain: "local",
  input: ["a"],
  output: ["b"],
  opset_import: imports(17),
  node: [
    { op_type: "Relu", input: ["a"], output: ["r"] },
    { op_type: "Scaled", domain: "local", input: ["r"], output: ["b"], attribute: [float("beta", 3)] },
  ],
};

function withFunctions(text: string, functions: readonly { name: string; domain: string }[], opset = 17): Model {
  return {
    ...parseModel(text, { opset }),
    functions: new Set(functions.map(({ domain, name }) => `${domain}::${name}`)),
    extras: { functions: structuredClone(functions) },
  };
}

const apply = async (model: Model) => (await runPasses(model, [inlineFunctions], { check: true }))[0]!;
const opsOf = (model: Model): string[] => [...nodesWithin(model.graph)].map(({ opName }) => opName);

async function expectInlined(text: string, functions: readonly (typeof scaled | typeof branching | typeof nested)[]) {
  const [original, model] = [withFunctions(text, functions), withFunctions(text, functions)];
  const report = await apply(model);
  expect(report.skipped).toEqual([]);
  check(model.graph);
  expect(opsOf(model).filter((op) => op.startsWith("local"))).toEqual([]);
  expect([...model.functions]).toEqual([]);
  expect(model.extras).toEqual({ functions: [] });
  expect(model.opsets.has("local")).toBe(false);
  for (const size of [2, 3]) {
    const feeds = seededFeeds(original, size);
    expectSame(await runModel(original, feeds), await runModel(model, feeds), "exact");
  }
  return model;
}

describe("inline-functions", () => {
  it("resolves attributes, their defaults and inputs left out", async () => {
    const model = await expectInlined(
      "(x: f32[N,3]) -> (y) { a = local::Scaled<beta=2.0>(x) y = local::Scaled<alpha=2.0, beta=-1.0>(a, $l: f32[] = {0}) }",
      [scaled],
    );
    expect(opsOf(model)).toEqual(["Elu", "Mul", "Clip", "Elu", "Mul", "Clip"]);
  });

  it("inlines functions that call functions, in bodies too", async () => {
    await expectInlined("(x: f32[N,3], c: bool[]) -> (y) { a = local::Branching(x, c) y = local::Nested(a) }", [
      branching,
      nested,
      scaled,
    ]);
  });

  it("inlines calls in bodies of the main graph", async () => {
    await expectInlined(
      `(x: f32[N,3], c: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = local::Nested(x) }, else_branch=() -> (e) { e = Abs(x) }>(c)
      }`,
      [nested, scaled],
    );
  });

  it("gives parts names of their own and keeps what was said about them", async () => {
    const model = withFunctions(
      "(x: f32[N,3]) -> (y) { a = local::Scaled<beta=2.0>(x) y = local::Scaled<beta=1.0>(a) }",
      [scaled],
    );
    await apply(model);
    const names = [...model.graph.nodes()].map(({ name }) => name);
    expect(names).toHaveLength(new Set(names).size);
    const mul = [...model.graph.nodes()].find(({ op }) => op === "Mul")!;
    expect(mul.extras).toMatchObject({ metadata_props: [{ key: "from", value: "here" }] });
  });

  it("hands on an input of the model behind an output", async () => {
    const passing = { ...nested, name: "Pass", output: ["a"], node: [] };
    const model = withFunctions("(x: f32[N,3]) -> (y) { y = local::Pass(x) }", [passing]);
    expect((await apply(model)).applied).toBe(1);
    expect(opsOf(model)).toEqual(["Identity"]);
  });

  it("takes a function of another opset in which its operators are the same", async () => {
    const model = withFunctions("(x: f32[N,3]) -> (y) { y = local::Nested(x) }", [nested, scaled], 18);
    expect((await apply(model)).applied).toBe(2);
  });

  const left = async (text: string, functions: readonly { name: string; domain: string }[], opset?: number) => {
    const model = withFunctions(text, functions, opset);
    const before = opsOf(model);
    const report = await apply(model);
    expect(opsOf(model)).toEqual(before);
    expect(model.functions.size).toBe(functions.length);
    return report.skipped.map(({ reason }) => reason);
  };

  it("leaves a function that is called like an operator: the runtime takes its own", async () => {
    const relu = { ...nested, name: "Relu", domain: "", node: [{ op_type: "Neg", input: ["a"], output: ["b"] }] };
    expect(await left("(x: f32[3]) -> (y) { y = Relu(x) }", [relu])).toEqual([
      "ai.onnx has an operator Relu of its own",
    ]);
  });

  it("leaves a function that calls itself, through another", async () => {
    const a = { ...nested, name: "A", node: [{ op_type: "B", domain: "local", input: ["a"], output: ["b"] }] };
    const b = { ...nested, name: "B", node: [{ op_type: "A", domain: "local", input: ["a"], output: ["b"] }] };
    expect(await left("(x: f32[3]) -> (y) { y = local::A(x) }", [a, b])).toEqual(["the function calls itself"]);
  });

  it("leaves a function whose operators mean something else in its opset", async () => {
    const old = {
      ...nested,
      name: "Old",
      opset_import: imports(12),
      node: [{ op_type: "Softmax", input: ["a"], output: ["b"] }],
    };
    expect(await left("(x: f32[3]) -> (y) { y = local::Old(x) }", [old])).toEqual([
      "Softmax means something else in opset 12, which the function is written in",
    ]);
  });

  it("leaves a function that reads what nothing produces", async () => {
    const broken = { ...nested, name: "Broken", node: [{ op_type: "Relu", input: ["nowhere"], output: ["b"] }] };
    const [reason] = await left("(x: f32[3]) -> (y) { y = local::Broken(x) }", [broken]);
    expect(reason).toContain("the function cannot be read");
  });

  it("leaves a call with more inputs than the function has", async () => {
    const reasons = await left("(x: f32[3]) -> (y) { y = local::Nested(x, x) }", [nested, scaled]);
    expect(reasons).toEqual(["the call hands on bodies, or more or less than the function takes"]);
  });
});

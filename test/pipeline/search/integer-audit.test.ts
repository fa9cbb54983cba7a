import { describe, expect, it } from "vitest";
import { auditIntegers } from "../../../src/pipeline/search/integer-audit.js";
import type { Form } from "../../../src/quantization/form.js";
import { optimizedByRuntime, quantizeText } from "../../support/quantize-text.js";

async function audit(text: string, leave: (name: string) => boolean = () => false) {
  const { model, plan } = await quantizeText(text);
  const forms = new Map(plan.nodes.map(({ node }) => [node.name, "static" as Form]));
  const before = forms.size;
  for (const node of [...model.graph.nodes()].filter(({ op }) => leave(op))) {
    // As with a form that a kernel does not take: what it reads are no integers.
    const name = `abs of ${node.name}`;
    const between = { op: "Abs", name, inputs: [node.inputs[0]!], outputs: [{ label: name }] };
    model.graph.setInput(node, 0, model.graph.addNode(between, node).output);
  }
  const facts = auditIntegers(model, await optimizedByRuntime(model), forms);
  expect(facts.integer + facts.float.length).toBe(before);
  return facts;
}

describe("auditIntegers", () => {
  it("finds every node on integers where the runtime takes all of them", async () => {
    const facts = await audit(`(x: f32[1,8,8,8]) -> (y) {
      a = Conv(x, $w: f32[8,8,1,1], $b: f32[8])
      r = Relu(a)
      p, q = Split<axis=1>(r, $s: i64[2] = {4,4})
      t = Sigmoid(q)
      m = Mul(p, t)
      k = MaxPool<kernel_shape=[2,2]>(m)
      c = Conv(k, $v: f32[8,4,1,1])
      g = GlobalAveragePool(c)
      f = Flatten(g)
      y = Gemm(f, $u: f32[8,3], $d: f32[3])
    }`);
    expect(facts.float).toEqual([]);
    expect(facts.conversions).toBe(1);
  });

  it("names what the runtime computes in float after all", async () => {
    const facts = await audit(
      `(x: f32[1,8,8,8]) -> (y) {
        a = Conv(x, $w: f32[8,8,1,1], $b: f32[8])
        y = Conv(a, $v: f32[4,8,1,1])
      }`,
      (op) => op === "Conv",
    );
    expect(facts.float.map(({ op }) => op)).toEqual(["Conv", "Conv"]);
    expect(facts.float[0]!.reason).toContain("float Conv");
  });

  it("counts products with float results, and those that find their scales at run time", async () => {
    const facts = await audit("(x: f32[3,8]) -> (y) { y = MatMul(x, $w: f32[8,8]) }");
    expect(facts).toMatchObject({ integer: 1, float: [] });
  });

  it("names products that went with a sum into one of floats", async () => {
    const facts = await audit(`(x: f32[3,8], c: f32[3,8]) -> (y) {
      p = MatMul(x, $w: f32[8,8])
      y = Add(p, c)
    }`);
    expect(facts.float).toEqual([
      { node: "MatMul:p", op: "MatMul", reason: "the runtime widens its weights and multiplies floats" },
    ]);
  });
});

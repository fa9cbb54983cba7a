import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { executedNodes } from "../../../src/pipeline/profile/executed-nodes.js";

/** Steps as the profiler names those of nodes without a name; each takes twice as long as the one before it. */
const stepsOf = (text: string, provider: (op: string) => string = () => "cpu") =>
  [...parseModel(text).graph.nodes()].map(({ op }, i) => ({
    ...{ name: `${op}_${i}`, op, provider: provider(op), ms: 2 ** i },
  }));

const timesOf = ({ nodes, ms }: ReturnType<typeof executedNodes>) =>
  Object.fromEntries(nodes.map((node, i) => [node.split(":").at(-1), ms[i]]));

describe("executedNodes", () => {
  it("gives what the runtime put in front of a node to the node whose tensor it leads to", () => {
    const file = "(x: f32[4]) -> (y) { a = Conv(x, $w: f32[1] = {1}) y = Relu(a) }";
    const executed = "(x: f32[4]) -> (y) { r = ReorderInput(x) a_nchwc = Conv(r, $w: f32[1] = {1}) y = Relu(a_nchwc) }";
    const found = executedNodes(parseModel(file), parseModel(executed), stepsOf(executed));
    expect(timesOf(found)).toEqual({ a: 3, y: 4 });
    expect(found.elsewhereMs).toBe(0);
  });

  it("goes by the name where a tensor lost its own: in the blocked layout that of the tensor, in fused kernels that of the node", () => {
    const model = parseModel("(x: f32[4]) -> (y) { a = Conv(x, $w: f32[1] = {1}) b = Relu(a) y = Neg(b) }");
    for (const node of model.graph.nodes()) node.name = `the ${node.op}`;
    const executed = parseModel("(x: f32[4]) -> (y) { r1 = Conv(x, $w: f32[1] = {1}) r2 = QuantRelu(r1) y = Neg(r2) }");
    const names = ["a_nchwc", "the Relu_token_7", "the Neg"];
    for (const [i, node] of [...executed.graph.nodes()].entries()) node.name = names[i]!;
    const steps = [...executed.graph.nodes()].map(({ name, op }) => ({ name, op, provider: "cpu", ms: 1 }));
    expect(timesOf(executedNodes(model, executed, steps))).toEqual({ "the Conv": 1, "the Relu": 1, "the Neg": 1 });
  });

  it("knows tensors that are integers in the executed graph", () => {
    const pair = "aq = QuantizeLinear(a, $s: f32[] = {1}, $z: u8[] = {0}) ad = DequantizeLinear(aq, s, z)";
    const file = `(x: f32[4]) -> (y) { a = Relu(x) ${pair} y = Neg(ad) }`;
    const executed = "(x: f32[4]) -> (y) { t = Transpose(x) aq = QuantRelu(t) y = QuantNeg(aq) }";
    const found = executedNodes(parseModel(file), parseModel(executed), stepsOf(executed));
    expect(timesOf(found)).toEqual({ a: 3, y: 4 });
  });

  it("gives a fused kernel to the node that it is named after, past what nothing else was executed for", () => {
    const file = `(x: f32[4]) -> (y) {
      a = Conv(x, $w: f32[1] = {1}) b = BatchNormalization(a) c = Relu(b) d = MatMul(c, w) e = Add(d, w) f = Exp(e) y = Neg(f)
    }`;
    const executed = `(x: f32[4]) -> (y) {
      c = FusedConv(x, $w: f32[1] = {1}) e = Gemm(c, w, w) f = Expand(e) y = Neg(f)
    }`;
    const found = executedNodes(parseModel(file), parseModel(executed), stepsOf(executed));
    expect(timesOf(found)).toEqual({ a: 1, d: 2, f: 4, y: 8 });
  });

  it("leaves a fused kernel where the node that it is named after was executed by itself", () => {
    const file = "(x: f32[4]) -> (y) { a = Conv(x, $w: f32[1] = {1}) b = Conv(x, w) c = Add(a, b) y = Relu(c) }";
    const executed = "(x: f32[4]) -> (y) { a = Conv(x, $w: f32[1] = {1}) y = FusedConv(x, w, a) }";
    const found = executedNodes(parseModel(file), parseModel(executed), stepsOf(executed));
    expect(timesOf(found)).toEqual({ a: 1, b: 2 });
  });

  it("adds up to all steps, and names the provider in which most of the time of a node passed", () => {
    const file = "(x: f32[4]) -> (y) { a = Relu(x) y = Neg(a) }";
    const executed = "(x: f32[4]) -> (y) { c = Copy(x) a = Relu(c) d = Copy(a) y = Neg(d) z = Abs(x) }";
    const steps = stepsOf(executed, (op) => (op === "Relu" ? "cuda" : "cpu"));
    const found = executedNodes(parseModel(file), parseModel(executed), steps);
    const all = steps.reduce((sum, { ms }) => sum + ms, 0);
    expect(found.ms.reduce((sum, ms) => sum + ms, found.elsewhereMs)).toBe(all);
    expect(found.elsewhereMs).toBe(16);
    expect(found.providers).toEqual(["cuda", "cpu"]);
  });

  it("goes by names where the executed graph is not known", () => {
    const model = parseModel("(x: f32[4]) -> (y) { a = Relu(x) y = Neg(a) }");
    for (const node of model.graph.nodes()) node.name = `the ${node.op}`;
    const steps = [
      { name: "the Relu", op: "Relu", provider: "cuda", ms: 1 },
      { name: "memcpy", op: "MemcpyToHost", provider: "cuda", ms: 2 },
    ];
    expect(executedNodes(model, null, steps)).toEqual({
      ...{ nodes: ["the Relu"], ms: [1], providers: ["cuda"], elsewhereMs: 2 },
    });
  });
});

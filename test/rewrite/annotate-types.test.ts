import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { parseModel } from "../../src/ir/index.js";
import { annotateTypes, type Describe } from "../../src/rewrite/index.js";
import { describeModel } from "../support/ask-runtime.js";

const typesOf = (model: ReturnType<typeof parseModel>) =>
  Object.fromEntries([...model.graph.nodes()].map(({ output }) => [output.label, output.type]));

describe("annotateTypes", () => {
  it("writes what the runtime infers on values that lack a type", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { a = MatMul(x, $w: f32[3,400]) y = Cast<to=7>(a) }");
    expect(await annotateTypes(model, describeModel)).toEqual({ known: 2, problem: null });
    expect(typesOf(model)).toEqual({ a: { dtype: "f32", shape: ["N", 400] }, y: { dtype: "i64", shape: ["N", 400] } });
  });

  it("sends no large weights along", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { a = MatMul(x, $w: f32[3,400]) y = Add(a, $b: f32[1]) }");
    let sent = 0;
    const spy: Describe = (probe) => {
      sent = probe.graph.constants.reduce((bytes, { constant }) => bytes + constant!.byteLength, 0);
      return describeModel(probe);
    };
    await annotateTypes(model, spy);
    expect(sent).toBe(4);
  });

  it("takes the runtime's word over a stale one inside the graph", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { a = Relu(x) y = Exp(a) }");
    model.graph.firstNode!.output.type = { dtype: "f32", shape: [1, 3] };
    await annotateTypes(model, describeModel);
    expect(typesOf(model)["a"]).toEqual({ dtype: "f32", shape: ["N", 3] });
  });

  it("keeps what the model declares about its outputs", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { y = Relu(x) }");
    model.graph.firstNode!.output.type = { dtype: "f32", shape: ["batch", 3] };
    await annotateTypes(model, describeModel);
    expect(typesOf(model)["y"]).toEqual({ dtype: "f32", shape: ["batch", 3] });
  });

  it("goes on without when the runtime refuses the model", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { y = com.example::Op(x) }");
    const { known, problem } = await annotateTypes(model, describeModel);
    expect(known).toBe(0);
    expect(problem).toContain("com.example");
  });

  it("does not swallow an interruption", async () => {
    const model = parseModel("(x: f32[2]) -> (y) { y = Relu(x) }");
    const interrupted = () => Promise.reject(new InferOptError("INTERRUPTED", "interrupted", "stopped"));
    await expect(annotateTypes(model, interrupted)).rejects.toMatchObject({ code: "INTERRUPTED" });
  });
});

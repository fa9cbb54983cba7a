import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { loadModel, nodesWithin, parseModel, saveModel } from "../../src/ir/index.js";
import { annotateTypes, type Describe } from "../../src/rewrite/index.js";
import { describeModel } from "../support/ask-runtime.js";
import { temporaryFolder } from "../support/temporary-folder.js";

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

  it("writes the types of values in bodies, all with one question", async () => {
    const model = parseModel(`(x: f32[N,3], c: bool[], n: i64[]) -> (y, z) {
      y = If<then_branch=() -> (t) { a = MatMul(x, $w: f32[3,400]) t = Shape(a) }, else_branch=() -> (e) { e = Shape(x) }>(c)
      z = Loop<body=(i: i64[], k: bool[], s: f32[1,3]) -> (k, g) { g = Concat<axis=0>(s, x) }>(n, c, x)
    }`);
    let asked = 0;
    await annotateTypes(model, (probe) => {
      asked++;
      return describeModel(probe);
    });
    const inner = [...nodesWithin(model.graph)].find(({ op }) => op === "MatMul");
    expect(inner?.output.type).toEqual({ dtype: "f32", shape: ["N", 400] });
    expect(asked).toBe(1);
    const loop = [...model.graph.nodes()].at(-1)!;
    // The state grows: what the file says of the first iteration does not hold.
    expect(loop.bodies[0]!.inputs[2]!.type).toEqual({ dtype: "f32", shape: null });
    expect(loop.bodies[0]!.firstNode!.output.shape).toBeNull();
  });

  it("lays branches within branches out once, and knows what comes out of them", async () => {
    const nested = (depth: number): string =>
      depth === 0
        ? "t = Exp(x)"
        : `t = If<then_branch=() -> (t) { ${nested(depth - 1)} }, else_branch=() -> (e) { e = MatMul(x, $w: f32[3,3]) }>(c)`;
    const model = parseModel(`(x: f32[N,3], c: bool[]) -> (t) { ${nested(4)} }`);
    let size = 0;
    await annotateTypes(model, (probe) => {
      size = [...nodesWithin(probe.graph)].length;
      return describeModel(probe);
    });
    // What there is, and two Identity nodes for each of the four.
    expect(size).toBe(9 + 8);
    for (const { output } of nodesWithin(model.graph)) expect(output.type).toEqual({ dtype: "f32", shape: ["N", 3] });
  });

  it("believes of a branch what holds in both, and no more", async () => {
    const model = parseModel(`(x: f32[N,3], c: bool[]) -> (y, z) {
      y, z = If<then_branch=() -> (a, b) { a = Exp(x) b = Shape(x) }, else_branch=() -> (d, e) { d = MatMul(x, $w: f32[3,4]) e = Shape(d) }>(c)
    }`);
    await annotateTypes(model, describeModel);
    const [branch] = model.graph.nodes();
    expect(branch!.outputs.map((value) => value!.type)).toEqual([
      { dtype: "f32", shape: ["N", null] },
      { dtype: "i64", shape: [2] },
    ]);
  });

  it("knows the main graph when a body cannot be read on its own", async () => {
    const model = parseModel(`(x: f32[N,3], c: bool[]) -> (y) {
      a = Relu(x)
      y = If<then_branch=() -> (t) { t = Exp(a) }, else_branch=() -> (e) { e = Neg(a) }>(c)
    }`);
    const refuseBodies: Describe = (probe) =>
      probe.graph.nodeCount > 2
        ? Promise.reject(new InferOptError("MODEL_REJECTED", "runtime", "no"))
        : describeModel(probe);
    expect(await annotateTypes(model, refuseBodies)).toEqual({ known: 2, problem: null });
  });

  it("lets declared outputs follow when sizes were settled, however often it asks", async () => {
    for (const isRepeated of [false, true]) {
      const model = parseModel("(x: f32[N,3]) -> (y) { y = Relu(x) }");
      model.graph.firstNode!.output.type = { dtype: "f32", shape: ["batch", "width"] };
      await annotateTypes(model, describeModel, { isRepeated, isSized: true });
      expect(typesOf(model)["y"]).toEqual({ dtype: "f32", shape: [isRepeated ? "batch" : "N", 3] });
    }
  });

  it("keeps what rewrites have found out when asked again", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { a = Relu(x) y = Exp(a) }");
    model.graph.firstNode!.output.type = { dtype: "f32", shape: [1, 3] };
    const vague: Describe = async (probe) => ({
      outputs: (await describeModel(probe)).outputs.map((port) => ({ ...port, shape: [null, 3] })),
    });
    await annotateTypes(model, vague, { isRepeated: true });
    expect(typesOf(model)["a"]).toEqual({ dtype: "f32", shape: [1, 3] });
  });

  it("takes the runtime's word over a stale one inside the graph", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { a = Relu(x) y = Exp(a) }");
    model.graph.firstNode!.output.type = { dtype: "f32", shape: [1, 3] };
    await annotateTypes(model, describeModel);
    expect(typesOf(model)["a"]).toEqual({ dtype: "f32", shape: ["N", 3] });
  });

  it("does not believe names of sizes inside the graph that the runtime does not see", async () => {
    const model = parseModel("(x: f32[N,M], s: i64[2]) -> (y) { a = Reshape(x, s) y = Neg(a) }");
    model.graph.firstNode!.output.type = { dtype: "f32", shape: ["N", "M"] };
    await annotateTypes(model, describeModel);
    expect(typesOf(model)["a"]).toEqual({ dtype: "f32", shape: [null, null] });
  });

  it("does not reckon with names that the model gives to sizes of its outputs", async () => {
    const model = parseModel("(x: f32[N,3], s: i64[2]) -> (y, z) { y = Relu(x) z = Reshape(x, s) }");
    for (const node of model.graph.nodes()) node.output.type = { dtype: "f32", shape: ["batch", 3] };
    await annotateTypes(model, describeModel);
    expect(typesOf(model)["y"]).toEqual({ dtype: "f32", shape: ["N", 3] });
    expect(typesOf(model)["z"]).toEqual({ dtype: "f32", shape: [null, null] });
  });

  it("keeps an output's name of a size that the runtime knows by number, and where the model says less", async () => {
    const model = parseModel("(x: f32[2,N]) -> (y) { y = Relu(x) }");
    const [port] = model.graph.outputs;
    port!.value.type = { dtype: "f32", shape: ["batch", null] };
    const path = join(temporaryFolder(), "model.onnx");
    saveModel(model, path).commit();
    const read = loadModel(path);
    await annotateTypes(read, describeModel);
    saveModel(read, path).commit();
    expect(loadModel(path).graph.outputs.map(({ value }) => value.shape)).toEqual([["batch", null]]);
  });

  it("does not believe sizes of outputs that the runtime sees otherwise, or does not see", async () => {
    const model = parseModel(
      "(x: f32[6,N], m: bool[6]) -> (y, z) { y = Slice(x, $s: i64[1] = {0}, $e: i64[1] = {5}) z = Compress<axis=0>(x, m) }",
    );
    for (const node of model.graph.nodes()) node.output.type = { dtype: "f32", shape: [6, "M"] };
    await annotateTypes(model, describeModel);
    expect(typesOf(model)["y"]).toEqual({ dtype: "f32", shape: [5, "N"] });
    expect(typesOf(model)["z"]).toEqual({ dtype: "f32", shape: [null, "N"] });
  });

  it("believes a size of an output that only the file knew once the runtime sees it, too", async () => {
    const model = parseModel("(x: f32[2,3]) -> (y) { y = Relu(x) }");
    model.graph.outputs[0]!.value.type = { dtype: "f32", shape: [6, 5] };
    const path = join(temporaryFolder(), "model.onnx");
    saveModel(model, path).commit();
    const read = loadModel(path);
    const shapes: unknown[] = [];
    for (const [at, shape] of (
      [
        [null, null],
        [6, null],
        [6, 4],
      ] as const
    ).entries()) {
      await annotateTypes(
        read,
        async (asked) => ({ outputs: asked.graph.outputs.map(({ name }) => ({ name, dtype: "f32", shape })) }),
        { isRepeated: at > 0 },
      );
      shapes.push(read.graph.outputs[0]!.value.shape);
    }
    // A promise that the runtime contradicts is none.
    expect(shapes).toEqual([
      [null, null],
      [6, null],
      [6, null],
    ]);
  });

  it("goes on without when the runtime refuses the model", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y) { y = com.example::Op(x) }");
    const { known, problem } = await annotateTypes(model, describeModel);
    expect(known).toBe(0);
    expect(problem).toContain("com.example");
  });

  it("knows what does not hang on an operator that the runtime does not have", async () => {
    const model = parseModel("(x: f32[N,3]) -> (y, z) { a = Relu(x) b = com.example::Op(a) y = Exp(b) z = Neg(a) }");
    expect(await annotateTypes(model, describeModel)).toEqual({ known: 2, problem: null });
    expect(typesOf(model)).toMatchObject({ a: { shape: ["N", 3] }, z: { shape: ["N", 3] }, y: null });
  });

  it("knows what does not hang on a branch that the runtime refuses", async () => {
    const model = parseModel(`(x: f32[2,3]) -> (y) {
      s = Shape(x)
      n = Gather(s, $i: i64[] = {1})
      c = Equal(n, $one: i64[] = {1})
      y = If<then_branch=() -> (t) { t = Squeeze(x, $a: i64[1] = {1}) }, else_branch=() -> (e) { e = Neg(x) }>(c)
    }`);
    expect((await annotateTypes(model, describeModel)).problem).toBeNull();
    expect(typesOf(model)["s"]).toEqual({ dtype: "i64", shape: [2] });
  });

  it("does not swallow an interruption", async () => {
    const model = parseModel("(x: f32[2]) -> (y) { y = Relu(x) }");
    const interrupted = () => Promise.reject(new InferOptError("INTERRUPTED", "interrupted", "stopped"));
    await expect(annotateTypes(model, interrupted)).rejects.toMatchObject({ code: "INTERRUPTED" });
  });
});

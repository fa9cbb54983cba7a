import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin, parseModel, printGraph, Tensor } from "../../../src/ir/index.js";
import { type NarrowingReport, toFloat16 } from "../../../src/passes/precision/to-float16.js";
import { annotateTypes } from "../../../src/rewrite/index.js";
import { describeModel } from "../../support/ask-runtime.js";
import { type Feeds, largestDifference, runModel, seededFeeds } from "../../support/run-model.js";

const TOLERANCE = 4e-3;

interface Narrowed {
  readonly model: Model;
  readonly text: string;
  readonly report: NarrowingReport;
}

function narrow(source: string, keep: string[] = [], target: "f16" | "bf16" = "f16"): Narrowed {
  const model = parseModel(source);
  const report = toFloat16(model, {
    keepIo: true,
    target,
    keep: (node) => (keep.includes(node.op) ? "left in float32 on request" : null),
  });
  check(model.graph);
  return { model, report, text: printGraph(model.graph) };
}

/** Narrows, runs both models on the same feeds, and expects answers within float16's reach. */
async function narrowAndRun(source: string, feeds?: Feeds, keep: string[] = []): Promise<Narrowed> {
  const narrowed = narrow(source, keep);
  const inputs = feeds ?? seededFeeds(parseModel(source));
  const expected = await runModel(parseModel(source), inputs);
  expect(largestDifference(expected, await runModel(narrowed.model, inputs))).toBeLessThan(TOLERANCE);
  return narrowed;
}

const castCount = (model: Model): number => [...nodesWithin(model.graph)].filter((node) => node.is("Cast")).length;

describe("types", () => {
  it("narrows weights and keeps inputs and outputs, one Cast for an input that is read twice", async () => {
    const { text, model } = await narrowAndRun(
      "(x: f32[2,3]) -> (y) { a = MatMul(x, $w: f32[3,4]) b = MatMul(x, $v: f32[3,4]) y = Add(a, b) }",
    );
    expect(text).toContain("$w: f16[3,4]");
    expect(castCount(model)).toBe(2);
    expect(model.graph.inputs[0]!.dtype).toBe("f32");
  });

  it("writes out the type of a CastLike, which the runtime cannot run with half precision", async () => {
    const model = parseModel("(x: f32[2,3]) -> (y) { a = Softplus(x) b = CastLike(a, a) y = Sigmoid(b) }");
    const feeds = seededFeeds(model);
    const expected = await runModel(model, feeds);
    await annotateTypes(model, describeModel);
    toFloat16(model, { keepIo: true, target: "f16" });
    expect(printGraph(model.graph)).not.toContain("CastLike");
    expect(largestDifference(expected, await runModel(model, feeds))).toBeLessThan(TOLERANCE);
  });

  it("leaves roi and scales of Resize in float32", async () => {
    const { text, report } = await narrowAndRun(
      "(x: f32[1,2,3,3]) -> (y) { r = Relu(x) y = Resize(r, $roi: f32[0], $s: f32[4] = {1.0, 1.0, 2.0, 2.0}) }",
    );
    expect(text).toContain("$s: f32[4]");
    expect(report.float).toEqual([]);
  });

  it("rewrites Cast(to=float) and takes out those that have nothing to do any more", async () => {
    const { text, report } = await narrowAndRun(
      "(x: f32[3], i: i64[3]) -> (y) { h = Cast<to=10>(x) w = Cast<to=1>(h) f = Cast<to=1>(i) s = Add(w, x) y = Mul(s, f) }",
    );
    expect(report.castsRemoved).toBe(1);
    expect(text).toContain("Cast<to=10>(i)");
    expect(text.match(/to=1>/g)).toHaveLength(1);
  });

  it("gives shared constants in both types to readers of both", async () => {
    const { text, report } = await narrowAndRun(
      "(x: f32[3,3]) -> (y) { a = MatMul(x, $w: f32[3,3]) b = Gemm(x, $w) y = Add(a, b) }",
      undefined,
      ["Gemm"],
    );
    expect(text).toContain("f16[3,3]");
    expect(text).toContain("f32[3,3]");
    expect(report.float).toEqual([{ node: "Gemm:b", op: "Gemm", reason: "left in float32 on request" }]);
    expect(report.notes).toEqual(["1 constants are stored twice: float32 nodes read them too"]);
  });

  it("updates the fill of ConstantOfShape and the types of values", async () => {
    const { text, model } = await narrowAndRun(
      "(x: f32[2,3]) -> (y) { s = Shape(x) c = ConstantOfShape<value=f32[1] = {2.5}>(s) y = Mul(x, c) }",
    );
    expect(text).toContain("value=f16[1] = {2.5}");
    const cast = [...model.graph.nodes()].find((node) => node.is("Cast"))!;
    expect(cast.output.type).toEqual({ dtype: "f16", shape: [2, 3] });
  });

  it("narrows inputs and outputs too when it may", async () => {
    const model = parseModel("(x: f32[3]) -> (y) { y = Relu(x) }");
    toFloat16(model, { keepIo: false, target: "f16" });
    expect(printGraph(model.graph)).toBe("(x: f16[3]) -> (y) {\n  y = Relu(x)\n}");
    const half = Tensor.ofArray("f16", [3], Uint16Array.of(0x3c00, 0xbc00, 0));
    expect((await runModel(model, { x: half }))["y"]!.dtype).toBe("f16");
  });

  it("follows the opset: CumSum takes bfloat16 from 14 on, Conv only from 22", () => {
    const source = "(x: f32[1,2,4]) -> (y) { a = Conv(x, $w: f32[2,2,1]) y = CumSum(a, $d: i64[] = {2}) }";
    const { report, text } = narrow(source, [], "bf16");
    expect(report.float).toMatchObject([{ op: "Conv", reason: "Conv of opset 17 takes no bfloat16" }]);
    expect(text).toContain("Cast<to=16>");
  });
});

describe("bodies", () => {
  const branches = `(c: bool[], x: f32[2,3]) -> (y) {
    m = MatMul(x, $w: f32[3,3])
    t = If<then_branch=() -> (a) { a = MatMul(m, $w) }, else_branch=() -> (b = $k: f32[2,3] = {0.5}) { }>(c)
    y = Relu(t)
  }`;

  it.each([true, false])("of If read captured weights and agree in type, condition %s", async (condition) => {
    const feeds = {
      c: Tensor.ofArray("bool", [], Uint8Array.of(condition ? 1 : 0)),
      x: Tensor.f32([2, 3], [1, 2, 3, 4, 5, 6]),
    };
    const { model, text } = await narrowAndRun(branches, feeds);
    expect(castCount(model)).toBe(2);
    expect(text.match(/f16\[3,3\]/g)).toHaveLength(1);
  });

  it("of If with a node in float32 cast what they give back", async () => {
    const source = `(c: bool[], x: f32[2,2]) -> (y) {
      r = Relu(x)
      t = If<then_branch=() -> (a) { a = Det(r) }, else_branch=() -> (b) { b = ReduceSum<keepdims=0>(r) }>(c)
      y = Add(t, t)
    }`;
    const feeds = { c: Tensor.ofArray("bool", [], Uint8Array.of(1)), x: Tensor.f32([2, 2], [1, 2, 3, 5]) };
    const { report } = await narrowAndRun(source, feeds, ["Det"]);
    expect(report.float).toHaveLength(1);
  });

  it("of Loop carry float16 round", async () => {
    const source = `(x: f32[2]) -> (y, s) {
      y, s = Loop<body=(i: i64[], c: bool[], v: f32[2]) -> (d, n, o) {
        d = Identity(c)
        n = Mul(v, $half: f32[] = {0.5})
        o = Add(n, x)
      }>($n: i64[] = {3}, $t: bool[] = {1}, x)
    }`;
    const { model } = await narrowAndRun(source);
    const body = model.graph.firstNode!.next!.bodies[0]!;
    expect(body.inputs.map((value) => value.dtype)).toEqual(["i64", "bool", "f16"]);
  });

  it("of Scan too", async () => {
    await narrowAndRun(`(x: f32[4,2], s: f32[2]) -> (y, z) {
      y, z = Scan<body=(a: f32[2], b: f32[2]) -> (c, d) { c = Add(a, b) d = Tanh(c) }, num_scan_inputs=1>(s, x)
    }`);
  });

  it("of Loop and Scan keep the sizes that they declare where what comes in bears them out", () => {
    const { text } = narrow(`(x: f32[2], e: f32[4,3], w: f32[?]) -> (y, z, v, s) {
      y, z = Loop<body=(i: i64[], c: bool[], p: f32[2], q: f32[3]) -> (d, n, o) {
        d = Identity(c)
        n = Neg(p)
        o = Neg(q)
      }>($n: i64[] = {3}, $t: bool[] = {1}, x, w)
      v, s = Scan<body=(a: f32[3], b: f32[3]) -> (f, g) { f = Add(a, b) g = Tanh(f) }, num_scan_inputs=1>($k: f32[3], e)
    }`);
    expect(text).toContain("p: f16[2], q: f16[?])");
    expect(text).toContain("a: f16[3], b: f16[3])");
  });

  it("of Loop forget sizes of states that the body hands on with others", () => {
    const model = parseModel(`(x: f32[3], z: f32[2,3]) -> (a) {
      a, s = Loop<body=(i: i64[], k: bool[], p: f32[3], q: f32[2,3]) -> (j, o, r) {
        j = Identity(k)
        o = Add(p, q)
        r = Neg(q)
      }>($n: i64[] = {4}, $c: bool[] = {1}, x, z)
    }`);
    const body = model.graph.firstNode!.bodies[0]!;
    for (const { value } of body.outputs.slice(1)) value.type = { dtype: "f32", shape: [2, 3] };
    toFloat16(model, { keepIo: true, target: "f16" });
    expect(printGraph(model.graph)).toContain("p: f16, q: f16[2,3])");
  });

  // The second addend is one column wide at run time, where the body says two.
  it("of Scan run though the body declares a size that is none", async () => {
    const feeds = { x: Tensor.f32([1, 1, 2, 1], [1, 2]) };
    const source = `(x: f32[1,1,2,n]) -> (v, w) {
      v, w = Scan<body=(a: f32[1,2,2], b: f32[1,2,2]) -> (c, d) {
        c = Add(a, b)
        d = Mul(c, $k: f32[] = {2.0})
      }, num_scan_inputs=1>($s: f32[1,2,2], x)
    }`;
    await narrowAndRun(source, feeds);
  });

  it("of Scan keep the rank, without which no Scan runs", async () => {
    const { text } = await narrowAndRun(
      `(x: f32[4,n], c: bool[4], s: f32[3]) -> (v, w) {
        r = Compress<axis=0>(x, c)
        v, w = Scan<body=(a: f32[3], b: f32[3]) -> (d, e) { d = Add(a, b) e = Identity(b) }, num_scan_inputs=1>(s, r)
      }`,
      {
        x: Tensor.f32([4, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        c: Tensor.ofArray("bool", [4], Uint8Array.of(1, 0, 1, 1)),
        s: Tensor.f32([3], [1, 1, 1]),
      },
    );
    expect(text).toContain("a: f16[3], b: f16[?])");
  });

  it("of a Loop that stays in float32 are narrow inside only", async () => {
    const source = `(x: f32[2]) -> (y) {
      y = Loop<body=(i: i64[], c: bool[], v: f32[2]) -> (d, n) {
        d = Identity(c)
        n = Mul(v, $half: f32[] = {0.5})
      }>($n: i64[] = {3}, $t: bool[] = {1}, x)
    }`;
    const { model, report } = await narrowAndRun(source, undefined, ["Loop"]);
    expect(report.float.map(({ op }) => op)).toEqual(["Loop"]);
    expect(model.graph.firstNode!.bodies[0]!.inputs[2]!.dtype).toBe("f32");
  });

  it("of operators that are not known stay as they are, and get what they capture in float32", () => {
    const { text } = narrow(`(x: f32[2]) -> (y) {
      r = Relu(x)
      b = mine::Call<body=() -> (a) { a = Neg(r) }>(r)
      y = Relu(b)
    }`);
    expect(text).toContain("Neg(r_f32)");
  });
});

describe("what stays in float32", () => {
  it("operators without a float16 form, with Casts around them, listed", async () => {
    const source = `(x: f32[2]) -> (y) {
      a = Relu(x)
      r = Range($s: f32[] = {0.0}, $e: f32[] = {2.0}, $d: f32[] = {1.0})
      y = Add(a, r)
    }`;
    const { report } = await narrowAndRun(source);
    expect(report.float).toEqual([{ node: "Range:r", op: "Range", reason: "Range of opset 17 takes no float16" }]);
  });

  it.each([
    ["EyeLike", "e = EyeLike<dtype=1>($i: i64[3,3])"],
    ["RandomNormal", "e = RandomNormal<shape=[3,3],seed=1.0>()"],
    ["HannWindow", "e = HannWindow($n: i64[] = {3})"],
    ["MeanVarianceNormalization", "e = MeanVarianceNormalization<axes=[0]>(x)"],
  ])("%s, of which the runtime has no float16 kernel", async (op, node) => {
    const { model, report } = narrow(`(x: f32[3,3]) -> (y) { ${node} y = Add(x, e) }`);
    expect(report.float).toMatchObject([{ op }]);
    expect(Object.keys(await runModel(model, seededFeeds(model)))).toEqual(["y"]);
  });

  it("a mask beyond the range, the sum it goes into, and the Softmax that bounds it", async () => {
    const source = `(x: f32[2,3], m: bool[2,3]) -> (y) {
      w = Where(m, $z: f32[] = {0.0}, $least: f32[] = {-3.4e38})
      a = Add(x, w)
      s = Softmax<axis=-1>(a)
      y = MatMul(s, $v: f32[3,2])
    }`;
    const feeds = {
      x: Tensor.f32([2, 3], [1, 2, 3, 4, 5, 6]),
      m: Tensor.ofArray("bool", [2, 3], Uint8Array.of(1, 1, 0, 0, 0, 0)),
    };
    const { report } = await narrowAndRun(source, feeds);
    expect(report.float.map(({ op }) => op)).toEqual(["Where", "Add", "Softmax"]);
    expect(report.float[0]!.reason).toBe("its constant least goes beyond 65504");
  });

  it("but not an infinite constant, which float16 has", () => {
    const source = "(x: f32[3], m: bool[3]) -> (y) { y = Where(m, x, $least: f32[] = {-inf}) r = Relu(y) }";
    expect(narrow(source).report.float.filter(({ reason }) => reason.includes("65504"))).toEqual([]);
  });

  it("arithmetic on positions until it meets data", async () => {
    const source = `(p: i64[1,4], x: f32[1,4,2]) -> (y) {
      f = Cast<to=1>(p)
      u = Unsqueeze(f, $a: i64[1] = {2})
      angle = MatMul(u, $inv: f32[1,2] = {1.0, 0.01})
      c = Cos(angle)
      y = Mul(x, c)
    }`;
    const feeds = { p: Tensor.i64([1, 4], [0, 1, 5001, 9999]), x: Tensor.f32([1, 4, 2], [1, 1, 1, 1, 1, 1, 1, 1]) };
    const { report } = await narrowAndRun(source, feeds);
    expect(report.float.map(({ op }) => op)).toEqual(["Unsqueeze", "MatMul", "Cos"]);
  });

  it("a Reshape between two nodes in float32", () => {
    const source = "(x: f32[4]) -> (y) { a = Det(x) b = Reshape(a, $s: i64[1] = {1}) c = Det(b) y = Relu(c) }";
    expect(
      narrow(source, ["Det"])
        .report.float.map(({ op }) => op)
        .sort(),
    ).toEqual(["Det", "Det", "Reshape"]);
  });

  it("operators of other domains", () => {
    const { text, report } = narrow("(x: f32[4]) -> (y) { a = Relu(x) b = mine::Op(a) y = Relu(b) }");
    expect(report.float[0]).toMatchObject({ op: "mine::Op" });
    expect(text).toContain("mine::Op(a_f32)");
  });
});

it("narrows a decomposed LayerNormalization within tolerance", async () => {
  const { report } = await narrowAndRun(`(x: f32[2,8]) -> (y) {
    m = ReduceMean<axes=[-1]>(x)
    d = Sub(x, m)
    p = Pow(d, $two: f32[] = {2.0})
    v = ReduceMean<axes=[-1]>(p)
    e = Add(v, $eps: f32[] = {0.00001})
    r = Sqrt(e)
    n = Div(d, r)
    g = Mul(n, $gamma: f32[8])
    y = Add(g, $beta: f32[8])
  }`);
  expect(report).toMatchObject({ narrow: 9, float: [], castsAdded: 2 });
});

it("counts weights that become zero", () => {
  const { report } = narrow("(x: f32[3]) -> (y) { y = Mul(x, $w: f32[3] = {1.0e-9, 0.0, 1.0}) }");
  expect(report.flushed).toBe(1);
});

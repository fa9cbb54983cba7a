import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { bigintToLong, check, type Model, parseModel, printGraph, Tensor } from "../../../src/ir/index.js";
import { sinceVersions } from "../../../src/ops/since-versions.js";
import { compatible } from "../../../src/passes/opset/compatible.js";
import { convertOpset } from "../../../src/passes/opset/convert-opset.js";
import { converters } from "../../../src/passes/opset/converters.js";
import { NEWEST_OPSET, OLDEST_OPSET } from "../../../src/passes/opset/range.js";
import { type Feeds, largestDifference, runModel, seededFeeds } from "../../support/run-model.js";

/** Converts a graph written at one opset, compares its answers before and after, returns the text after. */
async function convert(text: string, from: number, to: number, feeds?: Feeds): Promise<string> {
  const before = await runModel(parseModel(text, { opset: from }), feeds ?? seededFeeds(parseModel(text)));
  const model = parseModel(text, { opset: from });
  convertOpset(model, to);
  check(model.graph);
  expect(model.opsets.get("")).toBe(to);
  const after = await runModel(model, feeds ?? seededFeeds(model));
  expect(largestDifference(before, after)).toBe(0);
  return printGraph(model.graph);
}

function refusal(text: string, from: number, to: number): InferOptError {
  const model = parseModel(text, { opset: from });
  const before = printGraph(model.graph);
  try {
    convertOpset(model, to);
  } catch (error) {
    expect(printGraph(model.graph)).toBe(before);
    expect(model.opsets.get("")).toBe(from);
    if (error instanceof InferOptError) return error;
    throw error;
  }
  throw new Error("it was converted");
}

const pools = (op: string): string =>
  `(x: f32[1,2,3,5]) -> (y) { y = ${op}<kernel_shape=[2,2],strides=[3,3],pads=[0,0,1,1],ceil_mode=1>(x) }`;

describe("the tables", () => {
  it("classify every change of an operator between the oldest and the newest opset, once", () => {
    const unclear: string[] = [];
    for (const [op, versions] of Object.entries(sinceVersions)) {
      for (const version of versions.slice(1)) {
        if (version <= OLDEST_OPSET || version > NEWEST_OPSET) continue;
        const ways = [
          converters[op]?.some(({ at }) => at === version) ?? false,
          compatible[op]?.includes(version) ?? false,
        ];
        if (ways.filter(Boolean).length !== 1) unclear.push(`${op} ${version}`);
      }
    }
    expect(unclear).toEqual([]);
  });

  it("name no version at which nothing changed", () => {
    const named = [
      ...Object.entries(compatible).flatMap(([op, versions]) => versions.map((version) => [op, version] as const)),
      ...Object.entries(converters).flatMap(([op, list]) => list.map(({ at }) => [op, at] as const)),
    ];
    expect(named.filter(([op, version]) => !sinceVersions[op]?.includes(version))).toEqual([]);
  });
});

describe("what was an attribute becomes an input", () => {
  it.each([
    ["Slice", 9, 13, "y = Slice<starts=[1,0],ends=[9223372036854775807,-1],axes=[0,2]>(x)", "x: f32[3,4,5]"],
    ["Slice without axes", 9, 13, "y = Slice<starts=[1],ends=[3]>(x)", "x: f32[3,4]"],
    ["TopK", 9, 17, "y, i = TopK<k=2>(x)", "x: f32[3,4]"],
    ["Clip with one bound", 9, 13, "y = Clip<min=0.25>(x)", "x: f32[3,4]"],
    ["Pad with a value", 10, 13, "y = Pad<pads=[0,1,0,2],value=3.5>(x)", "x: f32[3,4]"],
    ["Pad that reflects", 10, 18, 'y = Pad<pads=[0,1,0,2],mode="reflect">(x)', "x: f32[3,4]"],
    ["Squeeze", 11, 13, "y = Squeeze<axes=[-1]>(x)", "x: f32[3,4,1]"],
    ["Squeeze of all", 11, 21, "y = Squeeze(x)", "x: f32[3,1,1]"],
    ["Unsqueeze", 11, 21, "y = Unsqueeze<axes=[0,2]>(x)", "x: f32[3,4]"],
    ["ReduceSum", 11, 13, "y = ReduceSum<axes=[-1],keepdims=0>(x)", "x: f32[3,4]"],
    ["ReduceMean", 11, 18, "y = ReduceMean<axes=[1]>(x)", "x: f32[3,4]"],
    ["ReduceMax of all", 11, 21, "y = ReduceMax<keepdims=0>(x)", "x: f32[3,4]"],
    ["Split by sizes", 11, 18, "y, z = Split<axis=1,split=[1,3]>(x)", "x: f32[3,4]"],
    ["Split in halves", 11, 18, "y, z = Split<axis=1>(x)", "x: f32[3,4]"],
    ["Dropout", 9, 13, "y = Dropout<ratio=0.3>(x)", "x: f32[3,4]"],
    ["a Dropout whose ratio nobody looked at", 9, 13, "y = Dropout<ratio=-0.5>(x)", "x: f32[3,4]"],
    ["DFT", 17, 20, "y = DFT(x)", "x: f32[1,4,3,1]"],
  ])("%s, opset %i to %i", async (_, from, to, node, input) => {
    await convert(`(${input}) -> (y) { ${node} }`, from, to);
  });

  it("keeps the bounds of Clip in the data's type", async () => {
    const text = "(x: f32[3]) -> (y) { h = Cast<to=11>(x) c = Clip<min=-0.5,max=0.5>(h) y = Cast<to=1>(c) }";
    const model = parseModel(text, { opset: 9 });
    convertOpset(model, 12);
    const { y } = await runModel(model, { x: Tensor.f32([3], [-2, 0.25, 2]) });
    expect([...y!.f32()]).toEqual([-0.5, 0.25, 0.5]);
  });

  it("refuses a bound whose type nothing tells", () => {
    const text = "(x: f32[3]) -> (y) { a = mine::Op(x) c = Clip<min=0.0>(a) y = mine::Op(c) }";
    expect(refusal(text, 9, 11).fields).toMatchObject({ op: "Clip", at: 11 });
  });
});

it("leaves no empty name behind of the sizes that a Split does without", async () => {
  const text = await convert("(x: f32[2,6]) -> (y, z) { y, z = Split<axis=1>(x, _) }", 17, 18);
  expect(text).toContain("Split<axis=1, num_outputs=2>(x)");
});

it("splits nothing by sizes", async () => {
  const text = await convert("(x: f32[2,0]) -> (y, z) { y, z = Split<axis=1>(x) }", 17, 18);
  expect(text).toContain("i64[2] = {0, 0}");
});

describe("Softmax", () => {
  it("is normalized over the last axis as it was when that is the axis", async () => {
    const text = await convert("(x: f32[3,4]) -> (y) { y = Softmax(x) }", 11, 13);
    expect(text).toBe("(x: f32[3,4]) -> (y) {\n  y = Softmax<axis=1>(x)\n}");
  });

  it.each(["Softmax", "LogSoftmax", "Hardmax"])("%s keeps flattening, shape known", async (op) => {
    expect(await convert(`(x: f32[2,3,4]) -> (y) { y = ${op}(x) }`, 11, 13)).toContain("Flatten<axis=1>");
  });

  it("keeps flattening when the shape is known at run time only, and when its result is read twice", async () => {
    const text = "(x: f32[?,3,4]) -> (y, z) { a = Relu(x) y = Softmax<axis=-2>(a) z = Neg(y) }";
    expect(await convert(text, 11, 17)).toContain("Shape(a)");
  });

  it("takes sizes that are zero at run time", async () => {
    const feeds = { x: Tensor.f32([3, 4, 0], []) };
    const text = "(x: f32[?,?,?]) -> (y) { a = Relu(x) y = Softmax<axis=1>(a) }";
    expect(await convert(text, 11, 17, feeds)).toContain("allowzero=1");
  });

  it("knows the rank of what Compress picks of all elements", async () => {
    const text = "(x: f32[2,2]) -> (y) { a = Compress(x, $c: bool[2] = {0}) y = Hardmax<axis=0>(a) }";
    expect(await convert(text, 10, 17)).not.toContain("Flatten");
  });

  it("flattens nothing when all but one axis are 1", async () => {
    expect(await convert("(x: f32[2,5,1,1]) -> (y) { y = Softmax<axis=1>(x) }", 9, 13)).not.toContain("Flatten");
    expect(await convert("(x: f32[2,0,3,4]) -> (y) { y = Softmax<axis=1>(x) }", 9, 13)).not.toContain("Flatten");
  });
});

describe("Upsample and Resize", () => {
  it.each([
    ["Upsample nearest", 7, "y = Upsample<scales=[1.0,1.0,2.0,1.7]>(x)"],
    ["Upsample linear", 8, 'y = Upsample<mode="linear",scales=[1.0,1.0,2.0,3.0]>(x)'],
    ["Upsample with scales as input", 9, "y = Upsample(x, $s: f32[4] = {1.0, 1.0, 1.5, 2.5})"],
    ["Resize that grows", 10, "y = Resize(x, $s: f32[4] = {1.0, 1.0, 1.5, 2.5})"],
    ["Resize that shrinks", 10, "y = Resize(x, $s: f32[4] = {1.0, 1.0, 0.6, 0.7})"],
    ["Resize that does both", 10, "y = Resize(x, $s: f32[4] = {1.0, 1.0, 0.6, 1.7})"],
    ["Resize linear", 10, 'y = Resize<mode="linear">(x, $s: f32[4] = {1.0, 1.0, 0.6, 1.7})'],
  ])("%s, opset %i to 11, 13 and 19", async (_, from, node) => {
    const graph = `(x: f32[1,2,5,7]) -> (y) { ${node} }`;
    for (const to of [11, 13, 19]) expect(await convert(graph, from, to)).not.toContain("= Upsample");
  });

  it("handles scales that are computed and both grow and shrink", async () => {
    const graph = "(x: f32[1,2,5,7], s: f32[4]) -> (y) { t = Abs(s) y = Resize(x, t) }";
    const x = seededFeeds(parseModel(graph))["x"]!;
    await convert(graph, 10, 13, { x, s: Tensor.f32([4], [1, 1, 0.55, 1.8]) });
  });

  it("takes the rounding of Upsample for granted when its scales are computed", async () => {
    const graph = "(x: f32[1,2,5,7], s: f32[4]) -> (y) { y = Upsample(x, s) }";
    const model = parseModel(graph, { opset: 9 });
    convertOpset(model, 11);
    expect(printGraph(model.graph).match(/= Resize/g)).toHaveLength(1);
  });

  it("refuses the coordinates that opset 13 does not have", () => {
    const text =
      '(x: f32[1,1,4,4]) -> (y) { y = Resize<coordinate_transformation_mode="tf_half_pixel_for_nn">(x, $r: f32[0], $s: f32[4] = {1.0,1.0,2.0,2.0}) }';
    expect(refusal(text, 11, 13).fields).toMatchObject({ op: "Resize", node: "Resize:y", at: 13, from: 11, to: 13 });
  });
});

describe("others", () => {
  it("gives GroupNormalization a scale for each channel", async () => {
    const graph = "(x: f32[2,?,3]) -> (y) { y = GroupNormalization<num_groups=2>(x, $s: f32[2], $b: f32[2]) }";
    const model = parseModel(graph, { opset: 18 });
    convertOpset(model, 21);
    check(model.graph);
    // Opset 18 has no kernel in the runtime: compare with the formula, through the groups' own scales.
    const same = parseModel(
      `(x: f32[2,?,3]) -> (y) { r = Reshape(x, $g: i64[3] = {0, 2, -1}) n = InstanceNormalization(r, $s: f32[2], $b: f32[2])
        h = Shape(x) y = Reshape(n, h) }`,
      { opset: 18 },
    );
    const feeds = seededFeeds(model, 4);
    expect(largestDifference(await runModel(model, feeds), await runModel(same, feeds))).toBeLessThan(1e-5);
  });

  it("renames the modes of GridSample", async () => {
    const text = await convert(
      '(x: f32[1,1,4,4], g: f32[1,3,3,2]) -> (y) { y = GridSample<mode="bicubic">(x, g) }',
      16,
      20,
    );
    expect(text).toContain('mode="cubic"');
  });

  it("keeps the coordinates of RoiAlign", async () => {
    const graph =
      "(x: f32[1,1,6,6], r: f32[1,4]) -> (y) { y = RoiAlign<output_height=2,output_width=2>(x, r, $b: i64[1] = {0}) }";
    const x = seededFeeds(parseModel(graph))["x"]!;
    await convert(graph, 10, 16, { x, r: Tensor.f32([1, 4], [0.5, 1, 4, 5]) });
  });

  it("turns Scatter into ScatterElements", async () => {
    const graph = "(x: f32[3]) -> (y) { y = Scatter(x, $i: i64[1] = {1}, $u: f32[1] = {9.0}) }";
    expect(await convert(graph, 9, 13)).toContain("ScatterElements");
  });

  it("drops a mask of Dropout that nobody reads, and refuses one that is read", async () => {
    await convert("(x: f32[3]) -> (y) { y, m = Dropout(x) }", 9, 13);
    expect(refusal("(x: f32[3]) -> (y, m) { y, m = Dropout(x) }", 9, 13).code).toBe("OPSET_UNCONVERTIBLE");
  });
});

describe("opset 22 to 25", () => {
  it.each([
    ["Relu and Dropout", 13, "(x: f32[3,4]) -> (y) { a = Relu(x) y = Dropout(a) }"],
    ["windows that start beyond the input", 19, pools("AveragePool")],
    ["the same of MaxPool", 12, pools("MaxPool")],
    ["the same of LpPool", 18, pools("LpPool")],
    [
      "what is quantized",
      21,
      "(x: f32[3,4]) -> (y) { q = QuantizeLinear(x, $s: f32[] = {0.01}, $z: u8[] = {128}) y = DequantizeLinear(q, $s, $z) }",
    ],
    [
      "Attention with a causal mask",
      23,
      "(q: f32[1,2,3,4], k: f32[1,2,5,4], v: f32[1,2,5,4]) -> (y) { y = Attention<is_causal=1>(q, k, v) }",
    ],
    [
      "Attention with a past",
      23,
      "(q: f32[1,2,3,4], k: f32[1,2,3,4], v: f32[1,2,3,4], pk: f32[1,2,2,4], pv: f32[1,2,2,4]) -> (y) { y, nk, nv = Attention<is_causal=1>(q, k, v, _, pk, pv) }",
    ],
    ["a Cast to bool and back", 7, "(x: f32[3,4]) -> (y) { b = Cast<to=9>(x) y = Cast<to=1>(b) }"],
    [
      "Slice, Split, Squeeze, reductions and Softmax",
      9,
      "(x: f32[2,4,1]) -> (y) { a, b = Split<axis=1>(x) c = Sub(a, b) d = Squeeze<axes=[2]>(c) e = Softmax(d) f = ReduceMax<axes=[0]>(e) y = Slice<axes=[1],starts=[1],ends=[2]>(f) }",
    ],
  ])("leaves the answers as they are: %s, from opset %i", async (_, from, graph) => {
    for (const to of [22, 23, 24, 25]) if (to >= from) await convert(graph, from, to);
  });

  it("refuses a Cast of floats to a float8 type without infinity, unless it never saturated", () => {
    const graph = (attributes: string) => `(x: f32[3]) -> (y) { y = Cast<${attributes}>(x) }`;
    for (const to of [18, 20]) {
      expect(refusal(graph(`to=${to}`), 19, 24).fields).toMatchObject({ op: "Cast", at: 24 });
      const model = parseModel(graph(`to=${to},saturate=0`), { opset: 19 });
      expect(convertOpset(model, 25).to).toBe(25);
    }
    expect(convertOpset(parseModel(graph("to=17"), { opset: 19 }), 25).to).toBe(25);
    const like = "(x: f32[3], t: f8e4m3fnuz[]) -> (y) { y = CastLike(x, t) }";
    expect(refusal(like, 19, 25).fields).toMatchObject({ op: "CastLike", at: 24 });
  });
});

describe("bodies", () => {
  it("are converted with what they capture", async () => {
    const graph = `(c: bool[], x: f32[2,3,4]) -> (y) {
      n = Neg(x)
      y = If<then_branch=() -> (a) { a = ReduceSum<axes=[1]>(n) }, else_branch=() -> (b) { s = Softmax(n) b = ReduceSum<axes=[1]>(s) }>(c)
    }`;
    await convert(graph, 11, 17);
  });

  it("that stand in the way are found", () => {
    const graph = `(c: bool[], x: f32[3]) -> (y) {
      y = If<then_branch=() -> (a) { a, m = Dropout(x) k = Identity(m) a2 = Identity(a) }, else_branch=() -> (b) { b = Neg(x) }>(c)
    }`;
    expect(refusal(graph, 11, 13).message).toContain("Dropout node Dropout:a cannot go from opset 11 to 13");
  });
});

describe("what is refused", () => {
  it("all of it is listed, and nothing is changed", () => {
    const graph = `(x: f32[1,3,2,2]) -> (y) {
      u = Squeeze<axes=[0]>(x)
      a = BatchNormalization<spatial=0>(x, $s: f32[3], $b: f32[3], $m: f32[3], $v: f32[3])
      y, mean, var, saved_mean, saved_var = BatchNormalization(a, $s, $b, $m, $v)
    }`;
    const { refusals } = refusal(graph, 8, 17).fields as { refusals: { at: number }[] };
    expect(refusals.map(({ at }) => at)).toEqual([9, 14]);
  });

  it("an operator that ai.onnx does not have is named", () => {
    expect(refusal("(x: f32[3]) -> (y) { y = Affine(x) }", 9, 13).message).toContain("Affine node Affine:y");
  });

  it("a vector of scales before opset 13", () => {
    const graph = "(x: f32[2,3]) -> (y) { y = QuantizeLinear(x, $s: f32[3], $z: u8[3]) }";
    expect(refusal(graph, 12, 13).fields["op"]).toBe("QuantizeLinear");
  });

  it.each([
    [6, 13],
    [17, 26],
  ])("opset %i to %i", (from, to) => {
    expect(refusal("(x: f32[3]) -> (y) { y = Relu(x) }", from, to).code).toBe("OPSET_UNSUPPORTED");
  });
});

describe("what stays", () => {
  it("a model that is already there", () => {
    const model = parseModel("(x: f32[3]) -> (y) { y = Relu(x) }", { opset: 18 });
    expect(convertOpset(model, 17)).toMatchObject({ from: 18, to: 18 });
    expect(model.opsets.get("")).toBe(18);
  });

  it("operators of other domains that bear the same name", () => {
    const model = parseModel("(x: f32[3]) -> (y) { y = mine::Squeeze<axes=[0]>(x) }", { opset: 11 });
    convertOpset(model, 13);
    expect(printGraph(model.graph)).toContain("mine::Squeeze<axes=[0]>(x)");
  });

  it.each([
    [13, 7],
    [17, 8],
    [19, 9],
    [21, 10],
    [22, 10],
    [23, 11],
    [24, 12],
    [25, 13],
  ])("opset %i raises the IR version to %i, not beyond", (opset, irVersion) => {
    const model = parseModel("(x: f32[3]) -> (y) { y = Relu(x) }", { opset: 8 });
    model.irVersion = 3;
    convertOpset(model, opset);
    expect(model.irVersion).toBe(irVersion);
  });
});

describe("functions of the model", () => {
  const withFunction = (op: string): Model => ({
    ...parseModel("(x: f32[3]) -> (y) { y = local::F(x) }", { opset: 12 }),
    functions: new Set(["local::F"]),
    extras: {
      functions: [
        {
          name: "F",
          domain: "local",
          input: ["a"],
          output: ["b"],
          opset_import: [{ domain: "", version: 12 }],
          node: [{ op_type: op, input: ["a"], output: ["b"] }],
        },
      ],
    },
  });

  it("follow when nothing in them changes meaning", async () => {
    const model = withFunction("Relu");
    convertOpset(model, 17);
    const { y } = await runModel(model, { x: Tensor.f32([3], [-1, 0, 2]) });
    expect([...y!.f32()]).toEqual([0, 0, 2]);
    expect(model.extras).toMatchObject({ functions: [{ opset_import: [{ version: { low: 17, high: 0 } }] }] });
  });

  it("state their opset as a file does", () => {
    const model = withFunction("Relu");
    Object.assign((model.extras as { functions: object[] }).functions[0]!, {
      opset_import: [{ domain: "", version: bigintToLong(12n) }],
    });
    convertOpset(model, 17);
    expect(model.extras).toMatchObject({ functions: [{ opset_import: [{ version: { low: 17 } }] }] });
  });

  it("follow a Cast to all but the float8 types that change", () => {
    const casting = (to: number) => {
      const model = withFunction("Cast");
      const { functions } = model.extras as { functions: { node: object[] }[] };
      functions[0]!.node = [
        { op_type: "Cast", input: ["a"], output: ["b"], attribute: [{ name: "to", type: 2, i: to }] },
      ];
      return model;
    };
    expect(convertOpset(casting(1), 25).to).toBe(25);
    expect(() => convertOpset(casting(18), 25)).toThrow("Cast node local::F cannot go from opset 12 to 25");
  });

  it("stand in the way when something does", () => {
    expect(() => convertOpset(withFunction("Softmax"), 13)).toThrow(
      "Softmax node local::F cannot go from opset 12 to 13",
    );
  });
});

describe("what ONNX Runtime has under names of ai.onnx", () => {
  it.each([
    [
      "LayerNormalization",
      "(x: f32[3,8]) -> (y) { y = LayerNormalization<axis=-1, epsilon=0.01>(x, $g: f32[8], $b: f32[8]) }",
    ],
    [
      "SimplifiedLayerNormalization",
      "(x: f32[3,8]) -> (y) { y = SimplifiedLayerNormalization<epsilon=0.01>(x, $g: f32[8]) }",
    ],
  ])("goes along as it is: %s", async (op, text) => {
    for (const [from, to] of [
      [11, 13],
      [13, 17],
      [14, 23],
    ] as const)
      expect(await convert(text, from, to)).toContain(op);
  });

  it("stays behind where its inputs are of several types", async () => {
    const text = "(x: f32[3,8], g: f16[8]) -> (y) { y = LayerNormalization<axis=-1>(x, g) }";
    expect(refusal(text, 13, 17).message).toContain("its inputs are of several types: f32, f16");
    const model = parseModel(text, { opset: 13 });
    expect(convertOpset(model, 16).to).toBe(16);
  });
});

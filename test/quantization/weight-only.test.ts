import { describe, expect, it } from "vitest";
import { check, type Model, nodesWithin, Tensor } from "../../src/ir/index.js";
import { weightBlocks } from "../../src/quantization/blocks/weight-blocks.js";
import { BLOCKS_OPSET, quantizeWeights, type WeightOnlyOptions } from "../../src/quantization/weight-only.js";
import { errorOf, opsOf, optimizedByRuntime, prepared } from "../support/quantize-text.js";
import { seededFeeds } from "../support/run-model.js";

async function quantized(text: string, options: Partial<WeightOnlyOptions> = {}, opset?: number) {
  const bits = options.bits ?? 8;
  const version = opset ?? (bits === 4 || options.inBlocks ? BLOCKS_OPSET : 13);
  const [float, model] = [await prepared(text, version), await prepared(text, version)];
  const report = quantizeWeights(model, { bits, ...options });
  check(model.graph);
  return { float, model, report, feeds: seededFeeds(float) };
}

const stored = ({ graph }: Model, dtype: string): number =>
  graph.constants.filter((value) => value.dtype === dtype).length;

describe("weights in 8 bits", () => {
  it.each([
    ["Conv", "(x: f32[1,16,4,4]) -> (y) { y = Conv(x, $w: f32[64,16,1,1], $b: f32[64]) }"],
    ["grouped Conv", "(x: f32[1,64,4,4]) -> (y) { y = Conv<group=2>(x, $w: f32[64,32,1,1]) }"],
    ["ConvTranspose", "(x: f32[1,16,4,4]) -> (y) { y = ConvTranspose(x, $w: f32[16,64,1,1]) }"],
    ["MatMul", "(x: f32[3,32]) -> (y) { y = MatMul(x, $w: f32[32,40]) }"],
    ["MatMul of a batch of weights", "(x: f32[2,3,32]) -> (y) { y = MatMul(x, $w: f32[2,32,40]) }"],
    ["MatMul with weights first", "(x: f32[40,3]) -> (y) { y = MatMul($w: f32[32,40], x) }"],
    ["Gemm", "(x: f32[3,32]) -> (y) { y = Gemm(x, $w: f32[32,40], $b: f32[40]) }"],
    ["transposed Gemm", "(x: f32[3,32]) -> (y) { y = Gemm<transB=1>(x, $w: f32[40,32], $b: f32[40]) }"],
    ["LSTM", "(x: f32[5,1,16]) -> (y) { y = LSTM<hidden_size=16>(x, $w: f32[1,64,16], $r: f32[1,64,16]) }"],
  ])("%s: loads, and is close to float", async (_, text) => {
    const { float, model, report, feeds } = await quantized(text);
    expect(report.quantized).toHaveLength(1);
    expect(stored(model, "i8")).toBe(text.includes("LSTM") ? 2 : 1);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("take 16 bits where so many are wanted, with next to no error", async () => {
    const text = "(x: f32[5,1,16]) -> (y) { y = LSTM<hidden_size=16>(x, $w: f32[1,64,16], $r: f32[1,64,16]) }";
    const { float, model, feeds } = await quantized(text, { bits: 16 });
    expect(stored(model, "i16")).toBe(2);
    expect(await errorOf(float, model, feeds)).toBeLessThan(1e-4);
  });

  it("are widened when the runtime loads the model, not in every run", async () => {
    const body =
      "(x: f32[1,16,4,4], c: bool) -> (y) { y = If<then_branch=() -> (t) { t = Conv(x, $w: f32[64,16,1,1]) }, else_branch=() -> (e) { e = Conv(x, $v: f32[64,16,1,1]) }>(c) }";
    const { model } = await quantized(body);
    const loaded = await optimizedByRuntime(model);
    expect([...nodesWithin(loaded.graph)].filter(({ op }) => op === "Cast" || op === "Mul")).toEqual([]);
  });

  it("are stored once, and widened once, for all readers", async () => {
    const { model } = await quantized("(x: f32[3,32]) -> (y) { a = MatMul(x, $w: f32[32,32])\n y = MatMul(a, $w) }");
    expect(stored(model, "i8")).toBe(1);
    expect(opsOf(model)).toEqual(["Cast", "Mul", "MatMul", "MatMul"]);
  });

  it("are widened outside of the bodies that read them", async () => {
    const text = `(x: f32[3,32], c: bool) -> (y) {
      $w: f32[32,32]
      y = If<then_branch=() -> (t) { t = MatMul(x, $w) }, else_branch=() -> (e) { n = Neg(x)\n e = MatMul(n, $w) }>(c) }`;
    const { float, model, feeds } = await quantized(text);
    expect(stored(model, "i8")).toBe(1);
    expect(opsOf(model)).toEqual(["Cast", "Mul", "If"]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.012);
  });

  it("are stored per form where readers take their channels differently", async () => {
    const text = "(x: f32[3,32]) -> (y) { a = Gemm(x, $w: f32[32,32])\n y = Gemm<transB=1>(a, $w) }";
    const { float, model, feeds } = await quantized(text);
    expect(stored(model, "i8")).toBe(2);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.02);
  });

  it("leave small weights, activations, and nodes that are to stay float", async () => {
    const text = `(x: f32[3,32]) -> (y) { a = MatMul(x, $w: f32[32,40])
      b = MatMul(a, $v: f32[40,8])
      y = MatMul(a, $u: f32[40,40]) }`;
    const { report } = await quantized(text, { keepFloat: new Map([["MatMul:a", "said so"]]) });
    expect(report).toEqual({
      quantized: ["MatMul:y"],
      float: [
        { node: "MatMul:a", op: "MatMul", reason: "said so" },
        { node: "MatMul:b", op: "MatMul", reason: expect.stringContaining("320 weights: below 1024") },
      ],
      inBlocks: new Set(),
      notes: [],
    });
  });

  it("say of each node why it has none that could be stored", async () => {
    const { report } = await quantized(`(x: f32[32,32], z: f64[32,32]) -> (y, d, e) {
      y = MatMul(x, x)
      d = MatMul(z, $u: f64[32,40])
      e = MatMul(x, $v: f32[32]) }`);
    expect(report.float.map(({ reason }) => reason)).toEqual([
      "no constant weights: all that it reads is computed",
      "weights of type f64",
      expect.stringContaining("32 weights: below 1024"),
    ]);
  });

  it("are stored once for a look-up and a product with the same channels, whichever comes first", async () => {
    const look = "y = Gather($t: f32[1024,64], i)";
    for (const text of [
      `${look}\n z = Gemm<transB=1>(x, $t)`,
      `z = Gemm<transB=1>(x, $t: f32[1024,64])\n y = Gather($t, i)`,
    ]) {
      const whole = `(i: i64[2], x: f32[3,64]) -> (y, z) { ${text} }`;
      const { float, model, report, feeds } = await quantized(whole);
      expect(report.quantized).toHaveLength(2);
      expect([stored(model, "i8"), stored(model, "f32")]).toEqual([1, 1]);
      expect(await errorOf(float, model, feeds)).toBeLessThan(0.012);
    }
  });

  it("include tables that are looked up", async () => {
    const { report } = await quantized("(i: i64[2]) -> (y) { y = Gather($t: f32[1024,64], i) }");
    expect(report.quantized).toEqual(["Gather:y"]);
  });
});

describe("weights in 4 bits", () => {
  it("are 8 in a table that rows are looked up in and whose rows are a product's channels: both read the same", async () => {
    const text = (end: string) => `(i: i64[2,3]) -> (y) {
      e = Gather($t: f32[1100,64], i)\n f = Reshape(e, $s: i64[2] = {6,64})\n ${end} }`;
    const tied = await quantized(text("y = Gemm<transB=1>(f, $t)"), { bits: 4 });
    expect([stored(tied.model, "i8"), stored(tied.model, "i4")]).toEqual([1, 0]);
    expect(await errorOf(tied.float, tied.model, tied.feeds)).toBeLessThan(0.03);
    // Whose columns are the channels: they have no scales in common, and 4 bits take less.
    const across = "(i: i64[2,3], h: f32[6,1100]) -> (e, y) { e = Gather($t: f32[1100,64], i)\n y = MatMul(h, $t) }";
    const apart = await quantized(across, { bits: 4 });
    expect(stored(apart.model, "i4")).toBeGreaterThan(0);
  });

  it.each([
    ["whole blocks", 64],
    ["a last block that is not full", 100],
    ["less than one block", 20],
  ])("%s: loads, and is close to float", async (_, rows) => {
    const text = `(x: f32[3,${rows}]) -> (y) { y = MatMul(x, $w: f32[${rows},64]) }`;
    const { float, model, report, feeds } = await quantized(text, { bits: 4 });
    expect(report.quantized).toEqual(["MatMul:y"]);
    expect(stored(model, "i4")).toBe(2); // and their zero points
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.1);
  });

  it("become the runtime's 4-bit kernel", async () => {
    const { model } = await quantized("(x: f32[3,64]) -> (y) { y = MatMul(x, $w: f32[64,64]) }", { bits: 4 });
    expect(opsOf(await optimizedByRuntime(model))).toEqual(["MatMulNBits"]);
  });

  it("are those that were rounded before, where they were", async () => {
    const text = "(x: f32[3,64]) -> (y) { y = MatMul(x, $w: f32[64,64]) }";
    const zeros = weightBlocks(Tensor.f32([64, 64], new Float32Array(4096)), 4);
    const { model } = await quantized(text, { bits: 4, rounded: new Map([["w", zeros]]) });
    const integers = model.graph.constants.find(({ label }) => label === "w/quantized")!.constant!;
    expect(integers.bytes()).toEqual(zeros.integers.bytes());
  });

  it.each([
    ["Gemm", "(x: f32[3,64]) -> (y) { y = Gemm(x, $w: f32[64,48], $b: f32[48]) }"],
    ["transposed Gemm", "(x: f32[3,64]) -> (y) { y = Gemm<transB=1>(x, $w: f32[48,64], $b: f32[48]) }"],
    ["Gemm without an addend", "(x: f32[3,64]) -> (y) { y = Gemm<transB=1>(x, $w: f32[48,64]) }"],
  ])("of a %s become the runtime's 4-bit kernel", async (_, text) => {
    const { float, model, report, feeds } = await quantized(text, { bits: 4 });
    expect([...report.inBlocks]).toEqual(["Gemm:y"]);
    expect(opsOf(await optimizedByRuntime(model))).toEqual(["MatMulNBits"]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.1);
  });

  it("become it before a Relu, which the runtime would merge into the product", async () => {
    const text = `(x: f32[3,64]) -> (y) { a = Gemm<transB=1>(x, $w: f32[48,64], $b: f32[48])
      r = Relu(a)\n t = MatMul(r, $u: f32[48,40])\n y = Tanh(t) }`;
    const { float, model, feeds } = await quantized(text, { bits: 4 });
    expect(opsOf(await optimizedByRuntime(model))).toEqual(["MatMulNBits", "Relu", "MatMulNBits", "Tanh"]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.25);
  });

  it.each(["MatMul", "Gemm"])(
    "are 8 bits of a %s right before a Relu, where the runtime finds no blocks",
    async (op) => {
      const { report } = await quantized(`(x: f32[3,64]) -> (y) { a = ${op}(x, $w: f32[64,48])\n y = Relu(a) }`, {
        bits: 4,
      });
      expect(report.inBlocks.size).toBe(0);
    },
  );

  it("are 8 bits, stored once, of a matrix that another product cannot read in blocks", async () => {
    const text = "(x: f32[3,64]) -> (y) { a = MatMul(x, $w: f32[64,64])\n r = Relu(a)\n y = MatMul(r, $w) }";
    const { float, model, report, feeds } = await quantized(text, { bits: 4 });
    expect(report.inBlocks.size).toBe(0);
    expect([stored(model, "i4"), stored(model, "i8")]).toEqual([0, 1]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("are stored for either way of reading a square matrix", async () => {
    const text = "(x: f32[3,64]) -> (y) { a = MatMul(x, $w: f32[64,64])\n y = Gemm<transB=1>(a, $w) }";
    const { float, model, feeds } = await quantized(text, { bits: 4 });
    expect(stored(model, "i4")).toBe(4);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.15);
  });

  it.each([
    "Gemm<transA=1>(x, $w: f32[64,48])",
    "Gemm<alpha=0.5>(x, $w: f32[64,48])",
    "Gemm<beta=0.5>(x, $w: f32[64,48], $b: f32[48])",
    "Gemm(x, $w: f32[64,48], $b: f32[64,1])",
  ])("are 8 bits for what the kernel does not compute: %s", async (expression) => {
    const { float, model, report, feeds } = await quantized(`(x: f32[64,64]) -> (y) { y = ${expression} }`, {
      bits: 4,
    });
    expect(report.quantized).toEqual(["Gemm:y"]);
    expect(report.inBlocks.size).toBe(0);
    expect([stored(model, "i4"), stored(model, "i8")]).toEqual([0, 1]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.03);
  });

  it("pack an odd number of elements", async () => {
    const { float, model, feeds } = await quantized("(x: f32[3,35]) -> (y) { y = MatMul(x, $w: f32[35,31]) }", {
      bits: 4,
    });
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.1);
  });

  it("are stored once for all readers", async () => {
    const text = "(x: f32[3,64]) -> (y) { a = MatMul(x, $w: f32[64,64])\n y = MatMul(a, $w) }";
    expect(stored((await quantized(text, { bits: 4 })).model, "i4")).toBe(2);
  });

  it("are 8 bits where there is no kernel for fewer, and below opset 21", async () => {
    const conv = "(x: f32[1,16,4,4]) -> (y) { y = Conv(x, $w: f32[64,16,1,1]) }";
    expect(stored((await quantized(conv, { bits: 4 })).model, "i8")).toBe(1);
    const old = await quantized("(x: f32[3,64]) -> (y) { y = MatMul(x, $w: f32[64,64]) }", { bits: 4 }, 17);
    expect([stored(old.model, "i4"), stored(old.model, "i8")]).toEqual([0, 1]);
  });
});

describe("weights in blocks of 8 bits", () => {
  const inBlocks = { bits: 8, inBlocks: true } as const;

  it.each([
    ["whole blocks", 256],
    ["a last block that is not full", 300],
    ["less than one block", 40],
  ])("%s: become the runtime's kernel at accuracy level 4, and say so", async (_, rows) => {
    const text = `(x: f32[3,${rows}]) -> (y) { y = MatMul(x, $w: f32[${rows},64]) }`;
    const { float, model, report, feeds } = await quantized(text, inBlocks);
    const [kernel] = [...(await optimizedByRuntime(model)).graph.nodes()];
    expect([kernel!.op, kernel!.int("bits", 0), kernel!.int("accuracy_level", 0)]).toEqual(["MatMulNBits", 8, 4]);
    expect(report.notes).toEqual([expect.stringContaining("accuracy level 4")]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.012);
  });

  it("of a Gemm stored transposed too", async () => {
    const text = "(x: f32[3,256]) -> (y) { y = Gemm<transB=1>(x, $w: f32[64,256], $b: f32[64]) }";
    const { float, model, feeds } = await quantized(text, inBlocks);
    expect(opsOf(await optimizedByRuntime(model))).toEqual(["MatMulNBits"]);
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.012);
  });

  it("are one scale per channel where nothing reads blocks, and below opset 21", async () => {
    const gemm = "(x: f32[64,3]) -> (y) { y = Gemm<transA=1>(x, $w: f32[64,64], $b: f32[64]) }";
    const { model, report } = await quantized(gemm, inBlocks);
    expect([opsOf(model), report.notes]).toEqual([["Cast", "Mul", "Gemm"], []]);
    const left = "(x: f32[64,3]) -> (y) { y = MatMul($w: f32[64,64], x) }";
    expect(opsOf((await quantized(left, inBlocks)).model)).toEqual(["Cast", "Mul", "MatMul"]);
    const product = "(x: f32[3,64]) -> (y) { y = MatMul(x, $w: f32[64,64]) }";
    expect(opsOf((await quantized(product, inBlocks, 17)).model)).toEqual(["Cast", "Mul", "MatMul"]);
  });
});

import { describe, expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { saturableNodes } from "../../src/quantization/saturable.js";
import { integerTarget } from "../../src/target/integer-kernels.js";
import { quantizeText } from "../support/quantize-text.js";

const found = (body: string, inputs: string): readonly string[] =>
  saturableNodes(parseModel(`(${inputs}) -> (y) {\n ${body} }`)).map((name) => name.split(":")[0]!);

const SCALES = "$s: f32[] = {0.1}, $z: i8[] = {0}";

const lstm = 'com.microsoft::DynamicQuantizeLSTM<direction="bidirectional",hidden_size=1>';
const REST = "_, _, _, _, _, s, z, s, z";
const FRAMES = "x: f32[3,1,2], s: f32[2], z: i8[2]";

describe("saturableNodes", () => {
  it.each([
    ["MatMulInteger(x, $w: i8[2,1] = {100,29})", "x: u8[1,2]", true],
    ["MatMulInteger(x, $w: i8[2,1] = {100,28})", "x: u8[1,2]", false],
    ["MatMulInteger(x, $w: i8[2,1] = {127,-127})", "x: u8[1,2]", false],
    // Unsigned weights are widened to 16 bits first.
    ["MatMulInteger(x, $w: u8[2,1] = {255,255})", "x: u8[1,2]", false],
    ["MatMulInteger(x, v)", "x: u8[1,2], v: i8[2,1]", false],
    ["com.microsoft::QGemm<transB=1>(x, q, p, $w: i8[1,2] = {100,29}, q, p)", "x: u8[1,2], q: f32, p: u8", true],
    [`${lstm}(x, $w: i8[2,2,4] = {1,1,1,1,1,1,1,1, 1,1,1,100,1,1,1,29}, $r: i8[2,1,4], ${REST})`, FRAMES, true],
    [`${lstm}(x, $w: i8[2,2,4] = {1,1,1,1,1,1,1,1, 1,1,1,100,1,1,29,1}, $r: i8[2,1,4], ${REST})`, FRAMES, false],
    ["ConvInteger(x, $w: i8[1,2,1,1] = {100,29})", "x: u8[1,2,3,3]", true],
    ["ConvInteger<group=2>(x, $w: i8[2,1,1,2] = {100,100,100,100})", "x: u8[1,2,3,3]", false],
  ])("%s", (expression, inputs, isFound) => {
    expect(found(`y = ${expression}`, inputs)).toHaveLength(isFound ? 1 : 0);
  });

  it("looks through Q/DQ pairs, but not at weights that are widened for float arithmetic", () => {
    const weight = `w = DequantizeLinear($i: i8[2,1] = {127,127}, ${SCALES})`;
    const product = `${weight}\n y = MatMul(a, w)`;
    const pair = "a = DequantizeLinear(x, $t: f32[] = {0.1}, $u: u8[] = {0})";
    expect(found(`${pair}\n ${product}`, "x: u8[1,2]")).toEqual(["MatMul"]);
    expect(found(product, "a: f32[1,2]")).toEqual([]);
  });

  it("finds none in what is quantized for a processor without VNNI", async () => {
    const text = `(x: f32[1,8,6,6]) -> (y) {
      a = Conv(x, $w: f32[16,8,3,3], $b: f32[16])
      d = Conv<group=16>(a, $v: f32[16,1,3,3])
      g = GlobalAveragePool(d)
      f = Flatten(g)
      y = Gemm<transB=1>(f, $u: f32[10,16], $c: f32[10])
    }`;
    const quantized = async (flags: readonly string[]) =>
      saturableNodes((await quantizeText(text, {}, integerTarget("cpu", "x64", flags))).model);
    expect((await quantized(["avx2", "avx512_vnni"])).length).toBeGreaterThan(0);
    expect(await quantized(["avx2"])).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { type Node, parseModel } from "../../src/ir/index.js";
import { channelAxis, isTurnedGemm, whyNotPlainGemm } from "../../src/quantization/gemm.js";

const nodeOf = (text: string): Node => [...parseModel(text, { opset: 17 }).graph.nodes()][0]!;
const gemm = (attributes = "", bias = ""): Node =>
  nodeOf(`(x: f32[2,4]) -> (y) { y = Gemm${attributes}(x, $w: f32[4,4]${bias}) }`);
const matMul = nodeOf("(x: f32[2,4]) -> (y) { y = MatMul(x, $w: f32[4,8]) }");
const conv = nodeOf("(x: f32[1,4,5,5]) -> (y) { y = Conv(x, $w: f32[8,4,3,3]) }");

describe("whyNotPlainGemm", () => {
  it("is null of a product and a bias, whichever way the matrix is stored", () => {
    for (const node of [gemm(), gemm("<transB=1>"), gemm("<alpha=1.0, beta=1.0>", ", $b: f32[4]")])
      expect(whyNotPlainGemm(node)).toBeNull();
  });

  it("names what else it does", () => {
    expect(whyNotPlainGemm(gemm("<transA=1>"))).toBe("Gemm with transA");
    expect(whyNotPlainGemm(gemm("<alpha=0.5>"))).toBe("Gemm with alpha other than 1");
    expect(whyNotPlainGemm(gemm("<beta=0.5>", ", $b: f32[4]"))).toBe("Gemm with beta other than 1");
  });

  it("takes no beta of a bias that is not there", () => {
    expect(whyNotPlainGemm(gemm("<beta=0.5>"))).toBeNull();
  });
});

describe("channelAxis", () => {
  it("is that of the matrix or kernel which makes channels", () => {
    expect([gemm(), gemm("<transB=1>"), matMul, conv].map(channelAxis)).toEqual([1, 0, 1, 0]);
  });
});

describe("isTurnedGemm", () => {
  it("is so of a Gemm alone", () => {
    expect([gemm(), gemm("<transB=1>"), matMul].map(isTurnedGemm)).toEqual([false, true, false]);
  });
});

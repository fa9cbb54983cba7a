import { describe, expect, it } from "vitest";
import { errorOf, opsOf, optimizedByRuntime, quantizeText } from "../support/quantize-text.js";

/** A head of floats behind a Gemm of integers, which are moved in front of it. */
const head = (behind: string, move = "f = Flatten(b)"): string => `(x: f32[2,4,5,6]) -> (y) {
  a = Conv(x, $w: f32[3,4,1,1], $d: f32[3])
  b = Relu(a)
  ${move}
  g = Gemm<transB=1>(f, $v: f32[8,90], $c: f32[8])
  ${behind}
}`;

describe("a Gemm behind what moves integers", () => {
  it.each([
    ["a Relu", head("r = Relu(g)\n y = Abs(r)")],
    ["a Relu, behind a Reshape", head("r = Relu(g)\n y = Abs(r)", "f = Reshape(b, $s: i64[2] = {2,90})")],
    ["a Tanh", head("r = Tanh(g)\n y = Abs(r)")],
    ["a Sigmoid", head("y = Sigmoid(g)")],
  ])("stays one of integers in front of %s that floats read", async (_, text) => {
    const { float, model, feeds } = await quantizeText(text);
    const kernels = [...(await optimizedByRuntime(model)).graph.nodes()].map(({ op }) => op);
    expect(kernels).toContain("QGemm");
    expect(kernels).not.toContain("FusedGemm");
    expect(await errorOf(float, model, feeds)).toBeLessThan(0.05);
  });

  it("is read as it comes where the runtime leaves it alone", async () => {
    const last = opsOf((await quantizeText(head("y = Softmax<axis=1>(g)"))).model).slice(-2);
    expect(last).toEqual(["Gemm", "Softmax"]);
  });
});

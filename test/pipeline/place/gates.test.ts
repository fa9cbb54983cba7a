import { describe, expect, it } from "vitest";
import { gateNodes } from "../../../src/pipeline/place/gates.js";
import { prepared } from "../../support/quantize-text.js";

const gatesOf = async (text: string): Promise<string[]> =>
  [...gateNodes(await prepared(text))].map(({ output }) => output.label).sort();

describe("gateNodes", () => {
  it("finds what squeezes and excites, from the mean of planes on", async () => {
    const text = `(x: f32[N,8,6,6]) -> (y) {
      a = Conv(x, $w: f32[8,8,1,1])
      m = GlobalAveragePool(a)
      s = Conv(m, $w1: f32[2,8,1,1])
      r = Relu(s)
      e = Conv(r, $w2: f32[8,2,1,1])
      g = Sigmoid(e)
      y = Mul(a, g)
    }`;
    expect(await gatesOf(text)).toEqual(["e", "g", "m", "r", "s"]);
  });

  it("finds what weighs branches, also where it is looked at in another shape", async () => {
    const text = `(a: f32[N,4,6,6], b: f32[N,4,6,6]) -> (y) {
      t = Add(a, b)
      m = ReduceMean<axes=[2,3]>(t)
      s = Conv(m, $w1: f32[8,4,1,1])
      v = Reshape(s, $shape: i64[3] = {0,2,4})
      p = Softmax<axis=1>(v)
      q = Reshape(p, $sizes: i64[5] = {0,2,4,1,1})
      k, l = Split<axis=1>(q)
      c = Squeeze(k, $axes: i64[1] = {1})
      d = Squeeze(l, $axes)
      e = Mul(a, c)
      f = Mul(b, d)
      y = Add(e, f)
    }`;
    expect(await gatesOf(text)).toEqual(["c", "d", "k", "m", "p", "q", "s", "v"]);
  });

  it.each([
    ["the head of a net", "(x: f32[N,8,6,6]) -> (y) {\n m = GlobalAveragePool(x)\n y = Conv(m, $w: f32[4,8,1,1])\n}"],
    ["a number for each place", "(x: f32[N,8,6,6]) -> (y) {\n m = ReduceMean<axes=[1]>(x)\n y = Mul(x, m)\n}"],
    ["constants", "(x: f32[N,8,6,6]) -> (y) {\n y = Mul(x, $c: f32[1,8,1,1])\n}"],
    ["numbers on both sides", "(x: f32[N,8,1,1]) -> (y) {\n r = Relu(x)\n y = Mul(x, r)\n}"],
  ])("finds none in %s", async (_, text) => {
    expect(await gatesOf(text)).toEqual([]);
  });

  it("goes no further than what makes few numbers", async () => {
    const text = `(x: f32[N,8,6,6]) -> (y) {
      a = Relu(x)
      m = Conv(a, $w: f32[8,8,6,6])
      g = Sigmoid(m)
      y = Mul(x, g)
    }`;
    expect(await gatesOf(text)).toEqual(["g", "m"]);
  });
});

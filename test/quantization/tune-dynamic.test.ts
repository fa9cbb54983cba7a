import { describe, expect, it } from "vitest";
import { check, Tensor } from "../../src/ir/index.js";
import { ChannelObserver } from "../../src/quantization/channel-observer.js";
import { quantizeDynamic } from "../../src/quantization/dynamic.js";
import { tuneDynamic } from "../../src/quantization/tune-dynamic.js";
import { errorOf, prepared, safeTarget } from "../support/quantize-text.js";
import { runModel, seededFeeds } from "../support/run-model.js";

const ramp = (from: number, to: number, count: number): string =>
  Array.from({ length: count }, (_, i) => from * (to / from) ** (i / (count - 1))).join(",");

/** Activations made uneven by a constant, then multiplied by weights. */
const uneven = (shape: string, values: string): string => `(x: f32[64,32]) -> (y) {
  a = Mul(x, $scale: f32[${shape}] = {${values}})
  y = MatMul(a, $w: f32[32,16])
}`;
const channels = uneven("32", `${"0.02,".repeat(31)}2`);
const rows = uneven("64,1", ramp(1, 0.001, 64));
const even = uneven("1", "1");

async function tuned(text: string, takes = () => true) {
  const [float, model, tapped] = [await prepared(text), await prepared(text), await prepared(text)];
  const feeds = seededFeeds(float);
  tapped.graph.addOutput("a", [...tapped.graph.nodes()][0]!.output);
  const { a } = await runModel(tapped, feeds);
  const observer = new ChannelObserver(32);
  observer.see(a!);
  const seen = new Map([["a", observer.statistics()!]]);
  const { smoothing, forms } = await tuneDynamic(model, seen, safeTarget, takes);
  quantizeDynamic(model, safeTarget, { smoothing, perRow: ({ name }) => forms.get(name) === "dynamicRows" });
  check(model.graph);
  const plain = await prepared(text);
  quantizeDynamic(plain, safeTarget);
  return { smoothing, forms, error: await errorOf(float, model, feeds), plain: await errorOf(float, plain, feeds) };
}

describe("tuneDynamic", () => {
  it("evens out channels of which one is much larger", async () => {
    const { smoothing, forms, error, plain } = await tuned(channels);
    expect([...smoothing.keys()]).toEqual(["a"]);
    expect(forms.size).toBe(0);
    const factors = smoothing.get("a")!;
    expect(factors[31]! / factors[0]!).toBeGreaterThan(5);
    expect(error).toBeLessThan(0.6 * plain);
  });

  it("gives rows of different size scales of their own", async () => {
    const { smoothing, forms } = await tuned(rows);
    expect([...forms]).toEqual([["MatMul:y", "dynamicRows"]]);
    expect(smoothing.size).toBe(0);
  });

  it("leaves even activations and nodes that are not its own alone", async () => {
    const still = await tuned(even);
    expect([still.smoothing.size, still.forms.size]).toEqual([0, 0]);
    const none = await tuned(channels, () => false);
    expect([none.smoothing.size, none.forms.size]).toEqual([0, 0]);
  });

  it("evens out less where that makes pairs of weights saturate", async () => {
    // The first two channels are large, and what they are multiplied by is a pair of one sign.
    const weights = Array.from({ length: 32 * 16 }, (_, i) => (i < 32 ? 0.1 : 0.1 * Math.sin(i)).toFixed(5)).join(",");
    const model = await prepared(`(x: f32[64,32]) -> (y) {
      a = Neg(x)
      y = MatMul(a, $w: f32[32,16] = {${weights}})
    }`);
    const max = Float32Array.from({ length: 32 }, (_, k) => (k < 2 ? 8 : 1));
    const seen = {
      min: max.map((value) => -value),
      max,
      meanSquare: Float64Array.from(max, (value) => value ** 2 / 3),
      rangeSquare: 16 ** 2,
      rowSquare: 8 ** 2,
      rowLow: -1,
      rowHigh: 1,
    };
    const spread = async (saturatesPairs: boolean): Promise<number> => {
      const limits = { weightLimit: 127, saturatesPairs };
      const { smoothing } = await tuneDynamic(model, new Map([["a", seen]]), limits, () => true);
      const factors = smoothing.get("a")!;
      return factors[0]! / factors[31]!;
    };
    const [free, bound] = [await spread(false), await spread(true)];
    expect(bound).toBeGreaterThan(1);
    expect(bound).toBeLessThan(0.9 * free);
  });

  it("takes dead channels, and activations that are zero throughout", async () => {
    const dead = await tuned(uneven("32", `${"0,".repeat(16)}${"0.02,".repeat(15)}2`));
    expect([...dead.smoothing.get("a")!.slice(0, 16)]).toEqual(new Array(16).fill(1));
    expect(dead.error).toBeLessThan(dead.plain);
    const zero = new ChannelObserver(32);
    zero.see(Tensor.f32([2, 32], new Float32Array(64)));
    const none = await tuneDynamic(await prepared(even), new Map([["a", zero.statistics()!]]), safeTarget, () => true);
    expect([none.smoothing.size, none.forms.size]).toEqual([0, 0]);
  });

  it("evens out what several products read for all of them", async () => {
    const text = `(x: f32[64,32]) -> (y, z) {
      a = Mul(x, $scale: f32[32] = {${"0.02,".repeat(31)}2})
      y = MatMul(a, $w: f32[32,16])
      z = Gemm<transB=1>(a, $v: f32[8,32], $b: f32[8])
    }`;
    const { smoothing, error, plain } = await tuned(text);
    expect(smoothing.size).toBe(1);
    expect(error).toBeLessThan(0.6 * plain);
  });

  describe("with weights that two products share", () => {
    const text = `(x: f32[64,32], v: f32[64,32]) -> (y, z) {
      a = Neg(x)
      b = Neg(v)
      y = MatMul(a, $w: f32[32,16])
      z = MatMul(b, $w)
    }`;
    /** One channel is that much larger. */
    const seen = (channel: number, size: number) => {
      const max = new Float32Array(32).fill(1).fill(size, channel, channel + 1);
      const [min, meanSquare] = [max.map((value) => -value), Float64Array.from(max, (value) => value ** 2 / 3)];
      const whole = { rangeSquare: 4 * size ** 2, rowSquare: size ** 2, rowLow: -1, rowHigh: 1 };
      return { min, max, meanSquare, ...whole };
    };

    it("evens out both activations alike, and keeps one copy", async () => {
      const model = await prepared(text);
      const statistics = new Map([
        ["a", seen(3, 50)],
        ["b", seen(9, 80)],
      ]);
      const { smoothing } = await tuneDynamic(model, statistics, safeTarget, () => true);
      expect([...smoothing.keys()]).toEqual(["a", "b"]);
      expect(smoothing.get("a")).toBe(smoothing.get("b"));
      const factors = smoothing.get("a")!;
      expect(Math.min(factors[3]!, factors[9]!)).toBeGreaterThan(3 * factors[0]!);
      quantizeDynamic(model, safeTarget, { smoothing });
      check(model.graph);
      const weights = [...model.graph.nodes()].filter((node) => node.is("MatMulInteger")).map((node) => node.inputs[1]);
      expect(weights).toHaveLength(2);
      expect(weights[0]).toBe(weights[1]);
    });

    it("leaves all as they are where one of them reads it turned", async () => {
      const model = await prepared(`(x: f32[64,32], v: f32[64,32]) -> (y, z) {
        a = Neg(x)
        b = Neg(v)
        y = MatMul(a, $w: f32[32,32])
        z = Gemm<transB=1>(b, $w)
      }`);
      const statistics = new Map([
        ["a", seen(3, 50)],
        ["b", seen(9, 80)],
      ]);
      expect((await tuneDynamic(model, statistics, safeTarget, () => true)).smoothing.size).toBe(0);
    });

    it("takes along what is joined by several weights and activations", async () => {
      const model = await prepared(`(x: f32[64,32], v: f32[64,32]) -> (y, q, z, s) {
        a = Neg(x)
        b = Neg(v)
        y = MatMul(a, $u: f32[32,16])
        s = MatMul(b, $t: f32[32,16])
        q = MatMul(a, $w: f32[32,16])
        z = MatMul(b, $w)
      }`);
      const statistics = new Map([
        ["a", seen(3, 50)],
        ["b", seen(9, 80)],
      ]);
      const { smoothing } = await tuneDynamic(model, statistics, safeTarget, () => true);
      expect(smoothing.get("a")).toBeDefined();
      expect(smoothing.get("a")).toBe(smoothing.get("b"));
    });

    it("leaves both as they are where one of them is not its own", async () => {
      const model = await prepared(text);
      const statistics = new Map([["a", seen(3, 50)]]);
      expect((await tuneDynamic(model, statistics, safeTarget, () => true)).smoothing.size).toBe(0);
      const alone = await tuneDynamic(
        await prepared(text.replace("$w)\n    }", "$u: f32[32,16])\n    }")),
        statistics,
        safeTarget,
        () => true,
      );
      expect(alone.smoothing.size).toBe(1);
    });
  });
});

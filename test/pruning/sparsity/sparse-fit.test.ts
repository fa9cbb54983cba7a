import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { type Node, parseModel } from "../../../src/ir/index.js";
import { type LinearLayer, linearLayer, readLinear } from "../../../src/pruning/refit/linear-layers.js";
import { sparseFit } from "../../../src/pruning/sparsity/sparse-fit.js";
import { sparseLayers } from "../../../src/pruning/sparsity/sparse-layers.js";
import type { Sparsity } from "../../../src/pruning/sparsity/sparsity.js";
import { madeOf, momentsFrom } from "../refit/made-up-moments.js";

const half: Sparsity = { kind: "share", share: 0.5 };
const twoOfFour: Sparsity = { kind: "pattern", kept: 2, of: 4 };

function layerOf(text: string): LinearLayer {
  const [node] = [...parseModel(text, { opset: 17 }).graph.nodes()];
  const layer = linearLayer(node!);
  if ("reason" in layer) throw new Error(layer.reason);
  return layer;
}

/** Rows whose neighbouring inputs are alike, and what the layer made of them before noise came in. */
function momentsOf(layer: LinearLayer, rows: number, seed: number, spoil = 0) {
  const random = seededRandom(seed);
  const noise = (): number => random.next() - 0.5;
  const { groups, inputs, outputs } = layer;
  const start = readLinear(layer);
  const clean = Array.from({ length: rows }, () => {
    const causes = Array.from({ length: groups * inputs }, noise);
    return causes.map((cause, i) => 2 + cause + (causes[i - 1] ?? 0) + (causes[i - 2] ?? 0));
  });
  const x = clean.map((row) => row.map((value) => value * (1 - spoil) + spoil * noise()));
  return momentsFrom({ groups, inputs, outputs, x, y: clean.map((row) => madeOf(start, layer, row)) });
}

describe("sparseFit", () => {
  it.each([
    ["a Gemm", "(x: f32[N,32]) -> (y) { y = Gemm(x, $w: f32[32,8], $b: f32[8]) }", half],
    ["a convolution of groups", "(x: f32[N,16,4,4]) -> (y) { y = Conv<group=2>(x, $w: f32[4,8,1,1]) }", twoOfFour],
    ["a MatMul without a bias", "(x: f32[N,32]) -> (y) { y = MatMul(x, $w: f32[32,8]) }", twoOfFour],
  ] as const)("makes half of %s zeros, and misses far less than by magnitude", (_, text, sparsity) => {
    const layer = layerOf(text);
    const start = readLinear(layer);
    const result = sparseFit(layer, sparsity, momentsOf(layer, 400, 1), momentsOf(layer, 100, 2), start);
    if ("reason" in result) throw new Error(result.reason);
    expect(result.after).toBeLessThan(0.5 * result.before);
    expect(result.linear.weights.filter((weight) => weight === 0)).toHaveLength(start.weights.length / 2);
  });

  it("leaves the sums that it is given as they are", () => {
    const layer = layerOf("(x: f32[N,8]) -> (y) { y = Gemm(x, $w: f32[8,2], $b: f32[2]) }");
    const [fitted, others] = [momentsOf(layer, 60, 1), momentsOf(layer, 30, 2)];
    const before = structuredClone([fitted, others]);
    sparseFit(layer, half, fitted, others, readLinear(layer));
    expect([fitted, others]).toEqual(before);
  });

  it("makes up for what happened to its inputs before it", () => {
    const layer = layerOf("(x: f32[N,32]) -> (y) { y = Gemm(x, $w: f32[32,8], $b: f32[8]) }");
    const result = sparseFit(
      layer,
      half,
      momentsOf(layer, 400, 1, 0.3),
      momentsOf(layer, 100, 2, 0.3),
      readLinear(layer),
    );
    if ("reason" in result) throw new Error(result.reason);
    expect(result.after).toBeLessThan(0.2 * result.before);
  });

  it("takes zeros by magnitude where samples say nothing, and says why", () => {
    const layer = layerOf("(x: f32[N,8]) -> (y) { y = Gemm(x, $w: f32[8,2], $b: f32[2]) }");
    const moments = momentsOf(layer, 40, 1);
    const odd = { ...moments, gram: moments.gram.map((value, i) => (i === 3 ? Number.NaN : value)) };
    const start = readLinear(layer);
    const result = sparseFit(layer, half, odd, moments, start);
    expect(result).toMatchObject({ reason: "zeros by magnitude: its activations hold NaN or infinities" });
    const left = [...result.linear!.weights].filter((weight) => weight !== 0);
    expect(left).toHaveLength(8);
    expect(left.every((weight) => start.weights.includes(weight))).toBe(true);
  });
});

describe("sparseLayers", () => {
  const net = parseModel(
    `(x: f32[1,3,8,8], z: f32[N,6]) -> (f, y) {
      a = Conv(x, $w: f32[64,3,1,1])
      b = Conv<group=64, kernel_shape=[3,3]>(a, $d: f32[64,1,3,3])
      c = Conv(b, $v: f32[256,64,1,1])
      e = Conv(c, $s: f32[256,256,1,1])
      f = Conv(e, $s)
      y = Gemm(z, $u: f32[6,4])
    }`,
    { opset: 17 },
  );
  const outputs = (nodes: ReadonlyMap<Node, unknown>) => [...nodes.keys()].map(({ output }) => output.label);
  const all = () => true;

  it("raises the share of the large layers for what the small ones keep", () => {
    const { chosen, dense } = sparseLayers(net, all, half);
    expect(outputs(chosen)).toEqual(["c"]);
    expect(dense.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/smallest/),
        "it reads 1 channel at a time",
        "it shares its weights with other nodes",
      ]),
    );
    const [given] = [...chosen.values()] as { share: number }[];
    expect(given!.share).toBeGreaterThan(0.5);
    expect(given!.share * 16384).toBeCloseTo(0.5 * (16384 + 192 + 24 + 576), 6);
  });

  it("gives a pattern to all that read enough channels", () => {
    const { chosen } = sparseLayers(net, all, twoOfFour);
    expect(outputs(chosen)).toEqual(["a", "c", "y"]);
    expect([...chosen.values()].every((sparsity) => sparsity === twoOfFour)).toBe(true);
  });

  it("leaves out what is not selected", () => {
    const { chosen } = sparseLayers(net, ({ op }) => op === "Gemm", twoOfFour);
    expect(outputs(chosen)).toEqual(["y"]);
  });
});

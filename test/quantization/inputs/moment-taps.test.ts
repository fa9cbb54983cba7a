import { describe, expect, it } from "vitest";
import type { Model, Node, Tensor } from "../../../src/ir/index.js";
import { channelMoments } from "../../../src/observe/index.js";
import { inputAxis, inputMoments, weightLayout } from "../../../src/quantization/inputs/moment-taps.js";
import { type InputMoments, roundInView } from "../../../src/quantization/inputs/round-in-view.js";
import { insertQdq } from "../../../src/quantization/insert-qdq.js";
import { planStatic } from "../../../src/quantization/plan-static.js";
import { tapValues } from "../../../src/rewrite/tap-model.js";
import { prepared, quantizeText, safeTarget } from "../../support/quantize-text.js";
import { runModel, seededFeeds } from "../../support/run-model.js";

const text = `(x: f32[2,4,6,6]) -> (y) {
  a = Conv(x, $w: f32[8,4,3,3], $b: f32[8])
  r = Relu(a)
  c = Conv<group=4>(r, $v: f32[8,2,1,1], $d: f32[8])
  f = Flatten(c)
  y = Gemm(f, $u: f32[128,5], $e: f32[5]) }`;

const productsOf = (nodes: Iterable<Node>) => [...nodes].filter((node) => inputAxis(node) !== null);

/** Of each product's input, in two samples. */
async function momentsOf(): Promise<ReadonlyMap<string, InputMoments>> {
  const model = await prepared(text);
  const inputs = new Map(productsOf(model.graph.nodes()).map((node) => [node.inputs[0]!, inputAxis(node)!]));
  const names = tapValues(model, [...inputs.keys()]);
  const runs: Record<string, Tensor>[] = [];
  for (const seed of [1, 2]) runs.push(await runModel(model, seededFeeds(model, 2, seed)));
  return new Map(
    [...inputs].map(([{ label }, axis]) => {
      const each = runs.map((run) => run[names.get(label)!]!);
      return [label, inputMoments(each.map((tensor) => channelMoments(tensor.f32(), tensor.dims, axis)))!] as const;
    }),
  );
}

describe("inputMoments", () => {
  it("tells means by sample and channel, and the energy about them", async () => {
    const moments = await momentsOf();
    expect([...moments.keys()]).toEqual(["x", "r", "f"]);
    const model = await prepared(text);
    const squares = new Float64Array(4);
    [1, 2].forEach((seed, s) => {
      const values = seededFeeds(model, 2, seed)["x"]!.f32();
      const { means } = moments.get("x")!;
      for (let channel = 0; channel < 4; channel++) {
        const own = values.filter((_, i) => Math.floor(i / 36) % 4 === channel);
        const mean = own.reduce((a, b) => a + b) / own.length;
        expect(means[s * 4 + channel]).toBeCloseTo(mean, 5);
        squares[channel]! += own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length / 2;
      }
    });
    squares.forEach((square, channel) => void expect(moments.get("x")!.spread[channel]).toBeCloseTo(square, 4));
    expect(moments.get("r")!.means.length).toBe(16);
    expect(moments.get("f")!.spread.length).toBe(128);
  });

  it("leaves out what held no numbers", () => {
    const good = channelMoments(Float32Array.of(1, 2), [1, 2], 1);
    const bad = channelMoments(Float32Array.of(1, Number.POSITIVE_INFINITY), [1, 2], 1);
    expect(inputMoments([good, good])).toMatchObject({ samples: 2, means: Float32Array.of(1, 2, 1, 2) });
    expect(inputMoments([good, bad])).toBeNull();
  });

  it("tells what of the energy neighbouring places share", () => {
    const shared = (...values: number[]) => inputMoments([channelMoments(Float32Array.from(values), [1, 1, 2, 4], 1)])!;
    const smooth = shared(0, 0, 0, 0, 2, 2, 2, 2);
    expect(smooth.spread[0]).toBe(1);
    expect(smooth.shared[0]).toBe(1);
    const rough = shared(0, 2, 0, 2, 2, 0, 2, 0);
    expect(rough.spread[0]).toBe(1);
    expect(rough.shared[0]).toBe(0);
    // Two of three pairs are of equal numbers: a third is left, and a ninth two places on.
    expect(shared(0, 0, 2, 2, 2, 2, 0, 0).shared[0]).toBeCloseTo((1 / 3 + 1 / 9) / 2, 6);
    expect(inputMoments([channelMoments(Float32Array.of(1, 2), [1, 2], 1)])!.shared).toEqual(new Float32Array(2));
  });
});

describe("weightLayout", () => {
  it("finds each weight by output, input and place", async () => {
    const { graph } = await prepared(text);
    const layouts = productsOf(graph.nodes()).map((node) => weightLayout(node, node.inputs[1]!.constant!.dims));
    expect(layouts).toEqual([
      { outputs: 8, inputs: 4, places: 9, group: 1, outputStride: 36, inputStride: 9 },
      { outputs: 8, inputs: 2, places: 1, group: 4, outputStride: 2, inputStride: 1 },
      { outputs: 5, inputs: 128, places: 1, group: 1, outputStride: 1, inputStride: 5 },
    ]);
  });

  it("knows only the channels of a ConvTranspose", async () => {
    const { graph } = await prepared("(x: f32[1,4,6,6]) -> (y) { y = ConvTranspose(x, $w: f32[4,3,2,2]) }");
    const [node] = graph.nodes();
    expect(inputAxis(node!)).toBe(1);
    expect(weightLayout(node!, [4, 3, 2, 2])).toBeNull();
  });
});

describe("insertQdq with moments of inputs", () => {
  const constantOf = ({ graph }: Model, label: string) =>
    graph.constants.find((each) => each.label === label)!.constant!;
  const integersOf = (model: Model, of: string) => constantOf(model, `${of}/quantized`).bytes();

  it("rounds the weights of those, moves their biases, and leaves the others", async () => {
    const plain = await quantizeText(text);
    const moments = await momentsOf();
    const model = await prepared(text);
    const plan = planStatic(model, safeTarget, { neighbours: true, depthwise: true });
    const inputs = new Map([["f", moments.get("f")!]]);
    insertQdq(model, plan, plain.schemes, safeTarget, inputs);
    for (const label of ["w", "b", "v", "d"]) expect(integersOf(model, label)).toEqual(integersOf(plain.model, label));
    for (const label of ["u", "e"]) expect(integersOf(model, label)).not.toEqual(integersOf(plain.model, label));
    const [weights, least] = [constantOf(plain.float, "u").f32(), constantOf(plain.model, "u/scale").f32()];
    const product = [...plain.float.graph.nodes()].find(({ op }) => op === "Gemm")!;
    const layout = weightLayout(product, [128, 5])!;
    const limit = safeTarget.weightLimit;
    const wanted = roundInView({ weights, layout, scales: least, limit }, moments.get("f")!, true);
    const scales = constantOf(model, "u/scale").f32();
    expect(scales).toEqual(wanted.scales);
    expect(scales).not.toEqual(least);
    const integers = constantOf(model, "u/quantized").bigints()!;
    weights.forEach((weight, i) => {
      expect(Math.abs(Number(integers[i]!) * scales[i % 5]! - weight)).toBeLessThanOrEqual(1.001 * scales[i % 5]!);
    });
    const [biasScales, bias] = [constantOf(model, "e/scale").f32(), constantOf(plain.float, "e").f32()];
    constantOf(model, "e/quantized")
      .bigints()!
      .forEach((integer, i) => {
        expect(biasScales[i]).toBe(Math.fround(plain.schemes.get("f")!.scale * scales[i]!));
        const moved = Number(integer) * biasScales[i]! - bias[i]!;
        expect(Math.abs(moved - wanted.shift![i]!)).toBeLessThanOrEqual(0.51 * biasScales[i]!);
      });
    expect(wanted.shift!.filter((shift, i) => Math.abs(shift) > 2 * biasScales[i]!).length).toBeGreaterThan(1);
  });
});

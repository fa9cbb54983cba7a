import { describe, expect, it } from "vitest";
import { type Node, parseModel } from "../../src/ir/index.js";
import { avx2Rates, vnniRates } from "../../src/target/kernel-rates.js";
import { type KernelTime, kernelTimesBy } from "../../src/target/kernel-times.js";

const vnniKernelTimes = kernelTimesBy(vnniRates);
const nodeOf = (text: string): Node => [...parseModel(text).graph.nodes()][0]!;
const conv = (weights: string, attributes = ""): Node =>
  nodeOf(`(x: f32[1,N,H,W]) -> (y) { y = Conv${attributes}(x, $w: f32[${weights}]) }`);
/** What a node reads and makes, and what it took, in milliseconds. */
type Profiled = readonly [title: string, node: Node, read: number, made: number, floatMs: number, integerMs: number];
/** Said over profiled, of both forms. */
function expectNear(
  said: KernelTime,
  [floatMs, integerMs]: readonly [number, number],
  least: number,
  most: number,
): void {
  for (const ratio of [said.floatMs / floatMs, said.integerMs / integerMs]) {
    expect(ratio).toBeGreaterThan(least);
    expect(ratio).toBeLessThan(most);
  }
}
/** A model of some megabytes, and one that stays in the cache. */
const [LARGE, SMALL] = [1e7, 1e4];
const timesOf = (node: Node, read: number, made: number, weights = LARGE) =>
  vnniKernelTimes.node(node, { read, least: read, made, weights });
const ratio = (node: Node, read: number, made: number): number => {
  const { floatMs, integerMs } = timesOf(node, read, made)!;
  return floatMs / integerMs;
};

describe("times of kernels with VNNI", () => {
  /** As ONNX Runtime's profile had them, milliseconds: a quarter off is near enough to place integers by. */
  const profiled: readonly Profiled[] = [
    ["a window of many channels", conv("512,512,3,3"), 25088, 25088, 2.43, 0.6],
    ["the first window of an image", conv("32,3,3,3", "<strides=[2,2]>"), 150528, 401408, 0.32, 0.42],
    ["channels that fill half a vector", conv("24,96,3,3"), 614400, 153600, 3.06, 0.83],
    ["a point", conv("64,64,1,1"), 245760, 245760, 0.315, 0.096],
    ["a window of each channel", conv("64,1,3,3", "<group=64>"), 245760, 245760, 0.1, 0.111],
    ["a wide one", conv("48,1,7,7", "<group=48>"), 76800, 76800, 0.105, 0.167],
    ["groups", conv("256,32,3,3", "<group=8>"), 25600, 25600, 0.16, 0.082],
  ];
  /** The same of a model of 100 kB. */
  const small: readonly Profiled[] = [
    ["a window of few channels", conv("16,16,3,3"), 12544, 12544, 0.036, 0.018],
    ["a window of whole vectors that do not fill one more", conv("24,24,3,3"), 4704, 4704, 0.033, 0.011],
    ["a window of one channel", conv("16,1,3,3"), 784, 12544, 0.005, 0.023],
    ["a window of few outputs", conv("8,20,5,5"), 15680, 6272, 0.197, 0.069],
    ["a point of few channels", conv("32,12,1,1"), 9408, 25088, 0.018, 0.007],
  ];
  for (const [title, node, read, made, floatMs, integerMs] of profiled) {
    it(`knows ${title}`, () => {
      const time = timesOf(node, read, made)!;
      expectNear(time, [floatMs, integerMs], 0.75, 1.25);
    });
  }
  it("knows whether a sum is computed by the convolution before it", () => {
    const sumOf = (before: string): Node =>
      [...parseModel(`(x: f32[1,64,9,9], z: f32[1,64,9,9]) -> (y) { a = ${before} y = Add(a, z) }`).graph.nodes()][1]!;
    const [computed, alone] = [sumOf("Conv(x, $w: f32[64,64,1,1])"), sumOf("Neg(x)")].map(
      (node) => timesOf(node, 1e6, 1e6)!.floatMs,
    );
    expect(alone!).toBeGreaterThan(4 * computed!);
  });

  it("gives a depthwise Conv more channels where the Convs around take less for them than that saves", () => {
    const widened = (made: number): number => {
      const nodes = [
        ...parseModel(`(x: f32[1,16,20,20]) -> (y) {
        a = Conv(x, $w: f32[24,16,1,1])
        d = Conv<group=24>(a, $k: f32[24,1,3,3])
        y = Conv(d, $v: f32[${made},24,1,1])
      }`).graph.nodes(),
      ];
      for (const node of nodes) node.output.type = { dtype: "f32", shape: [1, node === nodes[2] ? made : 24, 20, 20] };
      return vnniKernelTimes.widened(nodes[1]!);
    };
    expect(widened(16)).toBe(32);
    expect(widened(512)).toBe(24);
  });

  it("knows that averages of integers are added up one by one, where windows have elements and padding", () => {
    const pool = (size: number, counts: number): KernelTime => {
      const pads = Array(4)
        .fill(size >> 1)
        .join();
      const text = `y = AveragePool<kernel_shape=[${size},${size}], pads=[${pads}], count_include_pad=${counts}>(x)`;
      return timesOf(nodeOf(`(x: f32[1,32,H,W]) -> (y) { ${text} }`), 25088, 25088)!;
    };
    // As onnxruntime 1.32 took for [1,32,28,28], windows of 3x3.
    expectNear(pool(3, 0), [0.0108, 0.114], 0.6, 1.6);
    expect(pool(7, 0).integerMs).toBeGreaterThan(2 * pool(3, 0).integerMs);
    expect(pool(3, 1).floatMs).toBe(pool(3, 0).floatMs);
    expect(pool(3, 1).integerMs).toBeLessThan(pool(3, 0).integerMs / 5);
    const whole = nodeOf("(x: f32[1,64,8,8]) -> (y) { y = AveragePool<kernel_shape=[8,8]>(x) }");
    whole.output.type = { dtype: "f32", shape: [1, 64, 1, 1] };
    expect(timesOf(whole, 4096, 64)!.floatMs - 0.002).toBeGreaterThan(timesOf(whole, 4096, 64)!.integerMs - 0.0039);
  });

  it("knows whether a product spreads one operand over the other", () => {
    const integerMs = (text: string, least: number): number =>
      vnniKernelTimes.node(nodeOf(text), { read: 1e6, least, made: 1e6, weights: LARGE })!.integerMs;
    const two = "(x: f32[1,64,H,W], z: f32[1,64,h,w]) -> (y) { y = Mul(x, z) }";
    const even = integerMs(two, 1e6);
    expect(integerMs(two, 64)).toBeGreaterThan(1.3 * even);
    expect(integerMs("(x: f32[1,64,H,W]) -> (y) { y = Mul(x, $s: f32[64,1,1]) }", 1e6)).toBeGreaterThan(1.3 * even);
    const scaling = "(x: f32[1,64,H,W]) -> (y) { y = Mul(x, $s: f32[] = {0.5}) }";
    expect(integerMs(scaling, 1e6)).toBe(0);
    expect(integerMs(scaling.replace("0.5", "-0.5"), 1e6)).toBe(even);
  });

  /** Times in float over those as integers, as they were measured. */
  it.each([
    ["windows side by side", "128,64,2,2", "<strides=[2,2]>", 784, 3.3],
    ["windows that reach over each other", "128,64,4,4", "<strides=[2,2], pads=[1,1,1,1]>", 784, 4.4],
    ["windows of odd size", "64,32,3,3", "<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>", 1600, 2.6],
    ["few channels", "16,16,2,2", "<strides=[2,2]>", 3600, 1.2],
  ])("knows a ConvTranspose with %s", (_, weights, attributes, places, expected) => {
    const node = nodeOf(`(x: f32[1,N,H,W]) -> (y) { y = ConvTranspose${attributes}(x, $w: f32[${weights}]) }`);
    const [depth, channels] = weights.split(",").map(Number) as [number, number];
    const said = ratio(node, depth * places, channels * places * 4);
    expect(said / expected).toBeGreaterThan(0.7);
    expect(said / expected).toBeLessThan(1.4);
  });

  it("knows what of a Resize is copied, and what is looked up, and that a Softmax is slow", () => {
    const resize = (height: string): Node =>
      nodeOf(`(x: f32[1,8,H,W]) -> (y) { y = Resize<mode="nearest">(x, _, $s: f32[4] = {1.0,1.0,${height},2.0}) }`);
    expect(ratio(resize("2.0"), 1e5, 4e5)).toBeGreaterThan(1);
    expect(ratio(resize("1.5"), 1e5, 3e5)).toBeLessThan(0.5);
    expect(ratio(nodeOf("(x: f32[8,64,64]) -> (y) { y = Softmax(x) }"), 32768, 32768)).toBeLessThan(0.5);
  });

  for (const [title, node, read, made, floatMs, integerMs] of small) {
    it(`knows ${title} in a small model`, () => {
      const time = timesOf(node, read, made, SMALL)!;
      expectNear(time, [floatMs, integerMs], 0.7, 1.4);
    });
  }

  it("reads weights faster that stay in the cache from run to run", () => {
    const gemm = nodeOf("(x: f32[1,1024]) -> (y) { y = Gemm(x, $w: f32[1024,1024]) }");
    const [near, far] = [timesOf(gemm, 1024, 1024, 2e5)!, timesOf(gemm, 1024, 1024, LARGE)!];
    expect(far.floatMs).toBeGreaterThan(3 * near.floatMs);
    expect(far.integerMs).toBeGreaterThan(3 * near.integerMs);
    // Four times as many integers stay there.
    const between = timesOf(gemm, 1024, 1024, 5e5)!;
    expect([between.floatMs, between.integerMs]).toEqual([far.floatMs, near.integerMs]);
  });

  it("converts for more where layouts differ: channels last for integer convolutions, in blocks for float ones", () => {
    const { conversionMs } = vnniKernelTimes;
    const [image, rows, pool, add] = [
      conv("16,16,3,3"),
      nodeOf("(x: f32[8,64]) -> (y) { y = MatMul(x, $w: f32[64,16]) }"),
      nodeOf("(x: f32[1,N,H,W]) -> (y) { y = MaxPool<kernel_shape=[2,2]>(x) }"),
      nodeOf("(x: f32[4]) -> (y) { y = Add(x, x) }"),
    ];
    const plain = conversionMs(1e4, rows, [add]);
    const moved = conversionMs(1e4, image, [add]);
    const blocked = conversionMs(1e4, image, [add, pool]);
    expect(moved).toBeGreaterThan(1.5 * plain);
    expect(blocked).toBeGreaterThan(1.4 * moved);
    expect(conversionMs(1e4, image, [])).toBe(moved);
    expect(conversionMs(1e4, rows, [image])).toBe(plain);
    // Of few elements, what nodes take by themselves.
    expect(conversionMs(10, image, [image])).toBeGreaterThan(0.5 * conversionMs(2e4, image, [image]));
  });

  it("puts channels last more slowly where they lie so far apart that they crowd into few sets of the cache", () => {
    const { conversionMs } = vnniKernelTimes;
    const imageOf = (channels: number, size: number): string =>
      `(x: f32[1,${channels},${size},${size}]) -> (y) { y = Conv(x, $w: f32[8,${channels},1,1]) }`;
    const perElement = (channels: number, size: number): number => {
      const reader = nodeOf(imageOf(channels, size));
      const elements = channels * size ** 2;
      return (1e6 * (conversionMs(elements, reader, []) - conversionMs(0, reader, []))) / elements;
    };
    const usual = perElement(64, 56);
    const times = (channels: number, size: number): number =>
      1 + (perElement(channels, size) - usual) / vnniRates.moved;
    expect([16, 32, 64, 128].map((channels) => times(channels, 64))).toEqual(
      [1.8, 3.4, 6.5, 6.5].map((wanted) => expect.closeTo(wanted)),
    );
    expect(times(64, 128)).toBeCloseTo(6.5);
    expect([32, 64, 192].map((channels) => times(channels, 96))).toEqual(
      [1, 1.8, 3.25].map((wanted) => expect.closeTo(wanted)),
    );
    const film = nodeOf("(x: f32[1,64,4,32,32]) -> (y) { y = Conv(x, $w: f32[8,64,1,1,1]) }");
    expect(conversionMs(64 ** 3, film, [])).toBeLessThan(conversionMs(64 ** 3, nodeOf(imageOf(64, 64)), []));
    expect([8, 64, 256].map((channels) => times(channels, 100))).toEqual(
      [1, 1, 1].map((wanted) => expect.closeTo(wanted)),
    );
  });

  it("takes for the map what has as many elements: what a Conv reads, or what it makes", () => {
    const { conversionMs } = vnniKernelTimes;
    const conv = nodeOf(
      "(x: f32[1,8,128,128]) -> (y) { y = Conv<strides=[2,2], pads=[0,0,0,0]>(x, $w: f32[128,8,1,1]) }",
    );
    conv.output.type = { dtype: "f32", shape: [1, 128, 64, 64] };
    const perElement = (elements: number): number =>
      (1e6 * (conversionMs(elements, conv, []) - conversionMs(0, conv, []))) / elements;
    const usual = perElement(1000);
    const times = (elements: number): number => 1 + (perElement(elements) - usual) / vnniRates.moved;
    expect(usual).toBeCloseTo(vnniRates.converted + vnniRates.moved);
    expect([8 * 128 ** 2, 128 * 64 ** 2].map(times)).toEqual([expect.closeTo(1), expect.closeTo(6.5)]);
  });

  it("knows activations that have no integer kernel", () => {
    const { activationMs } = vnniKernelTimes;
    const swish = nodeOf("(x: f32[4]) -> (y) { y = HardSwish(x) }");
    expect(activationMs(swish, 1e6)).toBeGreaterThan(0.3);
    expect(activationMs(nodeOf("(x: f32[4]) -> (y) { y = Relu(x) }"), 1e6)).toBe(0);
    expect(activationMs(nodeOf("(x: f32[4]) -> (y) { y = com.microsoft.HardSwish(x) }"), 1e6)).toBe(0);
  });

  it("tells what is made from what is read where that was not observed", () => {
    const node = conv("32,3,3,3", "<strides=[2,2]>");
    expect(timesOf(node, 150528, 0)).toEqual(timesOf(node, 150528, 401408));
  });

  it("sees the shape of a Gemm through transB", () => {
    const gemm = (weights: string, attributes = "") =>
      nodeOf(`(x: f32[8,64]) -> (y) { y = Gemm${attributes}(x, $w: f32[${weights}]) }`);
    const plain = timesOf(gemm("64,16"), 512, 128);
    expect(timesOf(gemm("16,64", "<transB=1>"), 512, 128)).toEqual(plain);
  });

  it("gains on products of many rows, and not on what only hands elements on", () => {
    expect(ratio(nodeOf("(x: f32[64,384]) -> (y) { y = MatMul(x, $w: f32[384,1536]) }"), 24576, 98304)).toBeGreaterThan(
      2,
    );
    const flat = timesOf(nodeOf("(x: f32[1,4]) -> (y) { y = Flatten(x) }"), 4, 4);
    expect(flat).toEqual({ floatMs: 0, integerMs: 0 });
  });

  it("knows nothing of other operators, other domains, weights that are computed, and tensors of unknown size", () => {
    const none = [
      nodeOf("(x: f32[4]) -> (y) { y = Erf(x) }"),
      nodeOf("(x: f32[4]) -> (y) { y = constructor(x) }"),
      nodeOf("(x: f32[4]) -> (y) { y = com.microsoft.Conv(x) }"),
      nodeOf("(x: f32[1,4,8,8], w: f32[4,4,3,3]) -> (y) { y = Conv(x, w) }"),
      nodeOf("(x: f32[4,4], w: f32[4,4]) -> (y) { y = MatMul(x, w) }"),
      nodeOf("(x: f32[2,4,4]) -> (y) { y = MatMul(x, $w: f32[2,4,4]) }"),
    ];
    for (const node of none) expect(timesOf(node, 64, 64)).toBeNull();
    expect(timesOf(conv("4,4,1,1"), 0, 0)).toBeNull();
  });

  describe("paddedDepth", () => {
    const depthOf = (weights: string, attributes = "", size = 24, from = "x"): number => {
      const text = `(x: f32[1,N,${size},${size}]) -> (y) { t = Tanh(x)\n y = Conv${attributes}(${from}, $w: f32[${weights}]) }`;
      const node = [...parseModel(text).graph.nodes()].at(-1)!;
      return vnniKernelTimes.paddedDepth(node);
    };

    it.each([
      ["three channels of an image", depthOf("32,3,3,3", "<strides=[2,2]>"), 4],
      ["one", depthOf("16,1,3,3"), 4],
      ["a large window of three", depthOf("64,3,7,7", "<strides=[2,2]>"), 4],
      ["six", depthOf("32,6,3,3"), 8],
    ])("adds to %s", (_, depth, wanted) => expect(depth).toBe(wanted));

    it.each([
      ["whole fours", depthOf("32,4,3,3"), 4],
      ["a large window of one, which would be four times the work", depthOf("64,1,7,7"), 1],
      ["less than a vector of outputs", depthOf("8,3,3,3"), 3],
      ["what a node makes", depthOf("32,3,3,3", "", 24, "t"), 3],
      ["groups", depthOf("32,1,3,3", "<group=3>"), 1],
    ])("leaves %s", (_, depth, wanted) => expect(depth).toBe(wanted));

    it("leaves what is too small for one more node, as far as sizes are known", () => {
      const sized = (size: number): number => {
        const node = nodeOf("(x: f32[N,3,H,W]) -> (y) { y = Conv<pads=[1,1,1,1]>(x, $w: f32[32,3,3,3]) }");
        node.output.type = { dtype: "f32", shape: ["N", 32, size, size] };
        return vnniKernelTimes.paddedDepth(node);
      };
      expect([sized(2), sized(40)]).toEqual([3, 4]);
    });
  });
});

describe("times of kernels with AVX2", () => {
  const times = kernelTimesBy(avx2Rates);

  it("knows that integers with their channels first are pooled place by place", () => {
    const pool = (size: number, channelsFirst: boolean, made = 204800) =>
      times.node(
        nodeOf(`(x: f32[1,32,H,W]) -> (y) { y = MaxPool<kernel_shape=[${size},${size}], strides=[2,2]>(x) }`),
        { ...{ read: 819200, least: 819200, made, weights: SMALL }, channelsFirst },
      )!;
    // As onnxruntime 1.32 took for [1,32,160,160] on a Zen 3.
    expect(pool(2, true).integerMs / 3.02).toBeGreaterThan(0.9);
    expect(pool(2, true).integerMs / 3.02).toBeLessThan(1.1);
    expect(pool(3, true).integerMs / pool(2, true).integerMs).toBeCloseTo(9 / 4, 1);
    // Strides tell what is made where nothing else does.
    expect(pool(2, true, 0)).toEqual(pool(2, true));
    expect(pool(2, false).integerMs).toBeLessThan(0.2);
    expect(pool(2, true).floatMs).toBe(pool(2, false).floatMs);
  });
  /** As ONNX Runtime's profile had them, milliseconds, each in a model of its own. */
  const profiled: readonly Profiled[] = [
    ["a window of many channels", conv("320,512,3,3", "<strides=[2,2]>"), 204800, 32000, 3.32, 1.49],
    ["the first window of an image", conv("128,3,3,3", "<strides=[2,2]>"), 76800, 819200, 0.635, 0.617],
    ["a point", conv("144,160,1,1"), 501760, 451584, 1.55, 0.803],
    ["a point that many channels meet in", conv("48,1280,1,1"), 1003520, 37632, 1.11, 0.584],
    ["a window of each channel", conv("96,1,3,3", "<group=96>"), 614400, 614400, 0.211, 0.378],
    ["a large one", conv("192,1,7,7", "<group=192>"), 307200, 307200, 0.688, 0.708],
    ["groups", conv("192,160,5,5", "<group=2, strides=[2,2]>"), 15680, 3072, 0.243, 0.149],
    ["a product", nodeOf("(x: f32[197,128]) -> (y) { y = MatMul(x, $w: f32[128,960]) }"), 25216, 189120, 0.507, 0.306],
  ];
  for (const [title, node, read, made, floatMs, integerMs] of profiled) {
    it(`knows ${title}`, () => {
      const time = times.node(node, { read, least: read, made, weights: SMALL })!;
      expectNear(time, [floatMs, integerMs], 0.75, 1.25);
    });
  }

  it("takes longer in float for windows of each channel where most reach over the sides", () => {
    const perPlace = (size: number): number => {
      const elements = 64 * size * size;
      return (
        times.node(conv("64,1,5,5", "<group=64>"), { read: elements, least: elements, made: elements, weights: SMALL })!
          .floatMs / elements
      );
    };
    expect(perPlace(7)).toBeGreaterThan(1.5 * perPlace(56));
  });

  it("adds no channels to images", () => expect(times.paddedDepth(conv("32,3,3,3", "<strides=[2,2]>"))).toBe(3));
});

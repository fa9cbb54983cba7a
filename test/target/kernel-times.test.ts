import { describe, expect, it } from "vitest";
import { type Node, parseModel } from "../../src/ir/index.js";
import { vnniKernelTimes } from "../../src/target/kernel-times.js";

const nodeOf = (text: string): Node => [...parseModel(text).graph.nodes()][0]!;
const conv = (weights: string, attributes = ""): Node =>
  nodeOf(`(x: f32[1,N,H,W]) -> (y) { y = Conv${attributes}(x, $w: f32[${weights}]) }`);
const ratio = (node: Node, read: number, made: number): number => {
  const { floatMs, integerMs } = vnniKernelTimes(node, { read, made })!;
  return floatMs / integerMs;
};

describe("vnniKernelTimes", () => {
  /** As ONNX Runtime's profile had them, milliseconds: a quarter off is near enough to place integers by. */
  const profiled: readonly [
    title: string,
    node: Node,
    read: number,
    made: number,
    floatMs: number,
    integerMs: number,
  ][] = [
    ["a window of many channels", conv("512,512,3,3"), 25088, 25088, 2.43, 0.6],
    ["the first window of an image", conv("32,3,3,3", "<strides=[2,2]>"), 150528, 401408, 0.32, 0.42],
    ["channels that fill half a vector", conv("24,96,3,3"), 614400, 153600, 3.06, 0.83],
    ["a point", conv("64,64,1,1"), 245760, 245760, 0.315, 0.096],
    ["a window of each channel", conv("64,1,3,3", "<group=64>"), 245760, 245760, 0.1, 0.111],
    ["a wide one", conv("48,1,7,7", "<group=48>"), 76800, 76800, 0.105, 0.167],
    ["groups", conv("256,32,3,3", "<group=8>"), 25600, 25600, 0.16, 0.082],
  ];
  for (const [title, node, read, made, floatMs, integerMs] of profiled) {
    it(`knows ${title}`, () => {
      const time = vnniKernelTimes(node, { read, made })!;
      expect(time.floatMs / floatMs).toBeGreaterThan(0.75);
      expect(time.floatMs / floatMs).toBeLessThan(1.25);
      expect(time.integerMs / integerMs).toBeGreaterThan(0.75);
      expect(time.integerMs / integerMs).toBeLessThan(1.25);
    });
  }

  it("tells what is made from what is read where that was not observed", () => {
    const node = conv("32,3,3,3", "<strides=[2,2]>");
    expect(vnniKernelTimes(node, { read: 150528, made: 0 })).toEqual(
      vnniKernelTimes(node, { read: 150528, made: 401408 }),
    );
  });

  it("sees the shape of a Gemm through transB", () => {
    const gemm = (weights: string, attributes = "") =>
      nodeOf(`(x: f32[8,64]) -> (y) { y = Gemm${attributes}(x, $w: f32[${weights}]) }`);
    const plain = vnniKernelTimes(gemm("64,16"), { read: 512, made: 128 });
    expect(vnniKernelTimes(gemm("16,64", "<transB=1>"), { read: 512, made: 128 })).toEqual(plain);
  });

  it("gains on products of many rows, and not on what only hands elements on", () => {
    expect(ratio(nodeOf("(x: f32[64,384]) -> (y) { y = MatMul(x, $w: f32[384,1536]) }"), 24576, 98304)).toBeGreaterThan(
      2,
    );
    const flat = vnniKernelTimes(nodeOf("(x: f32[1,4]) -> (y) { y = Flatten(x) }"), { read: 4, made: 4 });
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
    for (const node of none) expect(vnniKernelTimes(node, { read: 64, made: 64 })).toBeNull();
    expect(vnniKernelTimes(conv("4,4,1,1"), { read: 0, made: 0 })).toBeNull();
  });
});

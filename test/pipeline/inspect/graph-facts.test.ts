import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { describeGraphs, withGraphs } from "../../../src/pipeline/inspect/graph-facts.js";
import { sampleResult } from "../../report/sample-result.js";
import { modelFile } from "../../support/model-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const gelu = "(x: f32[4]) -> (y) { s = Sigmoid(x) m = Mul(x, s) y = Neg(m) }";
const fused = "(x: f32[4]) -> (y) { m = Swish(x) y = Neg(m) }";

describe("describeGraphs", () => {
  it("numbers the nodes of both that make the same tensor alike", () => {
    const { before, after } = describeGraphs(parseModel(gelu), parseModel(fused));
    expect(before).toMatchObject({ ops: ["Sigmoid", "Mul", "Neg"], values: ["s", "m", "y"], reads: [[], [0], [1]] });
    expect(before!.parts).toEqual([1, 1, 2]);
    expect(after!.parts).toEqual([1, 2]);
  });

  it("knows a graph without another", () => {
    const { before, after } = describeGraphs(null, parseModel(gelu));
    expect(before).toBeNull();
    expect(after!.parts).toEqual([-1, -1, -1]);
  });

  it("counts constants once, at their first reader, those of bodies at the node that owns them", () => {
    const { before } = describeGraphs(
      parseModel("(x: f32[2]) -> (y) { a = Add(x, $w: f32[2] = {1, 2}) b = Mul(a, w) y = Add(b, $v: f32[1] = {3}) }"),
      null,
    );
    expect(before!.weightBytes).toEqual([8, 0, 4]);
    expect(before!.weightTypes).toEqual(["f32", "", "f32"]);
  });

  it("tells integers from float, and weights that are only stored as integers", () => {
    const { after } = describeGraphs(
      null,
      parseModel(`(x: f32[2,2]) -> (y) {
        q = QuantizeLinear(x, $s: f32[] = {1}, $z: u8[] = {0})
        d = DequantizeLinear(q, s, z)
        w = DequantizeLinear($wq: i8[2,2], s)
        a = MatMul(d, w)
        b = MatMul(a, w)
        c = Cast<to = 10>(b)
        y = Relu(a)
      }`),
    );
    expect(after!.precisions).toEqual(["i8", "i8", "i8", "i8", "w8", "f16", "f32"]);
  });

  it("knows the operators that compute on integers, and those whose weights are only stored as such", () => {
    const { after } = describeGraphs(
      null,
      parseModel(`(x: f32[4,64], b: u8[64,4], a: u8[4,64], h: i16[4,64], g: i16[64,4]) -> (q, m, n, p, r, s) {
        q, scale, zero = DynamicQuantizeLinear(x)
        m = MatMulInteger(a, b)
        n = com.microsoft::MatMulInteger16(h, g)
        p = com.microsoft::MatMulBnb4<K = 64, N = 4, block_size = 64, quant_type = 1>(x, $w: u8[128], $absmax: f32[4])
        r = com.microsoft::MatMulNBits<K = 64, N = 4, block_size = 64, bits = 8>(x, $v: u8[4,1,64], $scales: f32[4])
        s = com.microsoft::QuickGelu(x)
      }`),
    );
    expect(after!.precisions).toEqual(["i8", "i8", "i16", "w4", "w8", "f32"]);
  });

  it("tells names beyond all measure by their ends", () => {
    const name = "n".repeat(10_000);
    const { after } = describeGraphs(null, parseModel(`(x: f32[2]) -> (${name}) { ${name} = Relu(x) }`));
    expect(after!.values[0]!.length).toBeLessThan(300);
  });
});

describe("withGraphs", () => {
  const files = () => {
    const folder = temporaryFolder();
    const model = { path: modelFile(folder, gelu, { name: "a.onnx" }), sha256: "", bytes: 1, nodes: 3 };
    const output = { path: modelFile(folder, fused, { name: "b.onnx" }), sha256: "", bytes: 1, nodes: 2 };
    return { folder, model, output };
  };

  it("reads both files of a result", () => {
    const { model, output } = files();
    const { graphs } = withGraphs(sampleResult({ model, output }));
    expect([graphs!.before!.nodes.length, graphs!.after!.nodes.length]).toEqual([3, 2]);
  });

  it("leaves out what is not there, what was overwritten, and results of several models", () => {
    const { folder, model, output } = files();
    const gone = { ...model, path: join(folder, "gone.onnx") };
    expect(withGraphs(sampleResult({ model: gone, output })).graphs!.before).toBeNull();
    expect(withGraphs(sampleResult({ model: output, output })).graphs!.before).toBeNull();
    const link = join(folder, "link.onnx");
    symlinkSync(output.path, link);
    expect(withGraphs(sampleResult({ model: { ...model, path: link }, output })).graphs!.before).toBeNull();
    expect(withGraphs(sampleResult({ model: gone, output: null })).graphs).toBeUndefined();
    expect(withGraphs(sampleResult({ command: "bench", model, output: null })).graphs).toBeUndefined();
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { check, parseModel, saveModel, Tensor } from "../../../src/ir/index.js";
import { fitOutput } from "../../../src/quantization/outputs/fit-outputs.js";
import { lastProducts } from "../../../src/quantization/outputs/last-products.js";
import { applyOutputLines } from "../../../src/quantization/outputs/output-line.js";
import { type PairedMoments, pairModels } from "../../../src/quantization/outputs/paired-moments.js";
import { line } from "../../support/output-line.js";
import { prepared } from "../../support/quantize-text.js";
import { runModel, seededFeeds } from "../../support/run-model.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** Moments of rows of samples, channel after channel. */
function momentsOf(y: readonly number[][], z: readonly number[][]): PairedMoments {
  const mean = (of: (s: number, c: number) => number) =>
    Float64Array.from(y[0]!, (_, c) => y.reduce((sum, _, s) => sum + of(s, c), 0) / y.length);
  return {
    samples: y.length,
    y: mean((s, c) => y[s]![c]!),
    z: mean((s, c) => z[s]![c]!),
    yy: mean((s, c) => y[s]![c]! ** 2),
    zz: mean((s, c) => z[s]![c]! ** 2),
    yz: mean((s, c) => y[s]![c]! * z[s]![c]!),
    rows: null,
    inputs: null,
  };
}

const random = seededRandom(5);
const normal = (): number => random.normal();
const floats = Array.from({ length: 400 }, () => Array.from({ length: 20 }, (_, c) => c + normal()));

describe("fitOutput", () => {
  it("finds a constant shift, and takes it back", () => {
    const fit = fitOutput(
      momentsOf(
        floats,
        floats.map((row) => row.map((value, c) => value + 0.5 * (c % 3))),
      ),
    );
    expect(fit.factor).toBeCloseTo(1, 6);
    fit.shift.forEach((shift, c) => {
      expect(shift).toBeCloseTo(-0.5 * (c % 3), 6);
    });
  });

  it("halves what is half noise", () => {
    const { factor, gainDb } = fitOutput(
      momentsOf(
        floats,
        floats.map((row) => row.map((value) => value + normal())),
      ),
    );
    expect(factor).toBeCloseTo(0.5, 1);
    expect(gainDb).toBeCloseTo(3, 0);
  });

  it("does not believe a shift that four samples show by chance", () => {
    const few = floats.slice(0, 4);
    const { shift } = fitOutput(
      momentsOf(
        few,
        few.map((row) => row.map((value) => value + 0.1 * normal())),
      ),
    );
    for (const each of shift) expect(Math.abs(each)).toBeLessThan(0.08);
    const exact = fitOutput(momentsOf(few, few));
    expect([exact.factor, exact.gainDb, ...exact.shift.map(Math.abs)].slice(0, 3)).toEqual([1, 0, 0]);
  });

  it("expects of a shift what it does for other samples", () => {
    const channels = Array.from({ length: 400 }, () => 0.05 * normal());
    const draw = (count: number) => {
      const y = Array.from({ length: count }, () => channels.map(() => normal()));
      return { y, z: y.map((row) => row.map((value, c) => value + channels[c]! + 0.1 * normal())) };
    };
    const seen = draw(16);
    const others = draw(400);
    const { factor, mean, shift, gainDb } = fitOutput(momentsOf(seen.y, seen.z));
    const errorOf = (made: (z: number, c: number) => number): number =>
      others.z.reduce(
        (sum, row, s) => sum + row.reduce((own, z, c) => own + (made(z, c) - others.y[s]![c]!) ** 2, 0),
        0,
      );
    const gained =
      10 * Math.log10(errorOf((z) => z) / errorOf((z, c) => factor * (z - mean[c]!) + mean[c]! + shift[c]!));
    expect(Math.abs(gainDb - gained)).toBeLessThan(0.2);
  });

  it("is judged by samples left out of it where it is fitted to what the product reads, and by others elsewhere", () => {
    const answers = (of: number): Float64Array => Float64Array.from({ length: 2 * of }, () => normal());
    const rowsOf = (samples: number) => {
      const y = answers(samples);
      const rows = { samples, y, z: y.map((value) => value + 0.5 * normal()) };
      const floats = Float64Array.from({ length: 50 * samples }, () => normal());
      return { rows, inputs: { floats, integers: floats.map((value) => value + 0.5 * normal()) } };
    };
    const moments = momentsOf([[1, 2]], [[1, 2]]);
    const enough = rowsOf(16);
    expect(fitOutput({ ...moments, ...enough }).leftOutGainDb).toEqual(expect.any(Number));
    // Too few samples for that, no rows of what is read, and places besides.
    for (const less of [rowsOf(15), { ...enough, inputs: null }, { rows: null, inputs: null }]) {
      expect(fitOutput({ ...moments, ...less }).leftOutGainDb).toBeNull();
    }
  });

  it("stays a number where nothing differs, or nothing is one", () => {
    const zeros = [
      [0, 0],
      [0, 0],
    ];
    expect(fitOutput(momentsOf(zeros, zeros))).toMatchObject({ factor: 1, gainDb: 0 });
    expect(fitOutput(momentsOf([[Number.NaN, 1]], [[1, 1]])).factor).toBe(1);
  });
});

describe("lastProducts", () => {
  it.each([
    ["y = Add(m, r)\n m = MatMul(x, $v: f32[8,8])\n r = Relu(x)", "two ways to the output"],
    ["g = Gemm<alpha=0.5>(x, $w: f32[8,8])\n y = Relu(g)", "a factor of its own"],
    ["g = Gemm(x, $w: f32[8,8], x)\n y = Relu(g)", "a computed bias"],
    ["g = Gemm(x, $w: f32[8,8], $b: f32[])\n y = Relu(g)", "a bias for all"],
    ["h = Gemm(x, $w: f32[8,8])\n y = Gemm(h, w)", "shared weights"],
  ])("%s: none", async (body) => {
    const lines = body.split("\n").sort((a, b) => Number(a.trim().startsWith("y")) - Number(b.trim().startsWith("y")));
    expect(lastProducts(await prepared(`(x: f32[8,8]) -> (y) {\n ${lines.join("\n")} }`))).toEqual([]);
  });
});

describe("pairModels", () => {
  it.each([17, 18])("tells the means of both models' values, opset %d", async (opset) => {
    const text =
      "(x: f32[5,8]) -> (y) { h = Gemm(x, $w: f32[8,6])\n r = Relu(h)\n y = Gemm(r, $v: f32[6,3], $b: f32[3]) }";
    const folder = temporaryFolder();
    const float = await prepared(text, opset);
    const changed = await prepared(text, opset);
    const [product] = lastProducts(float) as [ReturnType<typeof lastProducts>[number]];
    applyOutputLines(changed, new Map([[product.node.name, line(2, [1, 2, 3])]]));
    const path = join(folder, "changed.onnx");
    saveModel(changed, path).commit();
    const { model, floats, outputs, moments } = pairModels(path, [product], true);
    check(model.graph);
    const feeds = seededFeeds(float);
    const [[input, label], [read, of]] = [...floats] as [[string, string], [string, string]];
    expect([label, of]).toEqual([product.value.label, product.node.inputs[0]!.label]);
    const answers = await runModel(float, feeds);
    const others = Tensor.f32(
      [5, 6],
      Array.from({ length: 30 }, (_, i) => i),
    );
    const results = await runModel(model, { ...feeds, [input]: answers["y"]!, [read]: others });
    expect(Object.keys(results).sort()).toEqual([...outputs.keys()].sort());
    const reduced = new Map(Object.entries(results).map(([name, tensor]) => [name, Float64Array.from(tensor.f32())]));
    const found = moments(reduced).get(product.node.name)!;
    expect([...found.inputs!.floats]).toEqual([12, 13, 14, 15, 16, 17]);
    expect(found.inputs!.integers).toHaveLength(6);
    expect(pairModels(path, [product]).floats.size).toBe(1);
    const y = answers["y"]!.f32();
    for (let c = 0; c < 3; c++) {
      const column = [0, 1, 2, 3, 4].map((row) => y[3 * row + c]!);
      const mean = column.reduce((p, q) => p + q) / 5;
      expect(found.y[c]).toBeCloseTo(mean, 4);
      expect(found.z[c]).toBeCloseTo(2 * mean + c + 1, 4);
      expect(found.yz[c]).toBeCloseTo(column.reduce((p, q) => p + q * (2 * q + c + 1), 0) / 5, 3);
    }
  });

  it("says nothing where no sample was there", async () => {
    const folder = temporaryFolder();
    const float = await prepared("(x: f32[5,8]) -> (y) { y = Gemm(x, $w: f32[8,6]) }");
    saveModel(float, join(folder, "a.onnx")).commit();
    expect(pairModels(join(folder, "a.onnx"), lastProducts(float)).moments(new Map()).size).toBe(0);
  });

  it("pairs nothing whose value integer operators do not tell", async () => {
    const folder = temporaryFolder();
    const other = parseModel("(x: f32[5,8]) -> (z) { z = Relu(x) }");
    saveModel(other, join(folder, "other.onnx")).commit();
    const float = await prepared("(x: f32[5,8]) -> (y) { y = Gemm(x, $w: f32[8,6]) }");
    expect(pairModels(join(folder, "other.onnx"), lastProducts(float)).floats.size).toBe(0);
  });

  it("keeps a model that does not know the product as it was", () => {
    const model = parseModel("(x: f32[1,2]) -> (y) { y = Gemm(x, $w: f32[2,2]) }");
    const before = model.graph.constants[0]!.constant;
    applyOutputLines(model, new Map([["another", line(2, [1, 1])]]));
    expect(model.graph.constants[0]!.constant).toBe(before);
  });
});

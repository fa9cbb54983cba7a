import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { fitDirections } from "../../../src/quantization/outputs/fit-directions.js";
import { lastProducts } from "../../../src/quantization/outputs/last-products.js";
import { mapChannels } from "../../../src/quantization/outputs/map-channels.js";
import { applyOutputLines } from "../../../src/quantization/outputs/output-line.js";
import { symmetricEigen } from "../../../src/quantization/outputs/symmetric-eigen.js";
import { prepared } from "../../support/quantize-text.js";

const CHANNELS = 40;

/** Float answers about a mean that move along two directions, and the same with noise along all of them. */
function draw(samples: number, noise: number, seed: number, directions = 2) {
  const basis = seededRandom(1);
  const axes = Array.from({ length: directions }, () => Float64Array.from({ length: CHANNELS }, () => basis.normal()));
  const random = seededRandom(seed);
  const y = new Float64Array(samples * CHANNELS);
  for (let s = 0; s < samples; s++)
    for (const axis of axes) {
      const along = random.normal();
      for (let c = 0; c < CHANNELS; c++) y[s * CHANNELS + c]! += along * axis[c]! + c / directions;
    }
  return { samples, y, z: y.map((value) => value + noise * random.normal()) };
}

describe("fitDirections", () => {
  it("takes away noise along directions in which answers do not differ, on other samples too", () => {
    const fit = fitDirections(draw(24, 0.7, 2), 1)!;
    expect(fit.gainDb).toBeGreaterThan(1.5);
    const { samples, y, z } = draw(200, 0.7, 3);
    const mean = Float64Array.from({ length: CHANNELS }, (_, c) => c);
    let [before, after] = [0, 0];
    for (let s = 0; s < samples; s++) {
      const row = z.slice(s * CHANNELS, (s + 1) * CHANNELS).map((value, c) => value - mean[c]!);
      const change = mapChannels(Float32Array.from(row), CHANNELS, 0, 0, fit.directions);
      for (let c = 0; c < CHANNELS; c++) {
        const wanted = y[s * CHANNELS + c]! - mean[c]!;
        before += (wanted - row[c]!) ** 2;
        after += (wanted - row[c]! - change[c]!) ** 2;
      }
    }
    expect(10 * Math.log10(before / after)).toBeGreaterThan(1.5);
  });

  it("expects little where answers differ along all directions, and nothing without noise", () => {
    const many = fitDirections(draw(24, 0.3, 4, 40), 1);
    expect(many?.gainDb ?? 0).toBeLessThan(0.5);
    expect(fitDirections(draw(24, 0, 5), 1)).toBeNull();
  });

  it("gives up on few samples, a single channel, and numbers that are none", () => {
    expect(fitDirections(draw(6, 0.7, 6), 1)).toBeNull();
    const column = Float64Array.from({ length: 12 }, (_, i) => i);
    expect(fitDirections({ samples: 12, y: column, z: column.map((value) => value + 1) }, 1)).toBeNull();
    const rows = draw(12, 0.7, 7);
    rows.z[3] = Number.NaN;
    expect(fitDirections(rows, 1)).toBeNull();
    expect(fitDirections({ ...draw(12, 0, 8), z: new Float64Array(12 * CHANNELS) }, 1)).toBeNull();
  });
});

describe("applyOutputLines with a matrix", () => {
  const directions = { count: 1, to: Float64Array.of(1, 0, 2), from: Float64Array.of(0, 1, 1) };
  const line = { factor: 2, mean: new Float64Array(3), shift: Float64Array.of(10, 20, 30), directions, along: null };
  const read = async (text: string) => {
    const model = await prepared(text);
    const [{ node }] = lastProducts(model) as [ReturnType<typeof lastProducts>[number]];
    const weight = node.inputs[1]!.constant!.f32();
    const bias = node.inputs[2]?.constant?.f32();
    applyOutputLines(model, new Map([[node.name, line]]));
    return { weight, bias, after: node.inputs.slice(1).map((value) => [...value!.constant!.f32()]) };
  };
  /** 2 v + to (from v), for the three channels of one input. */
  const wanted = ([a, b, c]: readonly number[]) => [2 * a! + b! + c!, 2 * b!, 2 * c! + 2 * (b! + c!)];

  it("works it into weights whose channels come last, and the bias", async () => {
    const { weight, bias, after } = await read("(x: f32[1,2]) -> (y) { y = Gemm(x, $w: f32[2,3], $b: f32[3]) }");
    const rows = [0, 1].flatMap((k) => wanted([0, 1, 2].map((c) => weight[k * 3 + c]!)));
    after[0]!.forEach((value, i) => {
      expect(value).toBeCloseTo(rows[i]!, 5);
    });
    wanted([...bias!]).forEach((value, c) => {
      expect(after[1]![c]).toBeCloseTo(value + line.shift[c]!, 5);
    });
  });

  it("works it into weights whose channels come first, without a bias", async () => {
    const { weight, after } = await read("(x: f32[1,2]) -> (y) { y = Gemm<transB=1>(x, $w: f32[3,2]) }");
    for (const k of [0, 1]) {
      wanted([0, 1, 2].map((c) => weight[c * 2 + k]!)).forEach((value, c) => {
        expect(after[0]![c * 2 + k]).toBeCloseTo(value, 5);
      });
    }
    expect(after[1]).toEqual([10, 20, 30]);
  });
});

describe("symmetricEigen", () => {
  it("takes a matrix apart into turns and lengths", () => {
    const random = seededRandom(3);
    const size = 9;
    const matrix = new Float64Array(size * size);
    for (let i = 0; i < size; i++)
      for (let j = 0; j <= i; j++) matrix[i * size + j] = matrix[j * size + i] = random.normal();
    const { values, vectors } = symmetricEigen(matrix, size);
    for (let i = 0; i < size; i++)
      for (let j = 0; j < size; j++) {
        let [again, turn] = [0, 0];
        for (let k = 0; k < size; k++) {
          again += vectors[i * size + k]! * values[k]! * vectors[j * size + k]!;
          turn += vectors[k * size + i]! * vectors[k * size + j]!;
        }
        expect(again).toBeCloseTo(matrix[i * size + j]!, 9);
        expect(turn).toBeCloseTo(i === j ? 1 : 0, 9);
      }
  });

  it("is done at once with what has nothing beside its diagonal", () => {
    expect([...symmetricEigen(Float64Array.of(3, 0, 0, 5), 2).values]).toEqual([3, 5]);
    expect([...symmetricEigen(new Float64Array(4), 2).values]).toEqual([0, 0]);
  });
});

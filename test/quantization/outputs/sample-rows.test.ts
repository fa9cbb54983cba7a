import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { aboutMean, aboutRow, gramAboutMeans, gramOf, meanRow } from "../../../src/quantization/outputs/sample-rows.js";

const random = seededRandom(5);
const [samples, width] = [5, 3];
const rows = (): Float64Array => Float64Array.from({ length: samples * width }, () => random.normal());
const row = (of: Float64Array, i: number): readonly number[] => [...of.subarray(i * width, (i + 1) * width)];
const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

describe("meanRow", () => {
  it("is of all rows, or of the members", () => {
    const of = Float64Array.of(1, 2, 3, 4, 5, 9);
    expect([...meanRow(of, 3)]).toEqual([3, 5]);
    expect([...meanRow(of, 3, [0, 2])]).toEqual([3, 5.5]);
  });
});

describe("aboutMean", () => {
  it("leaves rows whose mean is 0", () => {
    const of = rows();
    const about = aboutMean(of, samples);
    for (const value of meanRow(about, samples)) expect(value).toBeCloseTo(0, 12);
    expect(about[width]! - about[0]!).toBeCloseTo(of[width]! - of[0]!, 12);
  });
});

describe("gramOf", () => {
  it("has the products of all rows of one kind with all of another", () => {
    const [a, b] = [rows(), rows()];
    for (const [x, y] of [[a, b] as const, [a, a] as const]) {
      const gram = gramOf(x, y, samples);
      for (let i = 0; i < samples; i++)
        for (let j = 0; j < samples; j++) expect(gram[i * samples + j]).toBeCloseTo(dot(row(x, i), row(y, j)), 12);
    }
  });
});

describe("gramAboutMeans", () => {
  it("is that of rows less the means of the members, others among them", () => {
    const [a, b] = [rows(), rows()];
    const members = [0, 2, 3];
    const [x, y] = [a, b].map((of) => aboutRow(of, meanRow(of, samples, members))) as [Float64Array, Float64Array];
    const wanted = gramOf(x, y, samples);
    gramAboutMeans(gramOf(a, b, samples), samples, members).forEach((value, at) => {
      expect(value).toBeCloseTo(wanted[at]!, 12);
    });
  });
});

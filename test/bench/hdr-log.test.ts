import { HistogramLogReader, listTags } from "hdr-histogram-js";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { hdrLog, latencyPercentiles } from "../../src/bench/index.js";

const options = { toolVersion: "0.0.0", from: 1_760_000_000_000, until: 1_760_000_012_500 };

function read(log: string) {
  const reader = new HistogramLogReader(log);
  const found = [];
  for (let next = reader.nextIntervalHistogram(); next; next = reader.nextIntervalHistogram()) found.push(next);
  return found;
}

/** Milliseconds with a long tail: some runs take a thousand times as long. */
function samples(count: number, median: number): Float64Array {
  const random = seededRandom(count);
  return Float64Array.from(
    { length: count },
    () => median * Math.exp(0.5 * random.normal()) * (random.below(200) ? 1 : 1000),
  );
}

describe("a log of HdrHistogram", () => {
  it.each([
    [1, 3],
    [60, 0.16],
    [300, 11],
    [3000, 40],
    [20_000, 0.02],
  ])("of %i runs at about %f ms gives the percentiles that are printed, within 0.1 %%", async (count, median) => {
    const samplesMs = samples(count, median);
    const [histogram] = read(await hdrLog([{ name: "m.onnx", samplesMs }], options));
    expect(histogram!.totalCount).toBe(count);
    const { p50Ms, p95Ms, p99Ms, p999Ms } = latencyPercentiles(samplesMs);
    for (const [percentile, printed] of [
      [50, p50Ms],
      [95, p95Ms],
      [99, p99Ms],
      [99.9, p999Ms],
    ] as const) {
      if (printed === null) continue;
      const logged = histogram!.getValueAtPercentile(percentile) / 1e6;
      expect(Math.abs(logged / printed - 1)).toBeLessThan(1.001e-3);
    }
    expect(Math.abs(histogram!.maxValue / 1e6 / Math.max(...samplesMs) - 1)).toBeLessThan(1.001e-3);
  });

  it("has one line a series, each with a tag of its own", async () => {
    const samplesMs = [1, 2, 3];
    const names = ["a.onnx", "my model, v2.onnx", "a.onnx", "a.onnx:waiting", ""];
    const log = await hdrLog(
      names.map((name) => ({ name, samplesMs })),
      options,
    );
    expect(listTags(log)).toEqual(["a.onnx", "my_model_v2.onnx", "a.onnx#2", "a.onnx:waiting", "unnamed"]);
    expect(read(log).map(({ tag }) => tag)).toEqual([
      "a.onnx",
      "my_model_v2.onnx",
      "a.onnx#2",
      "a.onnx:waiting",
      "unnamed",
    ]);
  });

  it("says when it was measured, and the largest of each line in milliseconds", async () => {
    const log = await hdrLog([{ name: "m", samplesMs: [2, 250] }], options);
    expect(log).toContain("#[StartTime: 1760000000.000 (seconds since epoch)]\n");
    expect(log).toMatch(/^Tag=m,0\.000,12\.500,250\.\d{3},[\w+/=]+$/m);
  });

  it("takes requests that never waited", async () => {
    const [histogram] = read(await hdrLog([{ name: "m:waiting", samplesMs: [0, 0, 1] }], options));
    expect([histogram!.totalCount, histogram!.getValueAtPercentile(50)]).toEqual([3, 0]);
  });
});

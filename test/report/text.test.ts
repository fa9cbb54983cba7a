import { describe, expect, it } from "vitest";
import { palette } from "../../src/report/palette.js";
import { renderText } from "../../src/report/text.js";
import { refusedResult, sampleResult } from "./sample-result.js";

const plain = palette(false);

describe("renderText", () => {
  it("tells files of one name apart by their folders, the one to judge against too", () => {
    const { model } = sampleResult();
    const [given, output, baseline] = ["runs/a/net.onnx", "runs/b/net.onnx", "net.onnx"].map((path) => ({
      ...model,
      path,
    }));
    const text = renderText(sampleResult({ model: given!, output: output!, baseline: baseline! }), plain);
    expect(text).toContain("a/net.onnx -> b/net.onnx");
    expect(text).not.toContain("runs/");
    expect(text).toContain("before is net.onnx");
  });

  it("tells the verdict first, then limits, numbers, changes, and what stayed float", () => {
    expect(renderText(sampleResult(), plain)).toMatchInlineSnapshot(`
      " PASS  net.onnx -> net.int8.onnx                      cpu, 1 thread, batch 1
       every limit is met: 2.14x as fast, 3.96x smaller, top1 0.7600 -> 0.7588

       limits             wanted      got       interval
       ok    max-drop     0.5 pt  0.12 pt  -0.05 .. 0.29
       ok    min-speedup   1.20x    2.14x   2.11 .. 2.17

       accuracy        top1, 5,000 samples, against labels
         before  0.7600
         after   0.7588  -0.0012, 95 % interval -0.0029 .. +0.0005

       latency ms       p50   p90   p95   p99  p99.9  runs
       before          24.3  25.1  25.9  27.4      -   640
       after           11.4  11.8  11.9  13.0      -   640
       speed           2.14x as fast, interval 2.11x .. 2.17x

       size
         before  4.00 MB  175 nodes
         after   1.01 MB  210 nodes  3.96x smaller

       kept in float  3 of 55
           2  depthwise
              /a, /b
           1  costs too much accuracy
              /conv1

       what changed
         fuse-conv-batch-norm  53x
         fuse-pad               1x
         fuse-pad undone in part: output y differs by 0.5
         static INT8 (mse ranges), 52 nodes on integers, 64 calibration samples
         fastest within the limits
         note: one bias was widened

       outputs, pooled  max |diff|  relative L2  SQNR dB   cosine
       logits                0.310       0.0275     31.2  0.99962

       candidates         speed  accuracy  SQNR dB     size  float
       * int8 static mse  2.14x    0.7588     31.2  1.01 MB      3
         float32 fused    1.10x         -        -  3.99 MB     55

       warning  the samples repeat: 4 of 64 are equal

       42 s, peak memory 412 MB, Some CPU, onnxruntime 1.30.0
      "
    `);
  });

  it("says no gain and offers the command that would accept it", () => {
    const text = renderText(refusedResult(), plain, "infer-opt optimize models/net.onnx -o x.onnx");
    expect(text.split("\n")[0]).toMatch(/^ NO GAIN {2}net\.onnx /);
    expect(text).toContain(" next  infer-opt optimize models/net.onnx -o x.onnx --goal size\n");
  });

  it("tells of no integers among what changed where there are none", () => {
    const { quantization } = sampleResult();
    const shown = (nodes: number) =>
      renderText(sampleResult({ quantization: { ...quantization!, nodes, forms: [] } }), palette(false));
    expect(shown(0)).not.toContain("on integers");
    expect(shown(0)).toContain("kept in float");
    expect(shown(4)).toContain("4 nodes on integers");
  });

  it("keeps every line within 80 columns, but for a command, which must stay whole to be pasted", () => {
    const long = "a-very-long-name/".repeat(20);
    const result = sampleResult({
      model: { path: `${"m".repeat(200)}.onnx`, sha256: "", bytes: 1, nodes: 1 },
      warnings: ["word ".repeat(60).trim()],
      difference: [{ output: long, maxAbs: 1, relativeL2: 1, sqnrDb: null, cosine: 1 }],
    });
    const layer = {
      value: long,
      node: long,
      op: "BatchNormalization",
      maxAbs: 0.1234,
      relativeL2: 1e-5,
      sqnrDb: 12.34,
      cosine: 1,
    };
    const layers = {
      thresholdDb: 20,
      samples: 8,
      compared: 1,
      uncompared: 0,
      first: { ...layer, node: "n" },
      worst: [layer],
    };
    const lines = renderText({ ...result, layers }, plain).split("\n");
    expect(lines.filter((line) => line.length > 80 && !line.startsWith(" next  "))).toEqual([]);
  });

  it("shows control characters of names instead of sending them to the terminal", () => {
    const result = sampleResult({
      warnings: ["\u001b[2Jgone\nFAIL \u202egnp"],
      difference: [{ output: "\u001b]0;title\u0007", maxAbs: 0, relativeL2: 0, sqnrDb: null, cosine: 1 }],
    });
    const text = renderText(result, plain);
    expect(text).toContain("\\x1b[2Jgone\\nFAIL \\u202egnp");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it("colours the verdict only when asked to", () => {
    expect(renderText(sampleResult(), palette(true))).toContain("\u001b[32m");
    expect(renderText(sampleResult(), plain)).not.toContain("\u001b");
  });

  it("gets by without anything optional", () => {
    const bare = sampleResult({
      ...{ output: null, quantization: null, accuracy: null, latency: null, passes: [], candidates: [] },
      ...{ difference: [], warnings: [] },
      verdict: { status: "pass", outcome: "met", reasons: [], summary: "nothing to fold" },
    });
    expect(renderText(bare, plain)).toBe(
      [" PASS  net.onnx", " nothing to fold", "", " 42 s, peak memory 412 MB, Some CPU, onnxruntime 1.30.0", ""].join(
        "\n",
      ),
    );
  });

  it("shows a row for each model that was timed", () => {
    const bounds = { low: null, high: null };
    const row = {
      ...{ p50Ms: 10, p90Ms: 11, p95Ms: 12, p99Ms: null, p999Ms: null },
      bounds: { p50: { low: 9.8, high: 10.3 }, p90: bounds, p95: bounds, p99: bounds, p999: bounds },
      ...{ throughputPerSecond: 100, loadMs: 1, firstRunMs: 1, peakRssBytes: 50_000_000 },
    };
    const file = (path: string) => ({ path, sha256: "", bytes: 1, nodes: 1 });
    const result = sampleResult({
      bench: {
        ...{ provider: "cpu", threads: 2, batch: 1, runs: 100, processes: 3, data: "eval.npz" },
        models: [
          { ...row, model: file("a.onnx"), speedup: null, speedupInterval: null },
          { ...row, model: file("b.onnx"), p50Ms: 5, speedup: 2, speedupInterval: [1.9, 2.1] },
        ],
        noise: { ratio: 1.002, interval: [0.996, 1.008] },
      },
    });
    const text = renderText(result, plain);
    expect(text).toContain(" a.onnx       10.0  11.0  12.0    -      -\n   95 % from  9.80     -     -    -      -\n");
    expect(text).toContain("   to         10.3     -     -    -      -\n b.onnx       5.00  11.0  12.0    -      -\n");
    expect(text).toContain(
      " a.onnx      1                     100  50.0 MB\n b.onnx  2.00x  1.90 .. 2.10       100  50.0 MB\n",
    );
    expect(text).toContain("100 runs of each model in 3 processes; cpu, 2 threads, batch 1; fed eval.npz");
    expect(text).toContain("noise check: the first model against itself 1.00x (1.00x .. 1.01x)");
  });
});

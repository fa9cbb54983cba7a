import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/pipeline/result.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { renderText } from "../../src/report/text.js";
import { refusedResult, sampleResult } from "./sample-result.js";

it("tells which sizes were fixed, in both formats", () => {
  const shapes = [{ port: "input", name: "ids", before: ["batch", null], after: [1, 128] }] as const;
  const result = sampleResult({ shapes });
  expect(renderMarkdown(result)).toContain("| input | `ids` | `[batch,?]` | `[1,128]` |");
  expect(renderText(result, palette(false))).toContain("fixed sizes\n   input  ids  [batch,?] -> [1,128]\n");
  expect(renderText(sampleResult({ shapes: [] }), palette(false))).not.toContain("fixed sizes");
});

describe("renderMarkdown", () => {
  it("has the verdict in its first line, one table, one sentence to act on, and folds the rest", () => {
    expect(renderMarkdown(sampleResult(), "infer-opt optimize net.onnx -o x.onnx")).toMatchInlineSnapshot(`
      "### infer-opt: **PASS** \`net.int8.onnx\` on cpu, 1 thread

      every limit is met: 2.14x as fast, 3.96x smaller, top1 0.7600 -&gt; 0.7588

      | limit | wanted | got | interval |  |
      | --- | --: | --: | --: | --- |
      | max-drop | 0.5 pt | 0.12 pt | -0.05 .. 0.29 | met |
      | min-speedup | 1.20x | 2.14x | 2.11 .. 2.17 | met |

      Next: \`infer-opt profile models/net.onnx out/net.int8.onnx\` (where the time goes now, layer by layer)

      <details><summary>1 warning</summary>

      - the samples repeat: 4 of 64 are equal

      </details>

      <details><summary>Before and after</summary>

      |  | before | after |  |
      | --- | --: | --: | --- |
      | top1 | 0.7600 | 0.7588 | -0.0012 (-0.0029 .. +0.0005), n = 5,000, labels |
      | p50 ms | 24.3 | 11.4 | 2.14x (2.11x .. 2.17x), 640 runs |
      | p90 ms | 25.1 | 11.8 |  |
      | p95 ms | 25.9 | 11.9 |  |
      | p99 ms | 27.4 | 13.0 |  |
      | size | 4.00 MB | 1.01 MB | 3.96x |
      | nodes | 175 | 210 |  |

      </details>

      <details><summary>Limits in words</summary>

      - max-drop, ok: top1 got worse by 0.12 points, 0.5 allowed
      - min-speedup, ok: 2.14x as fast, at least 1.2x wanted

      </details>

      <details><summary>What changed</summary>

      | pass | applied |  |
      | --- | --: | --- |
      | \`fuse-conv-batch-norm\` | 53 |  |
      | \`fuse-pad\` | 1 | undone: output y differs by 0.5 |

      static INT8, mse ranges: 52 nodes on integers. fastest within the limits

      - one bias was widened

      </details>

      <details><summary>Kept in float</summary>

      | nodes | reason | for example |
      | --: | --- | --- |
      | 2 | depthwise | \`/a\`, \`/b\` |
      | 1 | costs too much accuracy | \`/conv1\` |

      </details>

      <details><summary>Candidates</summary>

      | candidate | speed | accuracy | SQNR dB | size | integers | float |  |
      | --- | --: | --: | --: | --: | --: | --: | --- |
      | **int8 static mse** | 2.14x | 0.7588 | 31.2 | 1.01 MB | 52 | 3 | chosen |
      | float32 fused | 1.10x | - | - | 3.99 MB | 0 | 55 | slower |

      </details>

      <details><summary>Outputs, before and after</summary>

      | output | max abs | relative L2 | SQNR dB | cosine |
      | --- | --: | --: | --: | --: |
      | \`logits\` | 0.310 | 0.0275 | 31.2 | 0.99962 |

      </details>

      <details><summary>Environment and command</summary>

      - Some CPU (8 cores, avx2 avx512\\_vnni), linux-x64
      - infer-opt 0.1.0, Node 20.20.2, onnxruntime 1.30.0
      - 42 s, peak memory 412 MB, input sha256 aa
      - \`infer-opt optimize net.onnx -o x.onnx\`

      </details>

      <!-- infer-opt:out/net.int8.onnx@cpu -->
      "
    `);
  });

  it("gives one command to act on", () => {
    const text = renderMarkdown(refusedResult(), "infer-opt optimize net.onnx -o x.onnx");
    expect(text).toContain("Next: `infer-opt optimize net.onnx -o x.onnx --goal size` (");
  });

  it("lets no name break a cell, open a tag, end the comment or call a person", () => {
    const evil = "a|b`c</summary><script>@team --> \n# x";
    const text = renderMarkdown(
      sampleResult({
        output: { path: `out/${evil}.onnx`, sha256: "", bytes: 1, nodes: 1 },
        candidates: [{ ...sampleResult().candidates[0]!, name: evil, reason: evil }],
        difference: [{ output: evil, maxAbs: 0, relativeL2: 0, sqnrDb: null, cosine: 1 }],
        warnings: [evil],
      }),
    );
    expect(text).not.toContain("<script>");
    expect(text).not.toContain("@team");
    expect(text).not.toContain("\n# x");
    expect(text.split("-->")).toHaveLength(2);
    expect(text.trimEnd()).toMatch(/\n<!-- infer-opt:[\w./@-]+ -->$/);
    const cells = text.split("\n").find((line) => line.startsWith("| **a"))!;
    expect(cells.replace(/\\\|/g, "").split("|")).toHaveLength(10);
  });

  it("shows of every command's result one table", () => {
    const bare = { ...sampleResult(), output: null, latency: null, accuracy: null, quantization: null } as const;
    const { reasons: _, ...verdict } = bare.verdict;
    const plain = { ...bare, candidates: [], difference: [], verdict: { ...verdict, reasons: [] } };
    const times = { p50Ms: 1, p90Ms: 2, p95Ms: 3, p99Ms: null, p999Ms: null };
    const { model } = bare;
    const setting = { ...times, model, batch: 2, threads: 1, throughputPerSecond: 9, peakRssBytes: 1e6, limits: [] };
    const sweep = { settings: [setting, { ...setting, batch: 4 }], fastest: 1, best: null, costPerHour: null };
    const load = { models: [{ model, latency: times, waiting: times, service: times, utilization: 0.5 }] };
    for (const [parts, row] of [
      [{ sweep }, "| **`net.onnx`** | **4** | **1** | **1.00** | **2.00** | **3.00** | **-** | **-** | **9.00** |"],
      [{ load }, "| `net.onnx` | 1.00 | 2.00 | 3.00 | - | - | 50 % |"],
    ] as const) {
      const text = renderMarkdown({ ...plain, ...parts } as unknown as RunResult);
      expect(text).toContain(row);
      const visible = text.replace(/<details>[\s\S]*?<\/details>/g, "");
      expect(visible.match(/^\| -|^\| :?--/gm)).toHaveLength(1);
    }
  });

  it("stays below what platforms take as a comment, and keeps the verdict and what finds it again", () => {
    const row = sampleResult().candidates[0]!;
    const long = "x".repeat(5000);
    const many = Array.from({ length: 5000 }, (_, i) => ({ node: `${i}${long}`, op: long, reason: `${i}${long}` }));
    const result = sampleResult();
    const text = renderMarkdown(
      sampleResult({
        candidates: Array.from({ length: 5000 }, () => ({ ...row, name: long })),
        quantization: { ...result.quantization!, float: many, notes: many.map(({ node }) => node) },
        warnings: many.map(({ node }) => node),
        model: { ...result.model, path: long },
        output: { ...result.output!, path: long },
      }),
      `infer-opt optimize ${long}`,
    );
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/^### infer-opt: \*\*PASS\*\* `x+\.\.\.x+` on cpu/);
    expect(text).toContain("left out: too long for a comment");
    expect(text.trimEnd()).toMatch(/@cpu -->$/);
  });
});

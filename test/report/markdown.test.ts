import { describe, expect, it } from "vitest";
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
  it("has the verdict in its first visible line, one table of limits, and folds the rest", () => {
    expect(renderMarkdown(sampleResult(), "infer-opt optimize net.onnx -o x.onnx")).toMatchInlineSnapshot(`
      "<!-- infer-opt:out/net.int8.onnx@cpu -->
      ### infer-opt: **PASS** \`net.int8.onnx\` on cpu, 1 thread

      every limit is met

      | limit |  | result |
      | --- | --- | --- |
      | max-drop | met | top1 got worse by 0.12 points, 0.5 allowed |
      | min-speedup | met | 2.14x as fast, at least 1.2x wanted |

      |  | before | after |  |
      | --- | --: | --: | --- |
      | top1 | 0.7600 | 0.7588 | -0.0012 (-0.0029 .. +0.0005), n = 5,000, labels |
      | p50 ms | 24.3 | 11.4 | 2.14x (2.11x .. 2.17x), 640 runs |
      | p90 ms | 25.1 | 11.8 |  |
      | p95 ms | 25.9 | 11.9 |  |
      | p99 ms | 27.4 | 13.0 |  |
      | size | 4.00 MB | 1.01 MB | 3.96x |
      | nodes | 175 | 210 |  |

      - Warning: the samples repeat: 4 of 64 are equal

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

      | candidate | speed | accuracy | SQNR dB | size | float nodes |  |
      | --- | --: | --: | --: | --: | --: | --- |
      | **int8 static mse** | 2.14x | 0.7588 | 31.2 | 1.01 MB | 3 | chosen |
      | float32 fused | 1.10x | - | - | 3.99 MB | 55 | slower |

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
    const cells = text.split("\n").find((line) => line.startsWith("| **a"))!;
    expect(cells.replace(/\\\|/g, "").split("|")).toHaveLength(9);
  });

  it("stays below what platforms take as a comment", () => {
    const row = sampleResult().candidates[0]!;
    const long = "x".repeat(5000);
    const text = renderMarkdown(
      sampleResult({ candidates: Array.from({ length: 30 }, () => ({ ...row, name: long })) }),
    );
    expect(text.length).toBeLessThan(60_100);
    expect(text).toContain("left out: too long for a comment");
  });
});

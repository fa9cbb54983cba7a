/** Of `--baseline`: every form of the report holds the numbers against the model that the given one was made of. */
import { describe, expect, it } from "vitest";
import { renderHtml } from "../../src/report/html/page.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { renderMetrics } from "../../src/report/metrics.js";
import { palette } from "../../src/report/palette.js";
import { renderText } from "../../src/report/text.js";
import { openBook } from "../../src/tui/book.js";
import { draw } from "../../src/tui/draw.js";
import { look } from "../../src/tui/look.js";
import { settle } from "../../src/tui/press.js";
import { firstState } from "../../src/tui/state.js";
import { sampleResult } from "./sample-result.js";

const baseline = { path: "models/dense.onnx", sha256: "cc", bytes: 8_080_000, nodes: 181 };
const result = sampleResult({ baseline });
const plain = (page: string): string => page.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

describe("sizes before", () => {
  it.each([
    ["the text", renderText(result, palette(false))],
    ["Markdown", renderMarkdown(result)],
    ["the page", plain(renderHtml(result))],
    ["the terminal's screens", drawn()],
  ])("are the baseline's in %s", (_, text) => {
    expect(text).toMatch(/8\.08 MB/);
    expect(text).toMatch(/\b181\b/);
    expect(text).not.toMatch(/4\.00 MB/);
  });

  it("are the baseline's among metrics", () => {
    expect(JSON.parse(renderMetrics(result))).toMatchObject({
      "size.baseline.bytes": baseline.bytes,
      "size.baseline.nodes": baseline.nodes,
      "size.candidate.nodes": 210,
    });
  });

  it("come with both files among what was measured", () => {
    const page = plain(renderHtml(result));
    expect(page).toContain("before models/dense.onnx, sha256 cc given models/net.onnx, sha256 aa after out/net");
  });
});

function drawn(): string {
  const [book, size, style] = [openBook(result, "result.json", null), { columns: 120, rows: 50 }, look(false, true)];
  return draw(book, settle(book, firstState(book), size, style), size, style).join("\n");
}

import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../src/pipeline/result.js";
import { type ExportFormat, exportResult } from "../../src/report/exports.js";
import { renderAnnotations } from "../../src/report/github.js";
import { renderHtml } from "../../src/report/html/page.js";
import { renderJson } from "../../src/report/json.js";
import { resultJsonSchema } from "../../src/report/json-schema.js";
import { renderJunit } from "../../src/report/junit.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { renderText } from "../../src/report/text.js";
import { anyResult } from "../support/result-arbitrary.js";
import { refusedResult, sampleResult } from "./sample-result.js";

const Ajv = createRequire(import.meta.url)("ajv/dist/2020.js") as new (
  options: object,
) => { compile(schema: object): ((value: unknown) => boolean) & { errors?: unknown } };
const admits = new Ajv({ strict: true, strictTypes: false }).compile(resultJsonSchema());

const exports: readonly ExportFormat[] = ["csv", "metrics", "benchmarkJson", "resultTrace"];

function renderAll(result: RunResult): Record<string, string> {
  return {
    text: renderText(result, palette(false)),
    html: renderHtml(result, "infer-opt optimize"),
    markdown: renderMarkdown(result, "infer-opt optimize"),
    junit: renderJunit(result),
    annotations: renderAnnotations(result),
    json: renderJson(result),
    ...Object.fromEntries(exports.map((format) => [format, exportResult(result, format, "x")[0]!.text])),
  };
}

describe("the schema of results", () => {
  it("is the one that the package has", async () => {
    await expect(renderJson(resultJsonSchema())).toMatchFileSnapshot("../../schema/result.schema.json");
  });

  it("admits results, and refuses what is none", () => {
    for (const result of [sampleResult(), refusedResult()])
      expect(admits(result), JSON.stringify(admits.errors)).toBe(true);
    expect(admits({ ...sampleResult(), schemaVersion: 2 })).toBe(false);
    expect(admits({ ...sampleResult(), verdict: undefined })).toBe(false);
    expect(admits({ ...sampleResult(), warnings: [1] })).toBe(false);
  });

  it("admits whatever the reader admits, and every format shows it, whichever optional fields are missing", () => {
    fc.assert(
      fc.property(anyResult, (result) => {
        expect(admits(result), JSON.stringify(admits.errors)).toBe(true);
        const slips = Object.entries(renderAll(result)).flatMap(([format, text]) => {
          const shown = text.replace(/<script>[\s\S]*?<\/script>/, "");
          const slip = /\bundefined\b|\[object Object\]/.exec(shown);
          return slip ? [`${format}: ${shown.slice(Math.max(0, slip.index - 120), slip.index + 40)}`] : [];
        });
        expect(slips).toEqual([]);
      }),
      { numRuns: 150, seed: 8 },
    );
  });
});

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
import { plainSheet } from "../../src/report/sheet.js";
import { renderText } from "../../src/report/text.js";
import { openBook } from "../../src/tui/book.js";
import { draw } from "../../src/tui/draw.js";
import { look } from "../../src/tui/look.js";
import { press, settle } from "../../src/tui/press.js";
import { firstState } from "../../src/tui/state.js";
import { anyResult } from "../support/result-arbitrary.js";
import { refusedResult, sampleResult } from "./sample-result.js";

const Ajv = createRequire(import.meta.url)("ajv/dist/2020.js") as new (
  options: object,
) => { compile(schema: object): ((value: unknown) => boolean) & { errors?: unknown } };
const admits = new Ajv({ strict: true, strictTypes: false }).compile(resultJsonSchema());

const exports: readonly ExportFormat[] = ["csv", "metrics", "benchmarkJson", "resultTrace"];

/** All screens, and what enter tells of their first rows. */
function drawn(result: RunResult): Record<string, string> {
  const [plain, size] = [look(false, true), { columns: 120, rows: 40 }];
  const book = openBook(result, "r.json", "infer-opt optimize");
  let state = firstState(book);
  return Object.fromEntries(
    ["1", "2", "3", "4", "5", "6", "7"].flatMap((screen) =>
      [screen, "enter"].map((key) => {
        state = settle(book, press(key, book, state, size, plain).state, size, plain);
        return [`screen ${screen} ${key}`, draw(book, state, size, plain).join("\n")];
      }),
    ),
  );
}

function renderAll(result: RunResult): Record<string, string> {
  return {
    text: renderText(result, palette(false)),
    wide: renderText(result, palette(false), "infer-opt optimize", 60, { ...plainSheet, columns: 200 }),
    html: renderHtml(result, "infer-opt optimize"),
    markdown: renderMarkdown(result, "infer-opt optimize"),
    junit: renderJunit(result),
    annotations: renderAnnotations(result),
    json: renderJson(result),
    ...Object.fromEntries(exports.map((format) => [format, exportResult(result, format, "x")[0]!.text])),
  };
}

/** What should have been left out or told as not known. */
const slipsIn = (texts: Record<string, string>): string[] =>
  Object.entries(texts).flatMap(([format, text]) => {
    const shown = text.replace(/<script>[\s\S]*?<\/script>/, "");
    const slip = /\bundefined\b|\bNaN\b|\[object Object\]/.exec(shown);
    return slip ? [`${format}: ${shown.slice(Math.max(0, slip.index - 120), slip.index + 40)}`] : [];
  });

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
        expect(slipsIn(renderAll(result))).toEqual([]);
      }),
      { numRuns: 150, seed: 8 },
    );
  });

  it("is drawn on a terminal, whichever optional fields are missing", () => {
    fc.assert(
      fc.property(anyResult, (result) => {
        expect(slipsIn(drawn(result))).toEqual([]);
      }),
      { numRuns: 12, seed: 8 },
    );
  });
});

/** Results as every command that runs models writes them: the published schema knows each field, and every format shows them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands/index.js";
import type { RunResult } from "../../src/pipeline/result.js";
import { exportResult } from "../../src/report/exports.js";
import { renderHtml } from "../../src/report/html/page.js";
import { renderJson } from "../../src/report/json.js";
import { resultJsonSchema } from "../../src/report/json-schema.js";
import { readResult } from "../../src/report/read-result.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const digits = join(root, "fixtures/models/digits.onnx");
const samples = join(root, "calibration/digits/calibration.npz");
const labelled = join(root, "calibration/digits/evaluation.npz");
const Ajv = createRequire(import.meta.url)("ajv/dist/2020.js") as new (
  options: object,
) => { compile(schema: object): ((value: unknown) => boolean) & { errors?: readonly object[] } };

/** Every field that is there has to be in the schema: what is added to results is told to those who read them. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== "object") return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)]);
  const shape = Object.fromEntries(entries) as Record<string, unknown>;
  return shape["type"] === "object" ? { ...shape, additionalProperties: false } : shape;
}

const admits = new Ajv({ strict: true, strictTypes: false }).compile(closed(resultJsonSchema()) as object);
const running = ["--threads", "1"];
const quick = [...running, "--budget", "1s"];

const runs: readonly (readonly [name: string, argv: readonly string[]])[] = [
  ["fold", ["fold", digits, "-o", "folded.onnx", ...running]],
  ["fuse", ["fuse", digits, "-o", "fused.onnx", "--runtime-specific", ...running]],
  [
    "prune",
    [
      "prune",
      digits,
      "-o",
      "small.onnx",
      "--calibration",
      samples,
      "--keep-ratio",
      "0.5",
      "--max-drop",
      "none",
      ...quick,
    ],
  ],
  ["fp16", ["fp16", digits, "-o", "half.onnx", ...running]],
  ["calibrate", ["calibrate", digits, "--calibration", samples, "-o", "ranges.json", ...running]],
  [
    "quantize",
    ["quantize", digits, "-o", "int8.onnx", "--calibration", samples, "--goal", "size", "--mode", "static", ...quick],
  ],
  [
    "verify",
    ["verify", digits, "fused.onnx", "--eval", samples, "--metric", "agreement", "--layers", "--drift", ...running],
  ],
  ["bench", ["bench", digits, "fused.onnx", "--noise-check", ...quick]],
  ["bench --rate", ["bench", digits, "--rate", "100", "--find-max-rate", "--slo", "p50=50ms", ...quick]],
  ["bench --batch", ["bench", digits, "--batch", "1,2", ...quick]],
  ["profile", ["profile", digits, "fused.onnx", ...quick]],
  [
    "gate",
    [
      "gate",
      digits,
      "fused.onnx",
      "--eval",
      labelled,
      "--metric",
      "top1",
      "--max-size",
      "1MB",
      "--history",
      "h.jsonl",
      ...quick,
    ],
  ],
  ["optimize", ["optimize", digits, "-o", "best.onnx", "--calibration", samples, "--goal", "size", ...quick]],
];

describe("a result of", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "infer-opt-test-"));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(runs)(
    "%s",
    (name, argv) => {
      const path = `${name.replaceAll(" ", "")}.result.json`;
      const bin = join(root, "bin/infer-opt.js");
      const ended = spawnSync(process.execPath, [bin, ...argv, "--quiet", "--report", path], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(ended.stderr).not.toMatch(/^error/m);
      const result = readResult(join(folder, path));
      expect(admits(result), JSON.stringify(admits.errors?.slice(0, 3))).toBe(true);
      expect(JSON.parse(renderJson(result))).toEqual(result);
      expect(renderHtml(result)).toBe(renderHtml(result));
      shown(result);
    },
    180_000,
  );

  it("comes from every command that measures or changes models", () => {
    const names = new Set(runs.map(([, [command]]) => command));
    const reporting = commands.filter(({ flags }) => flags.includes("report")).map(({ name }) => name);
    expect([...names].sort()).toEqual(reporting.sort());
  });
});

/** What a page of each shows. */
function shown(result: RunResult): void {
  const panels = [...renderHtml(result).matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id);
  const hasGraphs = !["bench", "calibrate"].includes(result.command);
  expect(panels.includes("graph")).toBe(hasGraphs);
  expect(panels.includes("calibration")).toBe(
    ["calibrate", "quantize", "optimize"].includes(result.command) && result.calibration !== undefined,
  );
  expect(panels.includes("roofline")).toBe(result.command === "profile");
  const metrics = JSON.parse(exportResult(result, "metrics", "m.json")[0]!.text) as Record<string, unknown>;
  expect(Object.values(metrics).every((value) => typeof value === "number")).toBe(true);
}

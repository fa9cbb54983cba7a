/** Every command line that a document, a help text or a finding shows is one that the program takes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands/index.js";
import { loadModel } from "../../src/ir/index.js";
import { findingsOf } from "../../src/pipeline/inspect/inspect-findings.js";
import type { RunResult } from "../../src/pipeline/result.js";
import { suggest } from "../../src/report/next.js";
import { refusedResult, sampleResult } from "../report/sample-result.js";
import { commandLinesOf, objectionTo, withoutShell } from "./command-lines.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
const documents = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

const objections = async (lines: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(lines.map(async (line) => [line, await objectionTo(line)] as const));
  return found.flatMap(([line, objection]) => (objection === null ? [] : [`${line}: ${objection}`]));
};

it("an objection is had where there is one", async () => {
  expect(await objectionTo("infer-opt fuse model.onnx -o out.onnx")).toBeNull();
  expect(await objectionTo("infer-opt fuse model.onnx -o out.onnx --bits 8")).toContain("FLAG_UNKNOWN");
  expect(await objectionTo("infer-opt quantize model.onnx -o out.onnx --max-drop lots")).toContain("FLAG_INVALID");
  expect(await objectionTo("infer-opt bench")).toContain("ARGUMENT_MISSING");
  expect(await objectionTo("infer-opt polish model.onnx")).toContain("polish");
});

it("commands are found in code, joined and without comments", () => {
  const text = [
    "Not `infer-opt here`.\n\n```sh",
    "infer-opt doctor   # is it sound?",
    "$ npx infer-opt fuse a.onnx \\\n    -o b.onnx > log\n```",
    "\nor\n\n    infer-opt show a.onnx | head\n\n```yaml\n- run: infer-opt gate a b\n```\n",
  ].join("\n");
  expect(commandLinesOf(text)).toEqual([
    "infer-opt doctor",
    "infer-opt fuse a.onnx -o b.onnx",
    "infer-opt show a.onnx",
    "infer-opt gate a b",
  ]);
});

describe("documents", () => {
  it.each(documents)("%s", async (path) => {
    expect(await objections(commandLinesOf(textOf(path)))).toEqual([]);
  });

  it("show many commands, all in all", () => {
    expect(documents.flatMap((path) => commandLinesOf(textOf(path))).length).toBeGreaterThan(50);
  });
});

it.each(commands.map((command) => [command.name, command] as const))("examples of %s", async (_, { examples }) => {
  expect(new Set(examples).size).toBe(2);
  expect(await objections(examples.map(withoutShell))).toEqual([]);
});

it.each(readdirSync(join(root, "fixtures/models")).filter((name) => name.endsWith(".onnx")))(
  "findings about %s end with a command",
  async (name) => {
    const path = join(root, "fixtures/models", name);
    const lines = findingsOf(loadModel(path), `${name} of mine.onnx`).map(({ command }) => command);
    expect(await objections(lines)).toEqual([]);
  },
);

it("what a report suggests next is a command", async () => {
  const commandLine =
    "infer-opt optimize models/net.onnx -o x.onnx --calibration 'my data.npz' --eval t.npz --metric top1 --max-drop 1%";
  const made = sampleResult();
  const { model: candidateModel } = made;
  const unjudged = { ...made.verdict, reasons: [] };
  const bare = { ...made, output: null, quantization: null, latency: null, candidateModel };
  const other = { ...candidateModel, path: "other net.onnx" };
  const results = [
    made,
    { ...made, verdict: unjudged },
    refusedResult(),
    { ...made, command: "fuse", latency: null, quantization: null },
    { ...bare, command: "verify" },
    { ...bare, command: "bench", bench: { models: [{ model: made.model }, { model: other }] } } as unknown as RunResult,
    { ...bare, command: "profile" },
  ];
  const lines = [
    ...results.map((result) => suggest(result, commandLine)),
    suggest(made, `${commandLine} --report 'my r.json'`),
  ].flatMap((suggested) => suggested?.command ?? []);
  expect(lines.map((line) => line.split(" ")[1])).toEqual([
    "gate",
    "verify",
    "optimize",
    "bench",
    "bench",
    "verify",
    "inspect",
    "explain",
  ]);
  expect(await objections(lines)).toEqual([]);
});

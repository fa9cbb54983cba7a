import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ModelProfileFacts, NodeProfileFacts, ProfileFacts } from "../../src/pipeline/profile/profile-facts.js";
import { renderChromeTrace } from "../../src/report/chrome-trace.js";
import { renderJson } from "../../src/report/json.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { readResult } from "../../src/report/read-result.js";
import { renderText } from "../../src/report/text.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

const node = (name: string, op: string, ms: number, parts: Partial<NodeProfileFacts> = {}): NodeProfileFacts => ({
  ...{
    name,
    op,
    provider: "cpu",
    calls: 1,
    ms,
    flops: 2e6,
    bytes: 1e6,
    intensity: 2,
    bound: "compute",
    peakShare: 0.5,
  },
  ...parts,
});

function modelOf(path: string, nodes: readonly NodeProfileFacts[]): ModelProfileFacts {
  const nodesMs = nodes.reduce((sum, { ms }) => sum + ms, 0);
  return {
    model: { path, sha256: "aa", bytes: 1, nodes: nodes.length },
    stages: { loadMs: 80, firstRunMs: 9, run: { p50Ms: 4.5, p95Ms: 5, p99Ms: null, p999Ms: null } },
    ...{ peakRssBytes: 90_000_000, runs: 20, runMs: nodesMs + 0.1, nodesMs },
    providers: [{ provider: "cpu", nodes: nodes.length, ms: nodesMs }],
    operators: nodes.map(({ op, ms }) => ({ op, provider: "cpu", nodes: 1, ms, flops: 2e6, bytes: 1e6 })),
    nodes,
    bound: { compute: nodesMs, memory: 0, neither: 0, unknown: 0 },
    ...{ flops: 4e9, bytes: 2e6 },
    memory: {
      runtime: { peakBytes: 1000, plannedBytes: 2000, arenaBytes: 3000 },
      activations: { totalBytes: 5000, peakBytes: 900, peakNode: "b", alive: [{ name: "t", node: "a", bytes: 900 }] },
    },
    timeline: nodes.map(({ name, op, ms }, i) => ({ node: name, op, startMs: i, ms })),
  };
}

const machine = { flopsPerSecond: 100e9, intOpsPerSecond: 400e9, bytesPerSecond: 10e9 };
const first = modelOf("m/a.onnx", [
  node("conv\u001b[31m|", "Conv", 3),
  node("relu", "Relu", 1, { intensity: null, peakShare: null, bound: "unknown" }),
]);
const second = modelOf("m/b.onnx", [node("conv", "QLinearConv", 1)]);
const facts = (models: readonly ModelProfileFacts[], parts: Partial<ProfileFacts> = {}): ProfileFacts => ({
  ...{ provider: "cpu", threads: 1, batch: 1, data: "random", machine, models, compared: null },
  ...parts,
});
const compared = [{ value: "y", before: ["conv", "relu"], after: ["conv"], beforeMs: 4, afterMs: 1 }];
const resultOf = (profile: ProfileFacts) =>
  sampleResult({
    command: "profile",
    output: null,
    latency: null,
    accuracy: null,
    quantization: null,
    passes: [],
    difference: [],
    candidates: [],
    profile,
  });
const text = (profile: ProfileFacts, rows?: number) => renderText(resultOf(profile), palette(false), null, rows);

describe("a profile as text", () => {
  it("of one model lists operators, nodes, bounds and memory within 80 columns, names made harmless", () => {
    const shown = text(facts([first]));
    expect(shown).toMatch(/Conv +1 +3\.00 +75 %/);
    expect(shown).toMatch(/relu +Relu +1\.00 +25 % +- +unknown +-/);
    expect(shown).toContain("bound by        arithmetic 100 % of the nodes' time; 4.00 GFLOP and 2.00 MB in\n");
    expect(shown).toContain("at most 900 B alive at once, at b, of 5.00 kB that nodes write");
    expect(shown).toContain("100 GFLOP/s, 400 Gop/s in 8 bits, 10.0 GB/s");
    expect(shown).not.toContain("\u001b");
    expect(Math.max(...shown.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("tells data of a cache from data of memory, and why shares of the peak are over 100 %", () => {
    const nodes = [
      node("mul", "Mul", 2, { bound: "memory", peakShare: 3.14 }),
      node("add", "Add", 1, { bound: "memory", peakShare: 0.9 }),
      node("conv", "Conv", 1, { peakShare: 1.03 }),
    ];
    const bound = { compute: 1, memory: 3, neither: 0, unknown: 0 };
    const shown = text(facts([{ ...modelOf("a.onnx", nodes), bound }])).replace(/\s+/g, " ");
    expect(shown).toContain("mul Mul 2.00 50 % 2.00 cache 314 %");
    expect(shown).toContain("add Add 1.00 25 % 2.00 memory 90 %");
    expect(shown).toContain("a cache 50 %, arithmetic 25 %, memory 25 % of the nodes' time");
    expect(shown).toContain(
      "over peak the data of 1 node (50 % of the time) come from a cache, faster than memory gives them; " +
        "arithmetic of 1 node (25 % of the time) is up to 3 % faster than the large product that the peak was measured with",
    );
    expect(text(facts([first]))).not.toContain("over peak");
  });

  it.each([
    [
      6,
      "nodes take 6.00 ms together and a run without the profiler 4.50 ms, 1.33x as much: to watch a node takes time",
    ],
    [3, "nodes take 3.00 ms together and a run without the profiler 4.50 ms: time passes between nodes too"],
  ])("says where nodes that take %s ms do not add up to a run", (nodesMs, said) => {
    const apart = { ...first, nodesMs };
    expect(text(facts([apart])).replace(/\s+/g, " ")).toContain(`nodes and run ${said}`);
    expect(text(facts([first]))).not.toContain("nodes and run");
  });

  it("says what its memory does not count", () => {
    const activations = { ...first.memory.activations!, unknown: 1, bodies: 7 };
    const shown = text(facts([{ ...first, memory: { ...first.memory, activations } }])).replace(/\s+/g, " ");
    expect(shown).toContain(
      "that nodes write; without 1 tensor of unknown size, and what is written in the bodies of 7 nodes (If, Loop, Scan)",
    );
    expect(text(facts([first]))).not.toContain("without");
  });

  it("of two puts them side by side, and their sums", () => {
    const shown = text(facts([first, second], { compared }));
    expect(shown).toMatch(/all +2 +4\.00 +1 +1\.00 +-3\.00/);
    expect(shown).toMatch(/y +2 -> 1 +4\.00 +1\.00 +-3\.00 +4\.00x/);
    expect(shown).toMatch(/before +arithmetic/);
    expect(shown).toMatch(/after +arithmetic/);
  });

  it("says how many rows were left out", () => {
    expect(text(facts([first]), 1)).toContain("and 1 node more: --top");
    expect(text(facts([first]), 2)).not.toContain("--top");
  });

  it("tells what ran elsewhere", () => {
    const providers = [
      { provider: "cuda", nodes: 1, ms: 3 },
      { provider: "cpu", nodes: 1, ms: 1 },
    ];
    const shown = text(facts([{ ...first, providers, bound: null }], { provider: "cuda", machine: null }));
    expect(shown).toContain("a.onnx: 1 of 2 nodes on cuda, 1 of 2 nodes on cpu");
    expect(shown).not.toContain("bound by");
  });
});

it("stands in the Markdown as a table for each model", () => {
  const shown = renderMarkdown(resultOf(facts([first, second])));
  expect(shown).toContain("`a.onnx`");
  expect(shown).toMatch(/`QLinearConv` \| cpu \| 1 \| 1\.00 \| 100 %/);
});

it("is read back from a file", () => {
  const result = resultOf(facts([first, second], { compared }));
  const folder = temporaryFolder({ "r.json": renderJson(result) });
  expect(readResult(join(folder, "r.json")).profile).toEqual(result.profile);
});

it("becomes a trace with a process for each model, in microseconds", () => {
  const { traceEvents } = JSON.parse(renderChromeTrace(facts([first, second]))) as {
    traceEvents: Record<string, unknown>[];
  };
  const events = traceEvents.filter(({ ph }) => ph === "X");
  expect(events.map(({ pid, name, ts, dur }) => [pid, name, ts, dur])).toEqual([
    [1, "Conv", 0, 3000],
    [1, "Relu", 1000, 1000],
    [2, "QLinearConv", 0, 1000],
  ]);
  expect(traceEvents.filter(({ name }) => name === "process_name").map(({ args }) => args)).toEqual([
    { name: "a.onnx" },
    { name: "b.onnx" },
  ]);
});

it("becomes a trace in which files of one name are told apart", () => {
  const models = ["x/a.onnx", "y/a.onnx"].map((path) => ({ ...first, model: { ...first.model, path } }));
  const { traceEvents } = JSON.parse(renderChromeTrace(facts(models))) as { traceEvents: Record<string, unknown>[] };
  expect(traceEvents.filter(({ name }) => name === "process_name").map(({ args }) => args)).toEqual([
    { name: "x/a.onnx" },
    { name: "y/a.onnx" },
  ]);
});

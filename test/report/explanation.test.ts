import { describe, expect, it } from "vitest";
import type { Explanation } from "../../src/pipeline/explain/explain.js";
import { renderExplanation } from "../../src/report/explanation.js";
import { palette } from "../../src/report/palette.js";
import { sheetOf } from "../../src/report/sheet.js";

const explanation = (parts: Partial<Explanation>): Explanation => ({
  path: "m.onnx",
  source: "model",
  passes: [],
  unfused: [],
  runtimeSpecific: [],
  lossy: [],
  float: [],
  nodes: [],
  notes: [],
  ...parts,
});
const render = (parts: Partial<Explanation>): string => renderExplanation(explanation(parts), palette(false));

const entry = (node: string, reason: string) => ({ node, op: "Mul", pass: "fuse-conv-mul-add", reason });

describe("renderExplanation", () => {
  it("groups by reason, the most frequent first, with examples", () => {
    const many = Array.from({ length: 7 }, (_, i) => entry(`/m${i}`, "other nodes read the Conv too"));
    const text = render({ unfused: [entry("/once", "the weight is no constant"), ...many] });
    expect(text).toContain("not fused  8 nodes");
    expect(text).toContain("     7  other nodes read the Conv too  [fuse-conv-mul-add]");
    expect(text).toContain("/m0, /m1, /m2, /m3 and 3 more");
    expect(text.indexOf("other nodes")).toBeLessThan(text.indexOf("the weight is"));
  });

  it("tells what other flags would do, and where", () => {
    const hint = { pass: "approximate-gelu", nodes: ["/a", "/b"] };
    const text = render({ lossy: [hint], runtimeSpecific: [{ pass: "fuse-bias-gelu", nodes: ["/c"] }] });
    expect(text).toContain("approximated with --lossy\n      2  approximate-gelu\n         /a, /b");
    expect(text).toContain("more with --runtime-specific\n      1  fuse-bias-gelu\n         /c");
  });

  it("tells names and flags that would help", () => {
    const one = {
      ...entry("/m", "other nodes read the Conv too"),
      detail: "Relu /r reads it too",
      help: "--shape fixes sizes",
    };
    expect(render({ unfused: [one] })).toContain("        Relu /r reads it too\n         --shape fixes sizes");
  });

  it("has error and time of each region in one table", () => {
    const region = {
      region: "/a",
      nodes: ["/a", "/add"],
      form: "static",
      sqnrDb: 31.46,
      beforeMs: 2,
      afterMs: 1.5,
      reason: "",
    } as const;
    const float = { ...region, region: "/b", nodes: ["/b"], form: "float", sqnrDb: null } as const;
    const text = render({ regions: [region, float] });
    expect(
      text
        .slice(text.indexOf("regions"))
        .trimEnd()
        .split("\n")
        .map((line) => line.trim().split(/ {2,}/)),
    ).toEqual([
      ["regions"],
      ["nodes: a product and what would be integers with it; float ms and int ms by a"],
      ["profile or the table of kernels; error dB of the region alone as integers,"],
      ["where a search measured it"],
      ["region", "nodes", "form", "error dB", "float ms", "int ms"],
      ["/a", "2", "static", "31.5", "2.000", "1.500"],
      ["/b", "1", "float", "-", "2.000", "1.500"],
    ]);
    expect(render({})).not.toContain("regions");
  });

  it("gives names of regions the room that the other columns leave", () => {
    const names = ["query", "key"].map((part) => `/encoder/layers.0/blocks.0/attention/${part}/projection/MatMul`);
    const regions = names.map((region) => ({
      ...{ region, nodes: [region], form: "dynamicRows", sqnrDb: 31, beforeMs: 2, afterMs: 1, reason: "" },
    })) as NonNullable<Explanation["regions"]>;
    const shown = (columns: number) =>
      renderExplanation(explanation({ regions }), palette(false), sheetOf(columns, false)).split("\n");
    expect(shown(120).filter((line) => names.some((name) => line.includes(name)))).toHaveLength(2);
    const narrow = shown(80);
    expect(narrow.filter((line) => line.includes("/query/") || line.includes("/key/"))).toHaveLength(2);
    expect(Math.max(...narrow.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("has no line wider than what it is written on, and uses all of that", () => {
    const region = {
      region: "/a",
      nodes: ["/a"],
      form: "static",
      sqnrDb: 31,
      beforeMs: 2,
      afterMs: 1,
      reason: "",
    } as const;
    const long = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");
    const all = explanation({
      regions: [region],
      notes: [long],
      passes: Array.from({ length: 30 }, (_, i) => ({ name: `fuse-something-${i}`, applied: 2, skipped: [] })),
      unfused: [{ ...entry("/m", long), detail: long, help: long }],
      float: [entry("/n", long)],
      lossy: [{ pass: "approximate-gelu", nodes: Array.from({ length: 4 }, (_, i) => `/${"n".repeat(30)}${i}`) }],
      nodes: [
        {
          node: "/id",
          op: "Mul",
          remains: true,
          standsFor: [long],
          changedBy: [long],
          asked: [{ pass: "p", answer: long }],
        },
      ],
    });
    for (const columns of [80, 110]) {
      const lines = renderExplanation(all, palette(false), sheetOf(columns, false)).split("\n");
      const widest = Math.max(...lines.map(({ length }) => length));
      expect(widest).toBeLessThanOrEqual(columns);
      expect(widest).toBeGreaterThan(columns - 8);
    }
  });

  it("tells everything about nodes that were asked for", () => {
    const text = render({
      nodes: [
        {
          node: "/conv",
          op: "Conv",
          remains: true,
          standsFor: ["/conv", "/bn"],
          changedBy: ["fuse-conv-batch-norm"],
          asked: [
            { pass: "fuse-pad", answer: "the padding crops" },
            { pass: "fuse-linear-chain", answer: null },
          ],
        },
        { node: "/norm", op: "LpNormalization", remains: true, standsFor: [], changedBy: [], asked: [] },
        { node: "/id", op: "Identity", remains: false, standsFor: [], changedBy: [], asked: [] },
      ],
    });
    expect(text).toContain("stands for: /conv, /bn");
    expect(text).toContain("changed by: fuse-conv-batch-norm");
    expect(text).toContain("fuse-pad: the padding crops");
    expect(text).toContain("not what they look for: fuse-linear-chain");
    expect(text).toContain("/norm  LpNormalization\n   no pass that ran looks at nodes of its kind");
    expect(text).toContain("/id  Identity, gone");
  });

  it("says so when there is nothing to say", () => {
    expect(render({})).toContain("no pass found anything to do, and the result names no node that stays float");
  });
});

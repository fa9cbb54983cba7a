import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { renderJson } from "../../src/report/json.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { placementNotes } from "../../src/report/placement.js";
import { readResult } from "../../src/report/read-result.js";
import { renderText } from "../../src/report/text.js";
import { placementOf } from "../support/fake-runtime.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

const int8 = {
  provider: "cpu",
  ...placementOf(
    [
      ["QLinearConv", "cpu", 9, 8],
      ["Pad", "cpu", 1, 1],
      ["QuantizeLinear", "cpu", 2, 0.6],
      ["DequantizeLinear", "cpu", 2, 0.4],
    ],
    {
      conversions: [
        { op: "QuantizeLinear", nodes: 2, inserted: 0, durationMs: 0.6 },
        { op: "DequantizeLinear", nodes: 2, inserted: 1, durationMs: 0.4 },
      ],
      islands: [{ node: "/pad", op: "Pad", durationMs: 1 }],
    },
  ),
};
const partly = {
  provider: "cuda",
  ...placementOf([
    ["Conv", "cuda", 1000, 999.5],
    ["Gather", "cpu", 2, 0.5],
  ]),
};

describe("where a model ran", () => {
  it("is told of an accelerator, with what ran elsewhere", () => {
    expect(placementNotes(partly)).toEqual([
      { title: "placement", text: "1,000 of 1,002 nodes on cuda, 2 on cpu (under 0.1 % of the time)" },
    ]);
    const cpu = { provider: "cuda", ...placementOf([["Conv", "cpu", 3, 1]]) };
    expect(placementNotes(cpu)[0]!.text).toBe("0 of 3 nodes on cuda, 3 on cpu (100 % of the time)");
  });

  it("is no news on cpu", () => {
    expect(placementNotes({ provider: "cpu", ...placementOf([["Conv", "cpu", 3, 1]]) })).toEqual([]);
  });

  it("comes with the share of conversions and of float nodes between integers", () => {
    const text = renderText(sampleResult({ placement: int8 }), palette(false));
    expect(text).toContain(
      [
        " conversions     10 % of the time: QuantizeLinear 6.0 %, DequantizeLinear 4.0 %",
        "                 (4 nodes, 1 inserted by the runtime)",
        " float islands   10 % of the time in 1 node between integers: /pad",
      ].join("\n"),
    );
  });

  it("takes shares of conversions from the table of times, where the report has one", () => {
    const share = (op: string, nodes: number, ms: number) => ({ op, nodes, ms });
    const after = [share("Conv", 3, 6), share("DequantizeLinear", 2, 3), share("QuantizeLinear", 2, 1)];
    const text = renderText(sampleResult({ placement: int8, operatorTimes: { before: [], after } }), palette(false));
    expect(text).toContain("40 % of the time: DequantizeLinear 30 %, QuantizeLinear 10 %");
  });

  it("is a table in Markdown", () => {
    const text = renderMarkdown(sampleResult({ placement: partly }));
    expect(text).toContain("| `Gather` | cpu | 2 | under 0.1 % |");
    expect(text).toContain("- placement: 1,000 of 1,002 nodes on cuda");
  });

  it("survives being stored, and is refused when damaged", () => {
    const result = sampleResult({ placement: int8 });
    const damaged = { ...result, placement: { ...int8, operators: [{ op: "Conv" }] } };
    const folder = temporaryFolder({ "r.json": renderJson(result), "bad.json": renderJson(damaged) });
    expect(readResult(join(folder, "r.json"))).toEqual(result);
    expect(() => readResult(join(folder, "bad.json"))).toThrow(/placement/);
  });
});

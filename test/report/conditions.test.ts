import { describe, expect, it } from "vitest";
import type { ConditionsFacts } from "../../src/pipeline/result.js";
import { conditionsText } from "../../src/report/conditions.js";
import { renderMarkdown } from "../../src/report/markdown.js";
import { palette } from "../../src/report/palette.js";
import { renderText } from "../../src/report/text.js";
import { sampleResult } from "./sample-result.js";

const conditions: ConditionsFacts = {
  ...{ governor: "performance", boost: true, smt: false, quotaCores: 1.5, memoryBytes: 8e9, optimization: "all" },
  ...{ load: [0.5, 1.25], temperatureC: [41, 63] },
  affinity: { wanted: [0, 1], means: "process", seen: [[0, 1]] },
};

describe("conditions in words", () => {
  it("are what the system told", () => {
    expect(conditionsText(conditions)).toBe(
      "kept on processors 0,1 (seen), governor performance, boost on, SMT off, a quota of 1.50 cores, memory 8.00 GB, " +
        "load 0.500 before and 1.25 after, 41.0 °C before and 63.0 after",
    );
  });

  it("leave out what it kept to itself", () => {
    const { affinity, ...rest } = conditions;
    const hidden = { ...rest, governor: null, boost: null, smt: null, quotaCores: null };
    expect(conditionsText({ ...hidden, load: [null, null], temperatureC: [null, null] })).toBe("memory 8.00 GB");
    expect(conditionsText({ ...conditions, affinity: { wanted: [3], means: "threads", seen: [[3], [0]] } })).toContain(
      "the runtime's own threads kept on processors 3,",
    );
    expect(conditionsText({ ...conditions, affinity: { wanted: [3], means: "process", seen: [] } })).toContain(
      "on processors 3, gov",
    );
  });

  it("stand in the text and in the Markdown", () => {
    const result = sampleResult({ conditions });
    expect(renderText(result, palette(false)).replaceAll(/\n /g, " ")).toContain("kept on processors 0,1 (seen)");
    expect(renderMarkdown(result)).toContain("governor performance, boost on");
  });
});

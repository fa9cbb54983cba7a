import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { parseShape, parseShard, parseSparsity, parseWidths } from "../../../src/cli/values/choices.js";
import { parseConfidence, parseDrop, parseRequiredShare, parseSlo } from "../../../src/cli/values/limits.js";
import type { Parse, Source } from "../../../src/cli/values/parse.js";
import {
  parseChoice,
  parseFactor,
  parseInteger,
  parseIntegers,
  parseNames,
  parseSpeedup,
} from "../../../src/cli/values/plain.js";
import { parseDuration, parseSize } from "../../../src/cli/values/units.js";

const source: Source = { name: "--flag", kind: "usage", folder: "." };

const table: readonly [string, Parse<unknown>, readonly [string, unknown][], readonly string[]][] = [
  [
    "a drop",
    parseDrop,
    [
      ["0.5%", { percent: 0.5 }],
      ["1 %", { percent: 1 }],
      ["0.01", { absolute: 0.01 }],
      ["0", { absolute: 0 }],
      ["3e-7", { absolute: 3e-7 }],
      ["2.5E-3 %", { percent: 2.5e-3 }],
      ["1e+2", { absolute: 100 }],
      ["none", "none"],
    ],
    ["", "%", "-1%", "e-3", "1e", "1e-", "1e999", "1e0.5", "1e-3e", "0x1", " 1", "1%%", "None", "NaN"],
  ],
  [
    "whole numbers",
    parseIntegers(1, 64),
    [
      ["4", [4]],
      ["1,2,4", [1, 2, 4]],
      ["8, 2,8", [8, 2]],
    ],
    ["", "0", "1,", ",1", "1;2", "65", "1,x", "1.5"],
  ],
  [
    "a required share",
    parseRequiredShare,
    [
      ["cuda>=95%", { provider: "cuda", share: 0.95 }],
      ["CPU >= 0.5%", { provider: "cpu", share: 0.005 }],
      ["dml>=100%", { provider: "dml", share: 1 }],
    ],
    ["", "cuda", "cuda>95%", "cuda>=95", "cuda>=101%", ">=5%", "cuda>=-1%", "cuda=95%"],
  ],
  [
    "a size",
    parseSize,
    [
      ["10MB", 10_000_000],
      ["3.5 mb", 3_500_000],
      ["512KiB", 524_288],
      ["7B", 7],
      ["0B", 0],
    ],
    ["10", "MB", "10TBs", "-1MB", "1.2.3MB"],
  ],
  [
    "a duration",
    parseDuration,
    [
      ["5m", 300_000],
      ["90s", 90_000],
      ["500ms", 500],
      ["1h", 3_600_000],
    ],
    ["5", "0s", "m", "-5m", "5 minutes"],
  ],
  [
    "a latency limit",
    parseSlo,
    [
      ["p95=20ms", { percentile: "p95", ms: 20 }],
      ["p99.9=0.5s", { percentile: "p999", ms: 500 }],
    ],
    ["p95", "p95=20", "p80=1ms", "p95=0ms", "p95=1ms=2", "20ms"],
  ],
  [
    "a confidence",
    parseConfidence,
    [
      ["95%", 0.95],
      ["0.99", 0.99],
    ],
    ["100%", "1", "95", "0.4", "x"],
  ],
  [
    "a shape",
    parseShape,
    [
      ["x=1,3,8,8", { input: "x", dims: [1, 3, 8, 8] }],
      ["a=b:0=2", { input: "a=b:0", dims: [2] }],
      ["scalar=", { input: "scalar", dims: [] }],
      ["x=N,3,H,W_2", { input: "x", dims: ["N", 3, "H", "W_2"] }],
    ],
    ["x", "=1,2", "x=1,,2", "x=0,1", "x=1,H-1", "x=?", "x=-1", "x=1.5", "x=99999999999999999999"],
  ],
  [
    "a part",
    parseShard,
    [
      ["1/1", { index: 1, count: 1 }],
      ["3/8", { index: 3, count: 8 }],
    ],
    ["0/8", "9/8", "3", "3/0", "a/b", "1/2/3"],
  ],
  [
    "a factor",
    parseFactor,
    [
      ["1.2", 1.2],
      ["2x", 2],
    ],
    ["0", "-1", "x", "fast"],
  ],
  [
    "a speedup",
    parseSpeedup,
    [
      ["1.5", 1.5],
      ["2x", 2],
      ["10", 10],
      ["1.05x", 1.05],
      ["02.50", 2.5],
    ],
    ["0", "1", "1.0", "0.5", "1.00x", "2.", "-2", "x", "50%"],
  ],
  [
    "zeros in weights",
    parseSparsity,
    [
      ["50%", { kind: "share", share: 0.5 }],
      ["12.5 %", { kind: "share", share: 0.125 }],
      ["2:4", { kind: "pattern", kept: 2, of: 4 }],
      ["1:2", { kind: "pattern", kept: 1, of: 2 }],
    ],
    ["50", "0.5", "0%", "100%", "4:4", "5:4", "0:4", "2:64", "2/4", "half", ""],
  ],
  [
    "widths",
    parseWidths,
    [
      ["48,32,0,48", [48, 32, 0, 48]],
      ["7", [7]],
    ],
    ["48,", ",48", "a", "1.5", "-1", ""],
  ],
  [
    "a whole number",
    parseInteger(1, 64),
    [
      ["1", 1],
      ["64", 64],
    ],
    ["0", "65", "1.5", "-1", "two", ""],
  ],
  ["names", parseNames, [["a, b,c", ["a", "b", "c"]]], ["", "a,,b", "a,"]],
  ["a choice", parseChoice(["static", "dynamic"]), [["static", "static"]], ["Static", "", "statc"]],
];

describe.each(table)("%s", (_, parse, good, bad) => {
  it.each(good)("reads %s", (text, value) => expect(parse(text, source)).toEqual(value));

  it.each(bad)('refuses "%s", naming the flag and the value', (text) => {
    expect(() => parse(text, source)).toThrow(InferOptError);
    try {
      parse(text, source);
    } catch (fault) {
      expect(fault).toMatchObject({ code: "FLAG_INVALID", kind: "usage", fields: { flag: "--flag", value: text } });
      expect((fault as Error).message).toContain(`--flag: "${text}"`);
    }
  });
});

it("calls a bad value of a config file bad input", () => {
  const config: Source = { name: "maxDrop in c.json", kind: "input", folder: "." };
  expect(() => parseDrop("much", config)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", kind: "input" }));
});

it("suggests the nearest choice, where it is near", () => {
  expect(() => parseChoice(["static", "dynamic"])("statc", source)).toThrow(
    expect.objectContaining({ hint: "Did you mean static?" }),
  );
  expect(() => parseChoice(["static", "dynamic"])("banana", source)).toThrow(
    expect.objectContaining({ hint: "Give one of them." }),
  );
});

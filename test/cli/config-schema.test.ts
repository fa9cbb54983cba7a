import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { configKeys, configOf } from "../../src/cli/config-file.js";
import { configSchema } from "../../src/cli/config-schema.js";
import { type FlagName, flags } from "../../src/cli/flags.js";
import { resolveSettings } from "../../src/cli/settings.js";

type Validate = (config: unknown) => boolean;
const Ajv = createRequire(import.meta.url)("ajv/dist/2020.js") as new (
  options: object,
) => { compile(schema: object): Validate };
const admits = new Ajv({ strict: true, strictTypes: false }).compile(configSchema());

/** null: taken; else why not. */
function refusalOf(config: unknown): string | null {
  try {
    resolveSettings({}, ".", configOf("c.json", config));
    return null;
  } catch (thrown) {
    if (!(thrown instanceof InferOptError)) throw thrown;
    return `${thrown.code}: ${thrown.message}`;
  }
}

/** Texts of every kind that a flag takes, and some that none does. */
const texts = [
  ...[
    "none",
    "0.5%",
    "0.5 %",
    "0.01",
    "3e-7",
    "1e999",
    ".5",
    "1.",
    "1.2x",
    "0x",
    "00.50",
    "",
    " ",
    "1,2,4",
    "1, 2",
    "0,1",
    "9999999",
    "1,,2",
  ],
  ...[
    "10MB",
    "512KiB",
    "3B",
    "1.5 gb",
    "10",
    "10ib",
    "5m",
    "90s",
    "0s",
    "500ms",
    "1us",
    "2min",
    "1h",
    "1d",
    "0.0h",
    "5 m",
  ],
  ...[
    "p95=20ms",
    "p99.9=1s",
    "p999=3ms",
    "p90=1ms",
    "constructor=1ms",
    "preprocess=10ms,inference=30ms",
    "a=1ms,=2ms",
    "p95",
    "p95=",
    "p95=0ms",
    "p95=1ms=",
    "p95 = 1ms",
    "p99x9=1ms",
  ],
  ...["95%", "0.95", "49%", "50%", "100%", "99.99%", "1.0", "0.5", "0.49", ".7", "cuda>=95%", "cpu>=100%", "cpu>=101%"],
  ...["cpu >= 007.5%", "x=1,3,H,W", "x=", "=1", "x=0", "a=b=1", "x=1,-2", "x=99999999999999999999", "x:0=N"],
  ...[
    "2/8",
    "9/8",
    "a,b",
    "a,,b",
    ",",
    "a b",
    "./metric.mjs",
    "metric.mjs",
    "top1",
    "top9",
    "r.md",
    "r.XML",
    "r.html",
    ".json",
  ],
  ...[
    "ort-cpu",
    "ort-cpu@1.17",
    "tensorrt@9",
    "auto",
    "static",
    "8",
    "4",
    "poisson",
    "fast",
    "speed",
    "warn",
    "all",
    "bias,means",
  ],
];
const numbers = [0, 1, 2, 8, 0.01, 0.95, 1e-7, 1e21, -1, 0.5, 1024, 1025, 4_294_967_296, 64.5];
const others = [true, false, null, {}, [], [["a"]], ["p95=20ms", "p99=50ms"], [null], ["./r.md", "./r.xml"]];

describe("the schema of config files", () => {
  it("is the one that the package has", async () => {
    const text = `${JSON.stringify(configSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../schema/infer-opt.schema.json");
  });

  it("says something of every key, and knows no other", () => {
    const { properties } = configSchema() as { properties: Record<string, { description: string }> };
    expect(Object.keys(properties).sort()).toEqual([...configKeys.map(([key]) => key), "$schema"].sort());
    expect(Object.values(properties).filter(({ description }) => description === "")).toEqual([]);
    expect(admits({ maxDrp: "1%" })).toBe(false);
    expect(admits({ $schema: "./node_modules/infer-opt/schema/infer-opt.schema.json" })).toBe(true);
    expect(admits([])).toBe(false);
  });

  /** Of the others it only says that they are texts. */
  const described = configKeys.filter(([, { kind, parse }]) => kind === "switch" || parse.form);

  it("admits nothing that is refused, whatever the key", () => {
    expect(described.length).toBeGreaterThan(60);
    const wrong = described.flatMap(([key]) =>
      [...texts, ...numbers, ...others].flatMap((value) => {
        if (!admits({ [key]: value })) return [];
        const refusal = refusalOf({ [key]: value });
        return refusal === null ? [] : [`${key} ${JSON.stringify(value)}: ${refusal}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("admits nothing that is refused among texts that are nearly right", () => {
    const keys = described.map(([key]) => key);
    const nearly = fc
      .tuple(
        fc.constantFrom(...texts),
        fc.nat(12),
        fc.constantFrom("", "0", "9", "%", "=", ",", " ", ".", "m", "B", "x", "\n"),
      )
      .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + 1));
    fc.assert(
      fc.property(fc.constantFrom(...keys), nearly, (key, value) => {
        fc.pre(admits({ [key]: value }));
        expect([value, refusalOf({ [key]: value })]).toEqual([value, null]);
      }),
      { numRuns: 600, seed: 5 },
    );
  });

  /** Numbers may be written as texts and texts as numbers, which no editor should propose. */
  it("admits what is taken, but for a number as a text or a text as a number", () => {
    const isOther = (key: string, value: unknown): boolean => {
      const { kind, parse } = flags[key as FlagName];
      if (kind === "switch" || Array.isArray(value)) return false;
      return typeof value === "number" || (typeof value === "string" && /^[\d.%, ]+$/.test(value) && "form" in parse);
    };
    const unknown = configKeys.flatMap(([key]) =>
      [...texts, ...others].flatMap((value) =>
        isOther(key, value) || admits({ [key]: value }) || refusalOf({ [key]: value }) !== null
          ? []
          : [`${key} ${JSON.stringify(value)}`],
      ),
    );
    expect(unknown).toEqual([]);
  });

  it("admits what the documents show", () => {
    const shown = {
      $schema: "node_modules/infer-opt/schema/infer-opt.schema.json",
      eval: "data/eval.npz",
      metric: "top1",
      maxDrop: "0.5%",
      minSpeedup: 0.95,
      slo: ["p95=20ms", "p99=50ms"],
      maxSize: "10MB",
      threads: 2,
      budget: "3m",
      confidence: "95%",
    };
    expect(admits(shown)).toBe(true);
    expect(refusalOf(shown)).toBeNull();
  });
});

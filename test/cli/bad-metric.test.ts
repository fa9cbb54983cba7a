/** Metrics, ranges, selectors, configuration and limits that cannot be used, given to the command itself. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLASSIFIER, classifier, images, modelBytes } from "../support/odd-files.js";
import { type Fault, scene } from "../support/scene.js";

const files = () => ({ "model.onnx": classifier(), "d.npz": images(6), "plain.npz": images(6, { labels: false }) });
const verify = (metric: string, data = "d.npz"): string[] => [
  ...["verify", "model.onnx", "model.onnx", "--eval", data, "--metric", metric],
];

describe("a metric is refused:", () => {
  const module = (body: string) => `export const name = "m";\nexport const higherIsBetter = true;\n${body}\n`;
  const modules: Record<string, [source: string, Fault]> = {
    "a module that throws": [
      module('export function score() { throw new Error("no luck"); }'),
      [3, "METRIC_SCORE_FAILED", "m.mjs", "no luck"],
    ],
    "a module that throws no error": [
      module("export function score() { throw null; }"),
      [3, "METRIC_SCORE_FAILED", "m.mjs"],
    ],
    "a module that rejects": [
      module('export async function score() { return Promise.reject(new Error("later")); }'),
      [3, "METRIC_SCORE_FAILED", "m.mjs", "later"],
    ],
    "a module that gives NaN": [module("export const score = () => NaN;"), [3, "METRIC_SCORE_INVALID", "m.mjs", "NaN"]],
    "a module that gives text": [
      module('export const score = () => "1";'),
      [3, "METRIC_SCORE_INVALID", "m.mjs", '"1"'],
    ],
    "a module that gives nothing": [
      module("export const score = () => {};"),
      [3, "METRIC_SCORE_INVALID", "m.mjs", "nothing"],
    ],
    "a module that gives an object without a text": [
      module("export const score = () => Object.create(null);"),
      [3, "METRIC_SCORE_INVALID", "m.mjs"],
    ],
    "a module without score": [module(""), [3, "METRIC_MODULE_EXPORTS", "m.mjs", '"score"']],
    "a module with a score that is no function": [
      module("export const score = 3;"),
      [3, "METRIC_MODULE_EXPORTS", "m.mjs", '"score"', "3"],
    ],
    "a module without a direction": [
      'export const name = "m"; export const score = () => 1;',
      [3, "METRIC_MODULE_EXPORTS", "m.mjs", '"higherIsBetter"'],
    ],
    "a module that does not parse": ["export const = 1;", [3, "METRIC_MODULE_FAILED", "m.mjs"]],
    "a module that fails while it loads": [
      'throw new Error("broken");',
      [3, "METRIC_MODULE_FAILED", "m.mjs", "broken"],
    ],
    "a module that needs another that is not there": [
      'import "./gone.mjs";',
      [3, "METRIC_MODULE_FAILED", "m.mjs", "gone.mjs"],
    ],
    "a module that ends its process": [
      module("export const score = () => process.exit(7);"),
      [3, "METRIC_SCORE_FAILED", "exit code 7"],
    ],
    "a module that throws behind our back": [
      module(
        'export const score = async () => { setTimeout(() => { throw new Error("x"); }, 0); await new Promise((r) => setTimeout(r, 50)); return 1; };',
      ),
      [3, "METRIC_SCORE_FAILED", "exit code 1"],
    ],
  };
  for (const [name, [source, fault]] of Object.entries(modules)) {
    it(name, async () => {
      await scene({ ...files(), "m.mjs": source }).refuses(verify("./m.mjs"), fault);
    });
  }

  it("a module that is not there", async () => {
    await scene(files()).refuses(verify("./none.mjs"), [3, "METRIC_MODULE_MISSING", "none.mjs"]);
  });

  it("a word that is no metric", async () => {
    await scene(files()).refuses(verify("top2"), [2, "METRIC_UNKNOWN", "top2"]);
  });

  it("top1 without labels", async () => {
    await scene(files()).refuses(verify("top1", "plain.npz"), [3, "METRIC_LABELS_MISSING", "top1", "plain.npz"]);
  });

  it("top1 without labels, where a candidate is judged by it", async () => {
    const quantize = ["quantize", "model.onnx", "-o", "out.onnx", "--metric", "top1", "--calibration", "plain.npz"];
    await scene(files()).refuses(quantize, [3, "METRIC_LABELS_MISSING", "top1"]);
  });

  it("a metric module of optimize, with nothing written", async () => {
    // For size: with speed as the goal, a busy machine may find that nothing pays, and scores nothing.
    const argv = [
      ...["optimize", "model.onnx", "-o", "out.onnx", "--eval", "d.npz", "--metric", "./m.mjs"],
      ...["--goal", "size"],
    ];
    await scene({ ...files(), "m.mjs": module("export const score = () => NaN;") }).refuses(argv, [
      ...([3, "METRIC_SCORE_INVALID", "m.mjs"] as const),
    ]);
  });
});

describe("ranges are refused:", () => {
  const quantize = (ranges: string, model = "model.onnx"): string[] => [
    ...["quantize", model, "-o", "out.onnx", "--ranges", ranges, "--mode", "static", "--eval", "d.npz"],
  ];

  it("missing, no JSON, of another kind", async () => {
    await scene(files()).refuses(quantize("r.json"), [3, "RANGES_UNREADABLE", "r.json"]);
    await scene({ ...files(), "r.json": "{" }).refuses(quantize("r.json"), [3, "RANGES_INVALID", "r.json"]);
    await scene({ ...files(), "r.json": "null" }).refuses(quantize("r.json"), [3, "RANGES_INVALID", "r.json"]);
    await scene({ ...files(), "r.json": '{"a": 1}' }).refuses(quantize("r.json"), [3, "RANGES_INVALID", "r.json"]);
  });

  it("of another model, damaged, or of parts that do not fit", async () => {
    const stage = scene({ ...files(), "other.onnx": modelBytes(CLASSIFIER.replace("Relu", "Sigmoid")) });
    const made = await stage.run(["calibrate", "model.onnx", "--calibration", "plain.npz", "-o", "r.json"]);
    expect(made.code, made.stderr).toBe(0);
    await stage.refuses(quantize("r.json", "other.onnx"), [3, "RANGES_FOREIGN", "r.json"]);

    const path = join(stage.folder, "r.json");
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(whole), taps: [] }));
    await stage.refuses(quantize("r.json"), [3, "RANGES_MISSING", "r.json"]);
    writeFileSync(path, whole.slice(0, whole.length / 2));
    await stage.refuses(quantize("r.json"), [3, "RANGES_INVALID", "r.json"]);

    for (const damage of [
      (taps: Record<string, unknown>[]) => taps.splice(0, 1, { name: "c" }),
      (taps: Record<string, unknown>[]) => taps.splice(0, 1, null as never),
      (taps: Record<string, unknown>[]) => {
        for (const key of Object.keys(taps[0]!)) if (key !== "name") taps[0]![key] = "damaged";
      },
    ]) {
      const file = JSON.parse(whole);
      damage(file.taps);
      writeFileSync(path, JSON.stringify(file));
      await stage.refuses(quantize("r.json"), [3, "TAP_DAMAGED", "r.json"]);
    }

    writeFileSync(path, whole);
    await stage.refuses(["calibrate", "--merge", "r.json", "r.json", "-o", "all.json"], [3, "RANGES_PARTS", "1/1"]);
  });
});

describe("a flag is refused:", () => {
  const quantize = ["quantize", "model.onnx", "-o", "out.onnx", "--calibration", "d.npz"];
  const cases: Record<string, [readonly string[], Fault]> = {
    "--exclude of nothing": [
      [...quantize, "--exclude", "op:Softmx"],
      [3, "SELECTOR_EMPTY", "op:Softmx"],
    ],
    "--include of nothing": [
      [...quantize, "--include", "/no/such/*"],
      [3, "SELECTOR_EMPTY", "/no/such/*"],
    ],
    "a region that leads nowhere": [
      [...quantize, "--exclude", "from:y..to:c"],
      [3, "SELECTOR_EMPTY", "from:y..to:c"],
    ],
    "--skip of a pass that there is not": [
      [...quantize, "--skip", "fuse-all"],
      [2, "PASS_UNKNOWN", "fuse-all"],
    ],
    "--mode static without samples": [
      ["quantize", "model.onnx", "-o", "out.onnx", "--mode", "static"],
      [2, "CALIBRATION_NEEDED"],
    ],
    "a provider that is not there": [
      [...quantize, "--provider", "cuda"],
      [4, "PROVIDER_MISSING", "cuda"],
    ],
    "a shape for an input that there is not": [
      [...quantize, "--shape", "z=1,2"],
      [2, "FLAG_INVALID", '"z"'],
    ],
    "a shape of other rank": [
      ["bench", "model.onnx", "--shape", "x=1,2"],
      [3, "DATASET_SHAPE", '"x"', "[1,2]"],
    ],
    "a shape beyond memory": [
      ["bench", "model.onnx", "--shape", "x=100000000,1,8,8"],
      [3, "DATASET_SHAPE", '"x"'],
    ],
    "a result that is none": [
      ["report", "d.npz"],
      [3, "RESULT_INVALID", "d.npz"],
    ],
    "a limit that is no number": [
      [...quantize, "--max-drop", "little"],
      [2, "FLAG_INVALID", "little"],
    ],
    "a config file that is not there": [
      [...quantize, "--config", "c.json"],
      [3, "CONFIG_UNREADABLE", "c.json"],
    ],
  };
  for (const [name, [argv, fault]] of Object.entries(cases)) {
    it(name, async () => {
      await scene(files()).refuses(argv, fault);
    });
  }
});

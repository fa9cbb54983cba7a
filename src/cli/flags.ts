/**
 * Every flag of every command, as data. The command line, the help, the keys of a config
 * file and the type of the settings are all read off this table.
 */
import { availableParallelism } from "node:os";
import { rangeMethods } from "../observe/ranges.js";
import { NEWEST_OPSET, OLDEST_OPSET } from "../passes/opset/range.js";
import { corrections } from "../pipeline/correct/corrections.js";
import { targetNames } from "../target/find-target.js";
import { commandLineOnly, type Flag, list, onOff, optional, value } from "./flag.js";
import { parseProcessors, parseShape, parseShard, parseSparsity, parseWidths } from "./values/choices.js";
import {
  parseBenchBudget,
  parseConfidence,
  parseDrop,
  parsePercentile,
  parseRequiredShare,
  parseSlo,
} from "./values/limits.js";
import { parseMetricName, parsePath, parseReport, parseTarget } from "./values/named.js";
import {
  parseChoice,
  parseFactor,
  parseInteger,
  parseIntegers,
  parseNames,
  parsePositive,
  parseShare,
  parseSome,
  parseSpeedup,
  parseText,
} from "./values/plain.js";
import { parseDuration, parseSize } from "./values/units.js";

const u32 = 2 ** 32 - 1;

export const flags = {
  // What is changed, and how.
  skip: list(["--skip <passes>", "Change", "passes to leave out, separated by commas (see `passes`)"], parseNames),
  only: list(["--only <passes>", "Change", "the only passes to run"], parseNames),
  opset: optional(
    ["--opset <n>", "Change", `convert to this opset of ai.onnx, ${OLDEST_OPSET} to ${NEWEST_OPSET}, and stay there`],
    parseInteger(OLDEST_OPSET, NEWEST_OPSET),
  ),
  target: optional(
    ["--target <target>", "Change", `where it is to run: ${targetNames.join(", ")}; a release as in ort-cpu@1.17`],
    parseTarget,
  ),
  keepOpset: onOff(["--keep-opset", "Change", "leave the opset as it is"]),
  foldBudget: value(
    ["--fold-budget <size>", "Change", "how much folding constants may let the file grow [1MiB]"],
    parseSize,
    2 ** 20,
  ),
  verify: value(
    ["--verify <level>", "Change", "compare with the original: none, fast, or full: after each pass [fast]"],
    parseChoice(["none", "fast", "full"]),
    "fast",
  ),
  bisect: onOff(["--bisect", "Change", "leave out only the one rewrite that is wrong, not its whole pass"]),
  runtimeSpecific: onOff(["--runtime-specific", "Change", "also use operators that only ONNX Runtime has"]),
  lossy: onOff(["--lossy", "Change", "also approximate: results change a little, and the report says how much"]),
  mode: value(
    ["--mode <mode>", "Change", "auto, static, dynamic or weights [auto]"],
    parseChoice(["auto", "static", "dynamic", "weights"]),
    "auto",
  ),
  bits: value(["--bits <n>", "Change", "8 or 4 [8]"], parseChoice(["8", "4"]), "8"),
  format: value(
    ["--format <form>", "Change", "qdq: pairs; qoperator: QLinearConv and its like, where ai.onnx has them [qdq]"],
    parseChoice(["qdq", "qoperator"]),
    "qdq",
  ),
  method: optional(
    ["--method <method>", "Change", `ranges by ${rangeMethods.join(", ")} [the one with the least error]`],
    parseChoice(rangeMethods),
  ),
  corrections: value(
    ["--corrections <list>", "Change", `of integers' errors, free at run time: ${corrections.join(",")} or none [all]`],
    parseSome(corrections),
    corrections,
  ),
  ranges: optional(
    ["--ranges <file>", "Data", "ranges that `calibrate` wrote, in place of calibration data"],
    parsePath,
  ),
  include: list(
    ["--include <nodes>", "Change", "only these: a name, a glob, op:Type or from:A..to:B; repeatable"],
    parseText,
  ),
  exclude: list(["--exclude <nodes>", "Change", "not these; repeatable"], parseText),
  bf16: onOff(["--bf16", "Change", "bfloat16 instead of float16"]),
  convertIo: onOff(["--convert-io", "Change", "change the types of inputs and outputs too"]),
  goal: value(
    ["--goal <goal>", "Limits", "what counts as gain: speed or size [speed]"],
    parseChoice(["speed", "size"]),
    "speed",
  ),

  prune: onOff(["--prune", "Change", "try narrower nets too: minutes, and samples to fit them to"]),
  recover: onOff(["--recover", "Change", "what is left learns from the original by gradients, which takes minutes"]),
  keepRatio: optional(
    ["--keep-ratio <share>", "Change", "0.5: this share of every group stays, in place of a search"],
    parseShare,
  ),

  widths: optional(
    [
      "--widths <list>",
      "Change",
      "48,32,...: units that stay of each group that can be narrowed, as a result tells them",
    ],
    parseWidths,
  ),
  sparsity: optional(
    ["--sparsity <zeros>", "Change", "50%, or 2:4: zeros in the weights, which compress; no CPU is faster for them"],
    parseSparsity,
  ),

  // Limits.
  targetSpeedup: optional(
    ["--target-speedup <factor>", "Limits", "1.5: the most accurate net that is so much faster"],
    parseSpeedup,
  ),
  metric: optional(
    ["--metric <metric>", "Limits", "top1, top5, agreement, cosine, sqnr, mse or a module ./metric.mjs"],
    parseMetricName,
  ),
  baseline: optional(
    ["--baseline <model>", "Data", "judge against this model, which the given one was made of: pruned before, say"],
    parsePath,
  ),
  maxDrop: optional(
    [
      "--max-drop <limit>",
      "Limits",
      "0.5% (points of a rate), 0.01 (the metric's unit) or none [1%; sqnr and mse have none]",
    ],
    parseDrop,
  ),
  minSpeedup: optional(["--min-speedup <factor>", "Limits", "1.2: a fifth faster, on the interval"], parseFactor),
  slo: list(["--slo <limit>", "Limits", "p95=20ms; repeatable"], parseSlo),
  maxSize: optional(["--max-size <size>", "Limits", "10MB, external data included"], parseSize),
  inconclusive: value(
    ["--inconclusive <as>", "Limits", "what undecided limits count as: fail (exit 13) or warn (exit 0) [fail]"],
    parseChoice(["fail", "warn"]),
    "fail",
  ),
  confidence: optional(
    ["--confidence <share>", "Limits", "95%: judge accuracy on its interval, not on the value"],
    parseConfidence,
  ),

  // Data.
  calibration: optional(
    ["--calibration <data>", "Data", "samples without labels, for ranges and comparison: .npz, .jsonl or a folder"],
    parsePath,
  ),
  eval: optional(["--eval <data>", "Data", "samples to judge by, with labels if the metric wants them"], parsePath),
  shape: list(
    [
      "--shape <input=sizes>",
      "Data",
      "input=1,3,H,W: sizes of an input; a changed model gets them for good; repeatable",
    ],
    parseShape,
  ),
  batch: value(
    ["--batch <n>", "Data", "size of a free first dimension; several for `bench`: 1,2,4,8 [1]"],
    parseIntegers(1, 2 ** 20),
    [1],
  ),
  shard: commandLineOnly(
    optional(["--shard <i/n>", "Data", "only the i-th of n parts of the samples, from 1"], parseShard),
  ),
  merge: commandLineOnly({
    ...list(["--merge <files...>", "Data", "join the parts that --shard wrote"], parsePath),
    kind: "many",
  }),

  // How it runs.
  provider: value(["--provider <name>", "Run", "execution provider: cpu, cuda, ... [cpu]"], parseText, "cpu"),
  allowFallback: onOff(["--allow-fallback", "Run", "use the cpu where the provider is missing"]),
  threads: value(
    ["--threads <n>", "Run", "threads inside an operator; several for `bench`: 1,2,4 [all cores]"],
    parseIntegers(1, 1024),
    [availableParallelism()],
  ),
  affinity: optional(
    ["--affinity <list>", "Run", "keep what is timed on these processors: 0,1 or 0-3"],
    parseProcessors,
  ),
  budget: optional(["--budget <time>", "Run", "time for searching and timing: 5m, 90s"], parseDuration),
  latencyBudget: list(
    [
      "--budget <limits>",
      "Run",
      "a time to measure for (1m); or what stages of --pipeline may take: preprocess=10ms,inference=30ms; repeatable",
    ],
    parseBenchBudget,
  ),
  budgetPercentile: value(
    ["--budget-percentile <p>", "Limits", "of each stage, that --budget is about: p50, p90, p95, p99 or p99.9 [p95]"],
    parsePercentile,
    "p95",
  ),
  pipeline: optional(
    ["--pipeline <module>", "Data", "time whole requests: your own steps around one model (docs/bench.md)"],
    parsePath,
  ),
  maxMemory: value(
    ["--max-memory <size>", "Run", "activations that calibration and --layers hold at once, per process [256MiB]"],
    parseSize,
    2 ** 28,
  ),
  rate: optional(["--rate <n>", "Run", "requests a second that arrive, served or not: 40, 0.5"], parsePositive("40")),
  arrivals: value(
    ["--arrivals <kind>", "Run", "poisson: as of many users; or constant [poisson]"],
    parseChoice(["poisson", "constant"]),
    "poisson",
  ),
  trace: optional(["--trace <file>", "Run", "arrivals as recorded, a moment in seconds each line"], parsePath),
  concurrency: value(
    ["--concurrency <n>", "Run", "processes that share the requests, each with the model loaded [1]"],
    parseInteger(1, 64),
    1,
  ),
  costPerHour: optional(
    ["--cost-per-hour <n>", "Run", "of this machine: tells what a million inferences cost"],
    parsePositive("0.4"),
  ),
  findMaxRate: onOff(["--find-max-rate", "Run", "search for the highest rate at which --slo is met"]),
  requireEp: list(
    ["--require-ep <share>", "Limits", "cuda>=95%: of the executed nodes, or the command fails; repeatable"],
    parseRequiredShare,
  ),
  seed: value(["--seed <n>", "Run", "of every random choice [0]"], parseInteger(0, u32), 0),
  noiseCheck: onOff(["--noise-check", "Run", "also time the first model against a copy of itself"]),
  drift: onOff(["--drift", "Run", "also tell what the runtime's own rewriting changes in each model"]),
  layers: onOff(["--layers", "Run", "also find the layers where the two models part"]),

  // What comes out.
  output: optional(["-o, --output <file>", "Output", "where the result goes"], parsePath),
  inPlace: commandLineOnly(onOff(["--in-place", "Output", "replace the input"])),
  externalData: onOff(["--external-data", "Output", "weights in a second file beside the model"]),
  history: optional(
    [
      "--history <file>",
      "Output",
      "add a line for this run (.jsonl), and warn when it is out of line with those before",
    ],
    parsePath,
  ),
  keepRejected: onOff(["--keep-rejected", "Output", "keep a candidate that missed a limit, as OUT.rejected.onnx"]),
  report: list(["--report <file>", "Output", "also write .html, .md, .json or .xml (JUnit); repeatable"], parseReport),
  chromeTrace: optional(
    ["--chrome-trace <file>", "Output", "also write the quickest run for chrome://tracing or ui.perfetto.dev"],
    parsePath,
  ),
  hdrLog: optional(
    ["--hdr-log <file>", "Output", "also write every time as a log of HdrHistogram, in nanoseconds, 3 digits"],
    parsePath,
  ),
  top: value(["--top <n>", "Output", "rows of each table [15]"], parseInteger(1, 100_000), 15),
  text: commandLineOnly(onOff(["--text", "Output", "print it, on a terminal too"])),
  html: commandLineOnly(optional(["--html <file>", "Output", "write a page that needs nothing else"], parsePath)),
  markdown: commandLineOnly(optional(["--markdown <file>", "Output", "write Markdown"], parsePath)),
  junit: commandLineOnly(optional(["--junit <file>", "Output", "write JUnit XML"], parsePath)),
  csv: commandLineOnly(optional(["--csv <file>", "Output", "write layers as a table for spreadsheets"], parsePath)),
  metrics: commandLineOnly(
    optional(["--metrics <file>", "Output", "write its numbers by flat names (MLflow, W&B)"], parsePath),
  ),
  benchmarkJson: commandLineOnly(
    optional(["--benchmark-json <file>", "Output", "write what github-action-benchmark follows"], parsePath),
  ),
  resultTrace: commandLineOnly(
    optional(["--trace <file>", "Output", "write time lines for chrome://tracing or ui.perfetto.dev"], parsePath),
  ),
  nodeData: commandLineOnly(
    optional(
      ["--node-data <file>", "Output", "write numbers of nodes for Model Explorer, a file a measure"],
      parsePath,
    ),
  ),
  markdownTable: commandLineOnly(onOff(["--markdown", "Output", "as a Markdown table"])),
  node: optional(["--node <glob>", "Output", "only nodes whose name matches"], parseText),
  values: value(
    ["--values <n>", "Output", "print constants of up to this many elements [8]"],
    parseInteger(0, 2 ** 20),
    8,
  ),
  types: onOff(["--types", "Output", "print the types of values that the file states"]),
  groups: onOff(["--groups", "Output", "channels that only go together, and which stay"]),
  json: onOff(["--json", "Output", "the result as JSON on stdout, nothing else"]),
  quiet: onOff(["--quiet", "Output", "errors only; the exit code tells the rest"]),
  verbose: onOff(["--verbose", "Output", "stack and causes of an error"]),
  config: commandLineOnly(
    optional(["--config <file>", "Run", 'flags as JSON: {"maxDrop": "0.5%"}; those given here win'], parsePath),
  ),
} satisfies Record<string, Flag<unknown>>;

export type FlagName = keyof typeof flags;
export type Settings = { readonly [K in FlagName]: (typeof flags)[K] extends Flag<infer T> ? T : never };

/** One command worth trying after this result. */
import { basename, resolve } from "node:path";
import { shellWord } from "../base/shell-word.js";
import { variantName } from "../pipeline/candidates/candidate.js";
import type { RunResult, VerdictReason } from "../pipeline/result.js";
import { beforeOf } from "../pipeline/sides.js";
import { budgetWord } from "../pipeline/verdict/budget-word.js";
import { leastGain } from "../pipeline/verdict/verdict.js";
import { carried, flagValues, withFlag } from "./reproduce.js";

export interface Suggestion {
  /** Can be pasted. */
  readonly command: string;
  readonly why: string;
}

/** `commandLine` is the command that gave the result, as typed; without it only suggestions that stand alone are made. */
export function suggest(result: RunResult, commandLine: string | null): Suggestion | null {
  const line = new Line(result, commandLine);
  switch (result.verdict.outcome) {
    case "met":
      return withOwnOperators(result, line) ?? afterSuccess(result, line);
    case "accuracy":
      return afterLoss(result, line);
    case "latency":
      return withOwnOperators(result, line) ?? afterSlowness(result, line);
    case "no-gain":
      return withOwnOperators(result, line) ?? afterNoGain(result, line);
    case "inconclusive":
      return withOwnOperators(result, line) ?? afterDoubt(result, line);
  }
}

/** The command that gave the result, and what of it is worth giving to the next one. */
class Line {
  readonly model: string;

  constructor(
    private readonly result: RunResult,
    readonly typed: string | null,
  ) {
    this.model = shellWord(result.model.path);
  }

  /** Those of these flags that were given, with their values and a space before each. */
  given(...flags: readonly string[]): string {
    return carried(this.typed ?? "", flags);
  }

  /** The data that was given, as what another command takes it for. */
  samples(flag: "--calibration" | "--eval"): string {
    const other = flag === "--eval" ? "--calibration" : "--eval";
    return this.given(flag) || this.given(other).replaceAll(other, flag);
  }

  /** What a model was run with, for one that is to be run likewise. */
  get setup(): string {
    return this.given("--shape", "--batch", "--threads", "--provider");
  }

  /** What a config file said goes on to be said by it. */
  get config(): string {
    // One that was found lies in the folder that the command ran in.
    const found = this.result.configPath;
    return this.given("--config") || (found === undefined ? "" : ` --config ${shellWord(basename(found))}`);
  }

  has(flag: string): boolean {
    return carried(this.typed ?? "", [], [flag]) !== "";
  }

  /** What limits were held against, and another. */
  pair(to: { readonly path: string }): string {
    return `${shellWord(beforeOf(this.result).path)} ${shellWord(to.path)}`;
  }

  /** null where nobody knows the command. */
  again(flag: string, value: string, why: string): Suggestion | null {
    if (this.typed === null) return null;
    if (value === "") return { command: `${this.typed} ${flag}`, why };
    // What stages may take is given by the flag that a time to measure is given by.
    const limits = flag === "--budget" ? flagValues(this.typed, flag).filter((given) => given.includes("=")) : [];
    const kept = limits.map((limit) => ` ${flag} ${shellWord(limit)}`).join("");
    return { command: withFlag(this.typed, flag, value) + kept, why };
  }

  compare(other: { readonly path: string }): Suggestion {
    return {
      command: `infer-opt verify ${this.pair(other)}${this.given("--eval")}${this.config}`,
      why: "are the answers the same?",
    };
  }

  /** Of both models where there are two. */
  profile(after: { readonly path: string } | null, why: string): Suggestion {
    const models = after && !isSame(beforeOf(this.result), after) ? this.pair(after) : this.model;
    return { command: `infer-opt profile ${models}${this.given("--eval")}${this.setup}${this.config}`, why };
  }
}

const QUANTIZE = "infer-opt quantize ";

const isFused = ({ name }: { readonly name: string }): boolean => name === variantName({ kind: "fused" });

const searches = (command: string): boolean => command === "quantize" || command === "optimize";

function afterLoss(result: RunResult, line: Line): Suggestion | null {
  const { command, layers, candidateModel, pruning, verdict } = result;
  if (command === "verify") return layers ? null : line.again("--layers", "", "where the two models part");
  if (command === "gate" && candidateModel) {
    const flags = line.given(
      "--eval",
      "--calibration",
      "--metric",
      "--max-drop",
      "--threads",
      "--provider",
      "--target",
    );
    return {
      command: `infer-opt verify ${line.pair(candidateModel)}${flags}${line.config} --layers`,
      why: "where the two models part",
    };
  }
  if (command === "prune" && !pruning?.sparsity && !line.has("--recover")) {
    return line.again("--recover", "", "what is left learns from the original, which takes minutes");
  }
  if (!searches(command)) return null;
  const longer = verdict.reasons.find(({ status, longer }) => status === "missed" && longer != null)?.longer;
  if (longer != null) {
    return line.again(
      "--budget",
      budgetWord(AMPLY * longer * timingMs(result)),
      "the search ran out of time: with more of it the limit may hold",
    );
  }
  return (
    inFloat(result, line) ??
    (line.has("--keep-rejected") ? null : line.again("--keep-rejected", "", "keeps the refused file, to look at"))
  );
}

/** Of what rewrites make faster, float may be the answer: of less than it takes in place of integers, too. */
function inFloat({ command, passes, candidates }: RunResult, { typed }: Line): Suggestion | null {
  const gainsNothing = candidates.some((each) => isFused(each) && (each.speedup ?? 0) < leastGain);
  if (command !== "quantize" || !typed?.startsWith(QUANTIZE) || gainsNothing) return null;
  if (!passes.some(({ applied }) => applied > 0)) return null;
  return {
    command: typed.replace(QUANTIZE, "infer-opt optimize "),
    why: "rewrites apply to the model: in float alone it may be faster",
  };
}

/** Where nothing but speed was missed, if anything, and the runtime has integers that were not asked for. */
function withOwnOperators({ runtimeSpecificNodes = 0, verdict }: RunResult, line: Line): Suggestion | null {
  const isSpeed = verdict.reasons.every(
    ({ limit, status }) => status === "met" || /^(gain|min-speedup|slo)/.test(limit),
  );
  if (runtimeSpecificNodes === 0 || !isSpeed) return null;
  return line.again(
    "--runtime-specific",
    "",
    "ONNX Runtime has integers for LSTM, in operators that no other runtime has",
  );
}

function afterSlowness(result: RunResult, line: Line): Suggestion | null {
  const { command, candidateModel, verdict } = result;
  if (searches(command)) return { command: `infer-opt inspect ${line.model}`, why: "what the model is made of" };
  if (command === "prune") return { command: `infer-opt show ${line.model} --groups`, why: "what can be narrowed" };
  if (!(command === "gate" || command === "verify") || !candidateModel) return null;
  const missed = verdict.reasons.filter(({ status }) => status === "missed");
  if (missed.every(({ limit }) => limit === "max-size")) {
    return { command: `infer-opt inspect ${shellWord(candidateModel.path)}`, why: "what the file is made of" };
  }
  return command === "verify" ? null : line.profile(candidateModel, "which layers take the time");
}

function afterNoGain(result: RunResult, line: Line): Suggestion | null {
  const { command, candidates, model, quantization, verdict, shrinkableBytes = 0 } = result;
  if (command === "prune") return { command: `infer-opt show ${line.model} --groups`, why: "what can be narrowed" };
  if (!searches(command)) return null;
  const float = inFloat(result, line);
  if (float) return float;
  // Of one where no integers pay none were made, and they would be smaller.
  const isWeighed = candidates.every(isFused) && (quantization?.regions ?? []).length > 0;
  const isSmaller = isWeighed || shrinkableBytes > 0 || candidates.some(({ bytes }) => bytes < model.bytes);
  return isSmaller && !verdict.reasons.some(({ limit, unit }) => limit === "gain" && unit === "bytes")
    ? line.again("--goal", "size", "if a smaller file is worth having all the same")
    : { command: `infer-opt inspect ${line.model}`, why: "what the model is made of" };
}

/** Time does not help where it is samples that are too few. */
function afterDoubt(result: RunResult, line: Line): Suggestion | null {
  const { command, latency, load, request, sweep, verdict } = result;
  const open = verdict.reasons.filter(({ status }) => status === "inconclusive");
  const timed = open.filter(({ limit }) => limit !== "max-drop");
  if (searches(command) && isGainInSize(result)) {
    const isSlower = latency !== null && latency.speedup < 1;
    if (isSlower) return line.again("--goal", "size", "it looks slower, and it is far smaller");
    const why = "more time did not tell whether it is faster, and it is far smaller";
    if (line.given("--budget") !== "") return line.again("--goal", "size", why);
  }
  if (timed.length > 0 && (latency || load || request || sweep)) return measureLonger(result, timed, line);
  return searches(command) && open.length > 0 && !line.has("--keep-rejected")
    ? line.again("--keep-rejected", "", "keeps the file, to be tried on more samples")
    : null;
}

/** A file of this share of the original is worth having whether or not it is faster. */
const FAR_SMALLER = 0.6;

function isGainInSize({ candidates, model, verdict }: RunResult): boolean {
  const chosen = candidates.find((each) => each.chosen);
  const isGainAlone = verdict.reasons.every(({ limit, status }) => status === "met" || limit === "gain");
  return chosen !== undefined && isGainAlone && chosen.bytes <= FAR_SMALLER * model.bytes;
}

/** More than it takes in the mean: what comes by chance varies. */
const AMPLY = 1.2;

/** As long as it takes to tell, where that is known. A recording lasts as long as it does. */
function measureLonger(result: RunResult, open: readonly VerdictReason[], line: Line): Suggestion | null {
  if (result.load?.arrivals === "trace") return null;
  const times = open.map(({ longer }) => longer);
  const known = times.filter((each) => each != null);
  // Of a sweep one setting that is decided will do, otherwise every limit has to be.
  const isEnough = result.sweep ? known.length > 0 : known.length === times.length;
  const spentMs = timingMs(result);
  if (isEnough && spentMs > 0) {
    const most = result.sweep ? Math.min(...known) : Math.max(...known);
    const why = result.load
      ? "so long tells, if requests fare as they did"
      : "so long tells about this limit; an idle machine helps too";
    return line.again("--budget", budgetWord(AMPLY * most * spentMs), why);
  }
  if (result.load || times.every((each) => each === null)) return null;
  return line.again(
    "--budget",
    line.given("--budget").endsWith(" 5m") ? "20m" : "5m",
    "measures longer; an idle machine helps too",
  );
}

/** What the budget was spent on: of a search, the whole run. */
function timingMs({ command, load, stages, resources }: RunResult): number {
  if (load) return load.durationMs;
  if (searches(command)) return resources.wallMs;
  return stages.reduce((sum, { stage, wallMs }) => (stage === "bench" ? sum + wallMs : sum), 0);
}

/** Parts beyond that are not listed. */
const MOST_PARTS = 8;

/** Where the number of a part stands in the name of its file, the names of all are known. */
function mergeParts(file: string, shard: string): Suggestion {
  const [index, count] = shard.split("/");
  const [, before, after] = new RegExp(`^(.*(?<![0-9]))${index}(?![0-9])([^/]*)$`, "s").exec(file) ?? [];
  const isNamed = before !== undefined && Number(count) <= MOST_PARTS;
  const parts = isNamed
    ? Array.from({ length: Number(count) }, (_, i) => shellWord(`${before}${i + 1}${after}`))
    : [shellWord(file), "OTHERS"];
  return {
    command: `infer-opt calibrate --merge ${parts.join(" ")} -o ranges.json`,
    why: `joins the ${count} parts, once all of them are there`,
  };
}

/** Ranges of all samples serve to quantize; of a part only beside the others. */
function afterCalibration(line: Line): Suggestion | null {
  const [ranges] = ["--output", "-o"].flatMap((flag) => flagValues(line.typed ?? "", flag));
  if (ranges === undefined) return null;
  const [shard] = flagValues(line.typed ?? "", "--shard");
  if (shard !== undefined) return mergeParts(ranges, shard);
  return {
    command: `infer-opt quantize ${line.model} -o int8.onnx --ranges ${shellWord(ranges)}${line.given("--calibration", "--target")}`,
    why: "with these ranges; the samples are to measure by",
  };
}

function afterSuccess(result: RunResult, line: Line): Suggestion | null {
  const { model, output, candidateModel, latency, command, quantization, precision, pruning } = result;
  if (output) {
    if (command === "prune" && pruning && !pruning.sparsity) return integersToo(output, line);
    const isSampled = precision !== null && !isUnrun(result) && line.given("--eval") !== "";
    if (quantization || latency || isSampled) return afterSearch(result, output, line);
    // Of free sizes, made-up inputs have those that a model need not take.
    const flags = `${line.samples("--eval")}${line.setup}${line.config}`;
    return hasChanged(result) && !isUnrun(result)
      ? { command: `infer-opt bench ${line.pair(output)}${flags}`, why: "is it faster?" }
      : null;
  }
  switch (command) {
    case "calibrate":
      return afterCalibration(line);
    case "verify":
      return candidateModel
        ? {
            command: `infer-opt bench ${line.pair(candidateModel)}${line.given("--eval")}${line.setup}${line.config}`,
            why: "is it faster?",
          }
        : null;
    case "gate": {
      const stored = storedResult(line.typed);
      if (stored === null) return null;
      const page = shellWord(stored.replace(/\.json$/i, ".html"));
      return { command: `infer-opt report ${shellWord(stored)} --html ${page}`, why: "a page to show others" };
    }
    case "bench":
      return afterBench(result, line);
    case "profile":
      return candidateModel && !isSame(model, candidateModel)
        ? line.compare(candidateModel)
        : { command: `infer-opt inspect ${line.model}`, why: "what to do about it" };
    default:
      return null;
  }
}

/** What was taken is written, and was timed. */
function afterSearch(result: RunResult, output: { readonly path: string }, line: Line): Suggestion | null {
  const { verdict, quantization, precision } = result;
  // Where no limit asks for it, few samples were looked at, or none by a metric.
  const isJudged = verdict.reasons.some(({ limit }) => limit === "max-drop");
  const isSampled = line.given("--eval") !== "";
  if ((quantization || precision) && isSampled && !isJudged) {
    const flags = line.given("--eval", "--metric", "--provider", "--target");
    return { command: `infer-opt verify ${line.pair(output)}${flags}${line.config}`, why: "accuracy on all samples" };
  }
  const stored = storedResult(line.typed);
  if (stored !== null && quantization && quantization.float.length > 0) {
    return { command: `infer-opt explain ${shellWord(stored)}`, why: "why nodes stay float and passes decline" };
  }
  if (isSampled && isJudged) {
    const limits = [
      "--metric",
      "--max-drop",
      "--min-speedup",
      "--slo",
      "--max-size",
      "--threads",
      "--provider",
      "--target",
    ];
    // A gain goes without saying where one is searched for, and `gate` has to be told of it.
    const isGain = verdict.reasons.some(({ limit, unit }) => limit === "gain" && unit === "times");
    const gain = isGain && line.given("--min-speedup") === "" ? ` --min-speedup ${leastGain}` : "";
    const flags = line.given("--eval", ...limits);
    return {
      command: `infer-opt gate ${line.pair(output)}${flags}${gain}${line.config}`,
      why: "the same limits, as a step of CI",
    };
  }
  if (isSame(result.model, output) || line.typed === null) return null;
  return line.profile(output, "where the time goes now, layer by layer");
}

function integersToo(output: { readonly path: string }, line: Line): Suggestion | null {
  const samples = line.samples("--calibration");
  if (samples === "") return null;
  const to = shellWord(`${output.path.replace(/\.onnx$/i, "")}.int8.onnx`);
  const limits = line.given("--eval", "--metric", "--max-drop", "--threads");
  const flags = `-o ${to} --baseline ${line.model}${samples}${limits}`;
  return { command: `infer-opt quantize ${shellWord(output.path)} ${flags}`, why: "integers as well" };
}

function afterBench({ model, bench, load, sweep }: RunResult, line: Line): Suggestion | null {
  if (sweep) {
    const { model: timed, batch, threads } = sweep.settings[sweep.best ?? sweep.fastest]!;
    const flags = `--batch ${batch} --threads ${threads}${line.given("--shape", "--provider")}`;
    return {
      command: `infer-opt profile ${shellWord(timed.path)} ${flags}`,
      why: "where the time of this setting goes",
    };
  }
  if (load) {
    const isLimited = line.given("--slo") !== "" && !line.has("--find-max-rate");
    return isLimited ? line.again("--find-max-rate", "", "how many requests a second it can take") : null;
  }
  if (!bench) return null;
  const [, other, ...more] = bench.models;
  if (!other) return line.profile(null, "where the time goes");
  if (more.length > 0) {
    const fastest = bench.models.reduce((a, b) => (b.p50Ms < a.p50Ms ? b : a));
    return line.profile(fastest.model, "where the time of the fastest goes");
  }
  return isSame(model, other.model) ? null : line.compare(other.model);
}

const isSame = (one: { readonly path: string }, other: { readonly path: string }): boolean =>
  resolve(one.path) === resolve(other.path);

/** Whether there are two files to compare, and one is not a copy of the other. */
const hasChanged = ({ model, output, passes, quantization, precision }: RunResult): boolean =>
  !isSame(model, output ?? { path: "" }) &&
  (passes.some(({ applied }) => applied > 0) || Boolean(quantization) || Boolean(precision));

/** bfloat16 that was written unseen: most providers, the CPU among them, have no kernels to time it with. */
const isUnrun = ({ precision, difference }: RunResult): boolean =>
  precision?.target === "bf16" && difference.length === 0;

/** The result file that the command wrote: it knows more than the model does. */
function storedResult(commandLine: string | null): string | null {
  const stored = flagValues(commandLine ?? "", "--report").find((path) => path.endsWith(".json"));
  return stored ?? null;
}

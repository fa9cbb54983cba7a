/** One command worth trying after this result. */
import { resolve } from "node:path";
import { shellWord } from "../base/shell-word.js";
import type { RunResult } from "../pipeline/result.js";
import { beforeOf } from "../pipeline/sides.js";
import { carried, flagValues, withFlag } from "./reproduce.js";

export interface Suggestion {
  /** Can be pasted. */
  readonly command: string;
  readonly why: string;
}

/**
 * `commandLine` is the command that gave the result, as typed; without it only
 * suggestions that stand alone are made.
 */
export function suggest(result: RunResult, commandLine: string | null): Suggestion | null {
  const { model, latency, command } = result;
  const path = shellWord(model.path);
  const again = (flag: string, value: string, why: string): Suggestion | null =>
    commandLine === null
      ? null
      : { command: value === "" ? `${commandLine} ${flag}` : withFlag(commandLine, flag, value), why };
  const makesCandidates = command === "quantize" || command === "optimize";
  switch (result.verdict.outcome) {
    case "met":
      return afterSuccess(result, commandLine);
    case "accuracy":
      if (command === "verify" && !result.layers) return again("--layers", "", "where the two models part");
      return makesCandidates ? again("--keep-rejected", "", "keeps the refused file, to look at") : null;
    case "latency":
      return makesCandidates ? { command: `infer-opt inspect ${path}`, why: "what the model is made of" } : null;
    case "no-gain":
      return makesCandidates && result.candidates.some(({ bytes }) => bytes < model.bytes)
        ? again("--goal", "size", "if a smaller file is worth having all the same")
        : null;
    case "inconclusive":
      // Time does not help where it is samples that are too few.
      return latency &&
        result.verdict.reasons.some(({ limit, status }) => status === "inconclusive" && limit !== "max-drop")
        ? again("--budget", "5m", "measures longer; an idle machine helps too")
        : null;
  }
}

function afterSuccess(result: RunResult, commandLine: string | null): Suggestion | null {
  const { model, output, candidateModel, quantization, latency, command, bench } = result;
  const path = shellWord(model.path);
  const given = (...flags: readonly string[]): string => carried(commandLine ?? "", flags);
  // What limits were held against.
  const before = shellWord(beforeOf(result).path);
  const pair = (to: { readonly path: string }): string => `${before} ${shellWord(to.path)}`;
  if (output && quantization) {
    // Where no limit asks for it, few samples were looked at.
    const isJudged = result.verdict.reasons.some(({ limit }) => limit === "max-drop");
    if (!isJudged && given("--eval") !== "") {
      const flags = given("--eval", "--metric", "--provider");
      return { command: `infer-opt verify ${pair(output)}${flags}`, why: "accuracy on all samples" };
    }
    const stored = storedResult(commandLine);
    if (stored !== null && quantization.float.length > 0) {
      return { command: `infer-opt explain ${stored}`, why: "why nodes stay float and passes decline" };
    }
    if (isJudged && given("--eval") !== "") {
      const limits = [
        "--eval",
        "--metric",
        "--max-drop",
        "--min-speedup",
        "--slo",
        "--max-size",
        "--threads",
        "--provider",
      ];
      return { command: `infer-opt gate ${pair(output)}${given(...limits)}`, why: "the same limits, as a step of CI" };
    }
    return null;
  }
  if (output && !latency && hasChanged(result) && !isUnrun(result)) {
    return { command: `infer-opt bench ${pair(output)}`, why: "is it faster?" };
  }
  if (command === "verify" && candidateModel) {
    return { command: `infer-opt bench ${pair(candidateModel)}${given("--threads")}`, why: "is it faster?" };
  }
  const [, other, ...more] = bench?.models ?? [];
  if (command === "bench" && other && more.length === 0 && !isSame(model, other.model)) {
    return { command: `infer-opt verify ${pair(other.model)}${given("--eval")}`, why: "are the answers the same?" };
  }
  if (command === "profile") return { command: `infer-opt inspect ${path}`, why: "what to do about it" };
  return null;
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
  return stored === undefined ? null : shellWord(stored);
}

/** One command worth trying after this result. */
import { resolve } from "node:path";
import { shellWord } from "../base/shell-word.js";
import type { RunResult } from "../pipeline/result.js";
import { flagValues, withFlag } from "./reproduce.js";

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
  const { model, output, quantization, latency, command } = result;
  const path = shellWord(model.path);
  const again = (flag: string, value: string, why: string): Suggestion | null =>
    commandLine === null
      ? null
      : { command: value === "" ? `${commandLine} ${flag}` : withFlag(commandLine, flag, value), why };
  const makesCandidates = command === "quantize" || command === "optimize";
  switch (result.verdict.outcome) {
    case "met":
      if (output && quantization && quantization.float.length > 0) {
        return {
          command: `infer-opt explain ${storedResult(commandLine) ?? path}`,
          why: "why nodes stay float and passes decline",
        };
      }
      if (output && !latency && hasChanged(result) && !isUnrun(result)) {
        return { command: `infer-opt bench ${path} ${shellWord(output.path)}`, why: "is it faster?" };
      }
      return null;
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

/** Whether there are two files to compare, and one is not a copy of the other. */
const hasChanged = ({ model, output, passes, quantization, precision }: RunResult): boolean =>
  resolve(model.path) !== resolve(output?.path ?? "") &&
  (passes.some(({ applied }) => applied > 0) || Boolean(quantization) || Boolean(precision));

/** bfloat16 that was written unseen: most providers, the CPU among them, have no kernels to time it with. */
const isUnrun = ({ precision, difference }: RunResult): boolean =>
  precision?.target === "bf16" && difference.length === 0;

/** The result file that the command wrote: it knows more than the model does. */
function storedResult(commandLine: string | null): string | null {
  const stored = flagValues(commandLine ?? "", "--report").find((path) => path.endsWith(".json"));
  return stored === undefined ? null : shellWord(stored);
}
